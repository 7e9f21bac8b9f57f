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

// Rules 175 and 184: message by message.
#[tokio::test]
async fn who_listens_to_a_task_is_told_of_it_on_that_stream_alone() {
    let tool = Tool::new("job", "", |cx: Ctx| async move {
        cx.progress(1.0).of(2.0).saying("half").await;
        cx.info("to nobody").await;
        std::future::pending::<()>().await;
    });
    let mut link = Link::to(Server::new("s", "1").tool(tool.task()));
    let with = json!({"extensions": {TASKS: {}}});
    let mut call = modern(&with, json!({"name": "job"}));
    call["_meta"]["progressToken"] = json!("t");
    call["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    let task = link.ask(1, "tools/call", call).await["result"]["taskId"].clone();
    let listen = json!({"notifications": {"taskIds": [task, "nobody's"]}});
    for undeclared in [json!({}), json!({"tasks": {}})] {
        let refused = link.ask(2, "subscriptions/listen", modern(&undeclared, listen.clone())).await;
        let needed = json!({"requiredCapabilities": {"extensions": {TASKS: {}}}});
        assert_eq!((&refused["error"]["code"], &refused["error"]["data"]), (&json!(-32021), &needed), "{refused}");
    }
    let mut params = modern(&with, listen);
    params["_meta"]["progressToken"] = json!("u");
    link.say(&json!({"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": params})).await;
    link.ask(3, "tasks/cancel", modern(&with, json!({"taskId": task}))).await;
    link.ask(4, "server/discover", modern(&with, json!({}))).await;
    let told: Vec<_> = link.told.iter().map(|told| told["method"].as_str().unwrap_or_default()).collect();
    let (first, rest) = told.split_first().expect("it was told something");
    assert_eq!(*first, "notifications/subscriptions/acknowledged");
    assert!(!rest.is_empty() && rest.iter().all(|method| *method == "notifications/tasks"), "{told:?}");
    assert_eq!(link.told[0]["params"]["notifications"], json!({"taskIds": [task]}));
    for note in &link.told {
        assert_eq!(note["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "l", "{note}");
    }
    let last = &link.told[link.told.len() - 1]["params"];
    assert_eq!((&last["taskId"], &last["status"]), (&task, &json!("cancelled")), "{last}");
    assert!(last["createdAt"].is_string() && last["ttlMs"].is_u64() && last.get("resultType").is_none(), "{last}");
}
