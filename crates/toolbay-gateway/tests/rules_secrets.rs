//! Rule 200: what is secret between the bay and a server stays between them.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use toolbay_gateway::{
    Bay, Identity,
    config::{Endpoint, Remote, Url},
    servers::{Phase, Plan, Spec, endpoint},
};
use toolbay_protocol::{Method, Raw, Revision, greeting::Introduction, peer::Call};
use toolbay_transport::{Approach, connect, duplex};

const SOON: Duration = Duration::from_secs(20);

/// Answers requests on one connection: those with the token, as long as it is `open`; others are challenged.
async fn serve(mut stream: TcpStream, open: Arc<AtomicBool>) -> std::io::Result<()> {
    let mut read = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let (head, body) = loop {
            let text = String::from_utf8_lossy(&read).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let head = head.to_ascii_lowercase();
                let length =
                    head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
                if body.len() >= length {
                    break (head, body[..length].to_owned());
                }
            }
            match stream.read(&mut chunk).await? {
                0 => return Ok(()),
                count => read.extend_from_slice(&chunk[..count]),
            }
        };
        read.clear();
        assert!(head.lines().next().unwrap().contains("key=url-secret"), "{head}");
        let known = head.contains("authorization: bearer token-secret") && open.load(Ordering::Acquire);
        stream.write_all(answer(&head, &body, known).as_bytes()).await?;
    }
}

fn answer(head: &str, body: &str, known: bool) -> String {
    let reply = |status: &str, headers: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
    };
    if !known {
        let challenge = "www-authenticate: Bearer resource_metadata=\"https://metadata-secret.example/x\"\r\n";
        return reply("401 Unauthorized", challenge, "");
    }
    if !head.starts_with("post") {
        return reply("405 Method Not Allowed", "", "");
    }
    let asked: Value = serde_json::from_str(body).unwrap();
    let result = match asked["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": []}),
        _ => return reply("202 Accepted", "", ""),
    };
    let message = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string();
    reply("200 OK", "content-type: application/json\r\nmcp-session-id: session-secret\r\n", &message)
}

#[tokio::test]
async fn neither_token_nor_session_nor_address_of_a_server_reaches_a_caller() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let open = Arc::new(AtomicBool::new(true));
    let door = Arc::clone(&open);
    let server = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&door)));
        }
    });
    let mut remote = Remote::bare(Url::parse(&format!("http://{address}/mcp?key=url-secret")).unwrap());
    remote.headers.insert("authorization", "Bearer token-secret".parse().unwrap());
    let spec = Spec {
        revision: Some(Revision::LATEST_LEGACY),
        startup: SOON,
        silence: SOON,
        ..Spec::planned("far", "http", Plan::Connect(endpoint(Endpoint::Http(remote))))
    };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    let mut moves = bay.moves();
    let ready = async {
        while !matches!(bay.status()[0].phase, Phase::Ready { .. }) {
            moves.changed().await.unwrap();
        }
    };
    timeout(SOON, ready).await.expect("it is ready in time");
    let mut heard = String::new();
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        open.store(true, Ordering::Release);
        let mut approach = Approach::new(Introduction::anonymous(revision));
        approach.revision = Some(revision);
        let caller = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
        heard += &format!("{:?}", caller.meeting());
        for locked in [false, true] {
            open.store(!locked, Ordering::Release);
            for (method, params) in [
                (Method::ToolsList, json!({})),
                (Method::ToolsCall, json!({"name": "far__t"})),
                (Method::ToolsCall, json!({"name": "far__none"})),
                (Method::ResourcesRead, json!({"uri": "x://y"})),
            ] {
                let outcome = timeout(SOON, caller.request(Call::new(method, Some(Raw::of(&params))))).await.unwrap();
                heard += &format!("{outcome:?}\n");
            }
        }
    }
    assert!(heard.contains("far__t"), "{heard}");
    assert!(!heard.contains("secret"), "{heard}");
    assert!(!format!("{:?}", bay.status()).contains("secret"), "nor whoever looks at the bay");
    bay.close().await;
    server.abort();
}
