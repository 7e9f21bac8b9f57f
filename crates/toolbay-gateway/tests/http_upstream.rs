//! A server over HTTP has no lasting link: that it is gone shows when it is called.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity,
    config::{Endpoint, Remote, Url},
    servers::{Phase, Plan, Spec, endpoint},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::Outcome,
    greeting::{Introduction, Profile},
    peer::Call,
    watch::Filter,
};
use toolbay_transport::{Approach, Caller, Cx, Hub, Request, Service, Watch, connect, duplex, http::server};

const SOON: Duration = Duration::from_secs(20);

struct One(Hub);

impl Service for One {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "one", "version": "1"})),
            capabilities: Raw::of(&json!({"tools": {}})),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        Ok(Raw::of(&match request.method {
            Method::ToolsList => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
            _ => json!({"content": [{"type": "text", "text": "here"}]}),
        }))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.0.watch(filter))
    }
}

async fn start(address: SocketAddr) -> (SocketAddr, CancellationToken, JoinHandle<std::io::Result<()>>) {
    let listener = TcpListener::bind(address).await.unwrap();
    let (address, end) = (listener.local_addr().unwrap(), CancellationToken::new());
    let one = server::Endpoint::new(Arc::new(One(Hub::new())), server::Options::default());
    (address, end.clone(), tokio::spawn(server::serve(listener, one, end)))
}

async fn until(bay: &Bay, what: impl Fn(&Phase) -> bool) {
    let mut moves = bay.moves();
    let reached = async {
        while !what(&bay.status()[0].phase) {
            moves.changed().await.unwrap();
        }
    };
    timeout(SOON, reached).await.expect("it moves in time");
}

#[tokio::test]
async fn a_server_that_no_longer_listens_is_lost_and_one_that_does_again_is_back() {
    let (address, end, served) = start("127.0.0.1:0".parse().unwrap()).await;
    let url = Url::parse(&format!("http://{address}/mcp")).unwrap();
    let spec = Spec {
        revision: Some(Revision::LATEST),
        startup: SOON,
        silence: SOON,
        ..Spec::planned("far", "http", Plan::Connect(endpoint(Endpoint::Http(Remote::bare(url)))))
    };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    until(&bay, |phase| matches!(phase, Phase::Ready { .. })).await;
    let approach = Approach::new(Introduction::anonymous(Revision::LATEST));
    let caller = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
    let call = || caller.request(Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "far__t"})))));
    assert!(call().await.unwrap().is_ok());
    end.cancel();
    served.await.unwrap().unwrap();
    let said = call().await.unwrap().unwrap_err().message;
    assert!(said.contains("far") && said.contains(&address.to_string()), "{said}");
    until(&bay, |phase| matches!(phase, Phase::Failed(_))).await;
    let (_, end, served) = start(address).await;
    until(&bay, |phase| matches!(phase, Phase::Ready { .. })).await;
    assert!(call().await.unwrap().is_ok());
    bay.close().await;
    end.cancel();
    served.await.unwrap().unwrap();
}
