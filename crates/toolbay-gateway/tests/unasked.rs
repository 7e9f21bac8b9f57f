//! A server that asks for the roots as soon as its session is open, before anything is called.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::timeout;
use toolbay_gateway::{
    Bay, Identity,
    config::{Child, Endpoint},
    servers::{Plan, Spec, endpoint},
};
use toolbay_protocol::{
    Method, Raw, Revision,
    exchange::{Answers, Step},
    greeting::Introduction,
    peer::Call,
};
use toolbay_transport::{Approach, Connection, connect, duplex};

/// Answers a call with the roots, once it knows them.
const SERVER: &str = r#"
answer() { [ -n "$call" ] && [ -n "$roots" ] && {
    echo '{"jsonrpc":"2.0","id":'$call',"result":{"content":[{"type":"text","text":"'$roots'"}]}}'; call=; }; }
while read -r line; do
    id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *'"method":"initialize"'*)
        echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}' ;;
    *notifications/initialized*) echo '{"jsonrpc":"2.0","id":"roots","method":"roots/list"}' ;;
    *'"method":"tools/list"'*)
        echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}' ;;
    *'"method":"tools/call"'*) call=$id; answer ;;
    *'"id":"roots"'*) case "$line" in *file:///home*) roots=home ;; *) roots=none ;; esac; answer ;;
    esac
done
"#;

async fn client(bay: &Bay, revision: Revision) -> Connection {
    let us = Introduction { capabilities: Raw::of(&json!({"roots": {}})), ..Introduction::anonymous(revision) };
    let mut approach = Approach::new(us);
    approach.revision = Some(revision);
    connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap()
}

#[tokio::test]
async fn what_is_asked_before_any_call_travels_with_the_next() {
    let child = Child::literal("sh", ["-c".to_owned(), SERVER.to_owned()]);
    let plan = Plan::Connect(endpoint(Endpoint::Child(child)));
    let spec = Spec { revision: Some(Revision::LATEST_LEGACY), ..Spec::planned("s", "stdio", plan) };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    bay.settled().await;
    let one = client(&bay, Revision::LATEST_LEGACY).await;
    let call = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__t"}))));
    let mut running = one.call(call).await.unwrap();
    let mut asked = vec![];
    let outcome = loop {
        match timeout(Duration::from_secs(8), running.step()).await.expect("it goes on").unwrap() {
            Step::Ask(asks) => {
                asked.extend(asks.iter().map(|(_, ask)| ask.method.clone()));
                let roots = Raw::of(&json!({"roots": [{"uri": "file:///home"}]}));
                let answers: Answers = asks.iter().map(|(key, _)| (key.to_owned(), Ok(roots.clone()))).collect();
                running.answer(answers).await.unwrap();
            }
            Step::Note(_) | Step::Away(_) | Step::Withdrawn(_) => {}
            Step::Done(outcome) => break outcome.unwrap(),
        }
    };
    assert_eq!(asked, [Method::RootsList]);
    assert!(format!("{outcome:?}").contains("home"), "{outcome:?}");
    bay.close().await;
}
