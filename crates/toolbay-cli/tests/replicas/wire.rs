//! Requests by hand, where every header and status counts.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::house::SOON;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: Value,
}

impl Answer {
    /// What its error says, with its code.
    pub(crate) fn error(&self) -> (i64, &str) {
        let error = &self.body["error"];
        (error["code"].as_i64().unwrap_or_default(), error["message"].as_str().unwrap_or_default())
    }

    pub(crate) fn text(&self) -> &str {
        self.body["result"]["content"][0]["text"].as_str().unwrap_or_default()
    }
}

/// One connection.
pub(crate) struct Wire(TcpStream);

impl Wire {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// Sends one request and reads its answer.
    pub(crate) async fn send(&mut self, verb: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut request = format!("{verb} /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("\r\n{body}"));
        self.0.write_all(request.as_bytes()).await.unwrap();
        timeout(SOON, self.answer()).await.expect("it answers in time")
    }

    async fn answer(&mut self) -> Answer {
        let mut text = vec![];
        let end = loop {
            if let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            assert_ne!(self.0.read_buf(&mut text).await.unwrap(), 0, "it answers");
        };
        let head = String::from_utf8(text[..end].to_vec()).unwrap();
        let header = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(':'));
            let mut found = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| value.trim().to_owned())
        };
        let length: usize = header("content-length").map_or(0, |length| length.parse().unwrap());
        while text.len() < end + length {
            assert_ne!(self.0.read_buf(&mut text).await.unwrap(), 0, "it answers whole");
        }
        let body = serde_json::from_slice(&text[end..]).unwrap_or(Value::Null);
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, session: header("mcp-session-id"), body }
    }

    /// A request of 2026-07-28 of a client that can be shown forms and takes tasks.
    pub(crate) async fn newer(&mut self, method: &str, params: &Value) -> Answer {
        let mut params = params.clone();
        let capabilities = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let name = ["name", "uri", "taskId"].iter().find_map(|key| params[key].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        if !name.is_empty() {
            headers.push(("Mcp-Name", &name));
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.send("POST", &headers, Some(&body)).await
    }

    /// A request of 2025-11-25, in a session or before it.
    pub(crate) async fn older(&mut self, session: Option<&str>, method: &str, params: &Value) -> Answer {
        let mut headers = vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        if let Some(session) = session {
            headers.extend([("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")]);
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.send("POST", &headers, Some(&body)).await
    }
}

/// How a client of 2025-11-25 opens a session.
pub(crate) fn hello() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}})
}
