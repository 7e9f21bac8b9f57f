//! A client that hangs up without a word: its call may go on, but what is asked of its session then is asked of those who
//! are there.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{Bay, Identity, servers::Spec};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Ask, Asks, Note, Outcome},
    greeting::Profile,
    watch::Filter,
};
use toolbay_transport::{Caller, Cx, Hub, Request, Service, Watch, http::server, talk::Reply};

const SOON: Duration = Duration::from_secs(20);

/// One tool that asks its caller, and two that never end, of which one says something first.
struct Asking {
    under_way: Semaphore,
    taken_back: Semaphore,
}

/// Says when it is dropped.
struct Dropped<'s>(&'s Semaphore);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

impl Service for Asking {
    fn profile(&self) -> Arc<Profile> {
        let server = Raw::of(&json!({"name": "asking", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&json!({"tools": {}})), instructions: None })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
        let name = request.params.get("name").and_then(|name| name.read::<String>().ok()).unwrap_or_default();
        match name.as_str() {
            "" => Ok(Raw::of(&json!({"tools": [tool("ask"), tool("silent"), tool("loud")]}))),
            "ask" => {
                let params = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
                let asks = Asks::one("who", Ask { method: Method::Elicit, params: Some(Raw::of(&params)) });
                let reply = cx.ask(asks, None).await;
                let answer = match reply {
                    Ok(Reply::Answers(answers)) => format!("{:?}", answers.get("who").unwrap()),
                    other => format!("{other:?}"),
                };
                Ok(Raw::of(&json!({"content": [{"type": "text", "text": answer}]})))
            }
            name => {
                if name == "loud" {
                    cx.note(Note::progress(1.0, None, None)).await.unwrap();
                }
                self.under_way.add_permits(1);
                let _taken_back = Dropped(&self.taken_back);
                std::future::pending().await
            }
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(Hub::new().watch(filter))
    }
}

/// One connection on which one message was posted.
async fn post(address: SocketAddr, session: Option<&str>, message: &Value) -> TcpStream {
    post_to("/mcp", address, session, message).await
}

async fn post_to(path: &str, address: SocketAddr, session: Option<&str>, message: &Value) -> TcpStream {
    let (body, mut stream) = (message.to_string(), TcpStream::connect(address).await.unwrap());
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream
}

/// Reads until `what` came; all of it.
async fn read_until(stream: &mut TcpStream, what: &str) -> String {
    let mut text = String::new();
    while !text.contains(what) {
        let mut part = vec![0; 4096];
        let length = timeout(SOON, stream.read(&mut part)).await.expect("it is said").unwrap();
        assert!(length > 0, "the end came before {what:?}: {text}");
        text.push_str(&String::from_utf8_lossy(&part[..length]));
    }
    text
}

/// Hangs up, and waits until that was noticed.
async fn hang_up(mut stream: TcpStream) {
    stream.shutdown().await.unwrap();
    let mut rest = vec![];
    timeout(SOON, stream.read_to_end(&mut rest)).await.expect("the connection is closed").unwrap();
}

fn call(id: u64, tool: &str) -> Value {
    let params = json!({"name": format!("s__{tool}"), "_meta": {"progressToken": id}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

fn opening() -> Value {
    let us = json!({"name": "client", "version": "1"});
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}}}, "clientInfo": us});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

async fn session(address: SocketAddr) -> String {
    let said = read_until(&mut post(address, None, &opening()).await, "serverInfo").await;
    let id = said.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap().trim().to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    read_until(&mut post(address, Some(&id), &ready).await, "202").await;
    id
}

/// A bay in front of that server, over HTTP in both ways.
async fn opened() -> (Arc<Asking>, Bay, SocketAddr, CancellationToken) {
    opened_with(Spec::embedded, server::Options::default()).await
}

async fn opened_with(
    spec: impl Fn(&str, Arc<Asking>) -> Spec,
    options: server::Options,
) -> (Arc<Asking>, Bay, SocketAddr, CancellationToken) {
    let asking = Arc::new(Asking { under_way: Semaphore::new(0), taken_back: Semaphore::new(0) });
    let spec = Spec { revision: Some(Revision::LATEST_LEGACY), ..spec("s", Arc::clone(&asking)) };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    bay.settled().await;
    let (listener, end) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), CancellationToken::new());
    let address = listener.local_addr().unwrap();
    let options = server::Options { sse: Some(server::Pair::default()), ..options };
    tokio::spawn(server::serve(listener, server::Endpoint::new(Arc::new(bay.clone()), options), end.clone()));
    (asking, bay, address, end)
}

#[tokio::test]
async fn a_call_whose_client_hung_up_takes_no_question_of_another() {
    for tool in ["silent", "loud"] {
        let (asking, bay, address, end) = opened().await;
        let id = session(address).await;

        let mut first = post(address, Some(&id), &call(2, tool)).await;
        asking.under_way.acquire().await.unwrap().forget();
        if tool == "loud" {
            read_until(&mut first, "notifications/progress").await;
        }
        hang_up(first).await;
        let mut second = post(address, Some(&id), &call(3, "ask")).await;
        let said = read_until(&mut second, "elicitation/create").await;
        let asked = said.lines().find(|line| line.contains("elicitation/create")).unwrap();
        let asked: Value = serde_json::from_str(asked.trim_start_matches("data: ")).unwrap();
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {}}});
        read_until(&mut post(address, Some(&id), &answer).await, "202").await;
        let said = read_until(&mut second, "\"id\":3").await;
        assert!(said.contains("accept"), "{tool}: {said}");
        bay.close().await;
        end.cancel();
    }
}

// spec: basic/transports, a disconnection is no cancellation; but it is no licence to run for ever.
#[tokio::test]
async fn a_call_whose_client_hung_up_ends_with_its_own_deadline_or_with_its_session() {
    let soon = Duration::from_millis(200);
    for (silence, session_idle) in [(soon, SOON * 100), (SOON * 100, soon)] {
        let spec = |name: &str, asking| Spec { silence, ..Spec::embedded(name, asking) };
        let options = server::Options { session_idle, ..server::Options::default() };
        let (asking, bay, address, end) = opened_with(spec, options).await;
        let id = session(address).await;
        let call = post(address, Some(&id), &call(2, "silent")).await;
        asking.under_way.acquire().await.unwrap().forget();
        hang_up(call).await;
        timeout(SOON, asking.taken_back.acquire()).await.expect("the server is told").unwrap().forget();
        bay.close().await;
        end.cancel();
    }
}

#[tokio::test]
async fn a_client_that_lets_go_of_its_link_takes_its_calls_back() {
    let (asking, bay, address, end) = opened().await;
    let mut link = TcpStream::connect(address).await.unwrap();
    let head = format!("GET /sse HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\r\n");
    link.write_all(head.as_bytes()).await.unwrap();
    let said = read_until(&mut link, "sessionId=").await;
    let place = said.lines().find_map(|line| line.strip_prefix("data: ")).unwrap().trim().to_owned();
    for message in [opening(), json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), call(2, "silent")] {
        read_until(&mut post_to(&place, address, None, &message).await, "202").await;
    }
    asking.under_way.acquire().await.unwrap().forget();
    hang_up(link).await;
    timeout(SOON, asking.taken_back.acquire()).await.expect("the server is told").unwrap().forget();
    bay.close().await;
    end.cancel();
}
