//! Rules of the protocol that no scenario of the official suite covers, for tasks: message by message.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use toolbay::{
    Ctx, Server, Tool,
    protocol::{Frame, Id},
    transport::{
        duplex::{self, Came, Options, ReadFrames as _, WriteFrames as _},
        memory,
    },
};
use toolbay_builtins::everything::{Faults, server};

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The client's end of a link, and what was told on it beside answers.
struct Link {
    end: memory::End,
    told: Vec<Value>,
}

impl Link {
    fn to(server: Server) -> Self {
        let (theirs, end) = memory::pair();
        tokio::spawn(duplex::serve(Arc::new(server), theirs.0, theirs.1, Options::default()));
        Self { end, told: Vec::new() }
    }

    async fn say(&mut self, message: &Value) {
        self.end.1.push(Frame::parse(&message.to_string().into_bytes().into()).unwrap());
        self.end.1.flush().await.unwrap();
    }

    /// Asks, and waits for the answer.
    async fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        loop {
            let came =
                tokio::time::timeout(Duration::from_secs(5), self.end.0.read()).await.expect("it answers").unwrap();
            let Some(Came::One(Ok(frame))) = came else { panic!("{came:?}") };
            let message: Value = serde_json::from_slice(&frame.to_bytes()).unwrap();
            if frame.id() == Some(&Id::Number(id)) && message.get("method").is_none() {
                return message;
            }
            self.told.push(message);
        }
    }
}

fn modern(capabilities: &Value, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    params
}

// Rule 180.
#[tokio::test]
async fn words_of_the_older_tasks_mean_nothing_in_the_newest_revision() {
    let mut link = Link::to(server(Faults::Withheld));
    let with = json!({"extensions": {TASKS: {}}});
    for (id, method) in [(1, "tasks/result"), (2, "tasks/list")] {
        let answer = link.ask(id, method, modern(&with, json!({"taskId": "x"}))).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    let hello = link.ask(3, "server/discover", modern(&with, json!({}))).await;
    let capabilities = &hello["result"]["capabilities"];
    assert!(capabilities.get("tasks").is_none() && capabilities["extensions"][TASKS].is_object(), "{capabilities}");
    let call = json!({"name": "greet", "arguments": {"name": "Ada"}, "task": {"ttl": 1}});
    let answer = link.ask(4, "tools/call", modern(&with, call)).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

// Rule 172.
#[tokio::test]
async fn progress_of_a_core_task_ends_with_it() {
    let tool = Tool::new("job", "", |cx: Ctx| async move {
        for step in [1.0, 2.0] {
            cx.progress(step).of(2.0).await;
            tokio::task::yield_now().await;
        }
        let late = cx.clone();
        tokio::spawn(async move {
            late.progress(3.0).await;
        });
        "done"
    });
    let mut link = Link::to(Server::new("s", "1").tool(tool.task()));
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
    });
    link.ask(0, "initialize", hello).await;
    link.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let call = json!({"name": "job", "task": {}, "_meta": {"progressToken": "t"}});
    let created = link.ask(1, "tools/call", call).await;
    let id = json!({"taskId": created["result"]["task"]["taskId"]});
    assert_eq!(link.ask(2, "tasks/result", id).await["result"]["content"][0]["text"], "done");
    link.told.clear();
    for id in 3..20 {
        link.ask(id, "ping", json!({})).await;
    }
    let late: Vec<_> = link.told.iter().filter(|told| told["method"] == "notifications/progress").collect();
    assert!(late.is_empty(), "{late:?}");
}
