//! What is too large or too deep, from either side: refused, and everybody else is served.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod wire;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity,
    config::{Endpoint, Remote, Url},
    servers::{Phase, Plan, Spec, endpoint},
};
use toolbay_protocol::{ErrorObject, Method, Raw, exchange::Outcome, greeting::Profile, watch::Filter};
use toolbay_transport::{Caller, Cx, Hub, Request, Service, Watch, http::server};

use wire::post;

const SOON: Duration = Duration::from_secs(20);

/// A server with one tool.
struct Plain;

impl Service for Plain {
    fn profile(&self) -> Arc<Profile> {
        let server = Raw::of(&json!({"name": "plain", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&json!({"tools": {}})), instructions: None })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        Ok(Raw::of(&match request.method {
            Method::ToolsList => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
            _ => json!({"content": []}),
        }))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(Hub::new().watch(filter))
    }
}

async fn serve(bay: &Bay, end: &CancellationToken) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let endpoint = server::Endpoint::new(Arc::new(bay.clone()), server::Options::default());
    tokio::spawn(server::serve(listener, endpoint, end.clone()));
    address
}

fn modern(id: u64, method: &str, more: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}
    });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{meta}{more}}}}}"#)
}

const ROUTING: &str = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";

#[tokio::test]
async fn a_client_with_a_bomb_is_refused_alone() {
    let identity = Identity { name: "bay".into(), version: "0".into() };
    let (bay, end) =
        (Bay::open(&identity, vec![Spec::embedded("s", Arc::new(Plain))]).unwrap(), CancellationToken::new());
    bay.settled().await;
    let address = serve(&bay, &end).await;
    let many: String = (0..500).map(|number| format!("X-Bomb-{number}: x\r\n")).collect();
    for bomb in [format!("X-Bomb: {}\r\n", "x".repeat(1 << 20)), many] {
        let said = post(address, &bomb, &modern(1, "tools/list", "")).await;
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 431"), "{said}");
    }
    let said = post(address, &format!("X-Bomb: {}\r\n", "x".repeat(17 << 10)), &modern(1, "tools/list", "")).await;
    assert!(said.starts_with("HTTP/1.1 431") && said.contains("limit `head_bytes`"), "{said}");
    let deep = format!(r#","deep":{}{}"#, "[".repeat(50_000), "]".repeat(50_000));
    let said = post(address, ROUTING, &modern(1, "tools/list", &deep)).await;
    assert!(said.contains("limit `depth`"), "{said}");
    let wide = format!(r#","wide":[{}0]"#, "0,".repeat(2_000_000));
    let said = post(address, ROUTING, &modern(1, "tools/list", &wide)).await;
    assert!(said.contains("limit `nodes`") || said.contains("limit `request_bytes`"), "{said}");
    let said = post(address, ROUTING, &modern(1, "tools/list", "")).await;
    assert!(said.contains("s__t"), "everybody else is served: {said}");
    bay.close().await;
    end.cancel();
}

#[tokio::test]
async fn a_server_with_a_bomb_fails_alone() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut part = [0; 4096];
                let _ = stream.read(&mut part).await;
                let bomb = format!("HTTP/1.1 200 OK\r\nX-Bomb: {}\r\n", "x".repeat(8 << 20));
                let _ = stream.write_all(bomb.as_bytes()).await;
            });
        }
    });
    let url = Url::parse(&format!("http://{address}/mcp")).unwrap();
    let bomber = Spec::planned("bomber", "http", Plan::Connect(endpoint(Endpoint::Http(Remote::bare(url)))));
    let identity = Identity { name: "bay".into(), version: "0".into() };
    let bay = Bay::open(&identity, vec![bomber, Spec::embedded("s", Arc::new(Plain))]).unwrap();
    timeout(SOON, bay.settled()).await.expect("it is decided");
    let phases: Vec<_> = bay.status().into_iter().map(|status| status.phase).collect();
    assert!(matches!(phases[..], [Phase::Failed(_), Phase::Ready { .. }]), "{phases:?}");
    bay.close().await;
}
