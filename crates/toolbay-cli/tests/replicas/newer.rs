//! Clients of 2026-07-28.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::{sync::Notify, time::timeout};
use toolbay::{
    client::{ResultExt as _, Started},
    protocol::watch::{Change, Filter},
};

use crate::{
    house::{Replicas, SOON, Shared, ada, asks_while_it_runs, folder, ran},
    proxy::{Proxy, Turns},
    wire::Wire,
};

const ROUNDS: &str = "everything__test_input_required_result_multi_round";

#[tokio::test]
async fn a_call_of_many_rounds_goes_from_replica_to_replica() {
    let folder = folder();
    let server = Shared::everything(folder.path()).await;
    let replicas = Replicas::two(folder.path(), &json!({"everything": {"url": server.url}})).await;
    let proxy = Proxy::before(&replicas.addresses, Turns::Requests).await;
    let client = ada().connect(proxy.url()).await.unwrap();
    proxy.went();
    let said = client.call(ROUNDS, &()).await.unwrap();
    assert_eq!(said.texts(), "Ada likes blue.");
    let went = proxy.went();
    assert!(went.len() == 3 && went[0] != went[1] && went[0] == went[2], "each round came to the other: {went:?}");

    let (one, other) = (client.tools().all().await.unwrap(), client.tools().all().await.unwrap());
    assert!(one == other && one.iter().any(|tool| &*tool.name == ROUNDS));
    for _ in 0..2 {
        let read = client.read("test://static-text").await.unwrap();
        assert!(format!("{read:?}").contains("static text resource"), "{read:?}");
        let filled = client.prompt("everything__test_simple_prompt", &()).await.unwrap();
        assert!(!filled.messages.is_empty());
    }
}

/// Where connections take turns, a client that keeps several spreads the rounds of a call all the same.
#[tokio::test]
async fn a_call_goes_on_over_another_connection_too() {
    let folder = folder();
    let server = Shared::everything(folder.path()).await;
    let replicas = Replicas::two(folder.path(), &json!({"everything": {"url": server.url}})).await;
    let proxy = Proxy::before(&replicas.addresses, Turns::Connections).await;
    let (mut one, mut other) = (Wire::open(proxy.address).await, Wire::open(proxy.address).await);
    let mut params = json!({"name": ROUNDS});
    for (wire, key, answer) in [(&mut one, "name", "Ada"), (&mut other, "color", "blue")] {
        params = returning(&params, &wire.newer("tools/call", &params).await.body, key, answer);
    }
    assert_eq!(one.newer("tools/call", &params).await.text(), "Ada likes blue.");
    assert_eq!(proxy.went(), [0, 1], "a replica for each connection");
}

/// The same request with an answer to what it was asked.
fn returning(params: &Value, asked: &Value, key: &str, answer: &str) -> Value {
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked}");
    let question = result["inputRequests"].as_object().unwrap().keys().next().unwrap();
    let mut params = params.clone();
    params["inputResponses"] = json!({question: {"action": "accept", "content": {key: answer}}});
    params["requestState"] = result["requestState"].clone();
    params
}

#[tokio::test]
async fn a_task_is_looked_after_by_either_replica() {
    let folder = folder();
    let server = Shared::everything(folder.path()).await;
    let replicas = Replicas::two(folder.path(), &json!({"everything": {"url": server.url}})).await;
    let proxy = Proxy::before(&replicas.addresses, Turns::Requests).await;
    let client = ada().tasks().connect(proxy.url()).await.unwrap();
    proxy.went();
    let slow = json!({"seconds": 0.5, "label": "pi"});
    let Started::Task(task) = client.call("everything__slow_compute", &slow).start().await.unwrap() else {
        panic!("it is a task")
    };
    for _ in 0..2 {
        assert!(!task.state().await.unwrap().status.is_final());
    }
    let went = proxy.went();
    assert!(went.len() == 3 && went.contains(&0) && went.contains(&1), "{went:?}");
    // Told on a stream of one replica, whichever began it.
    for _ in 0..2 {
        let said = timeout(SOON, task.result()).await.expect("it comes to its end").unwrap();
        assert!(said.texts().contains("computed pi"), "{}", said.texts());
    }
    // What it asks is answered through the other.
    let Started::Task(task) =
        client.call("everything__confirm_delete", &json!({"filename": "x"})).start().await.unwrap()
    else {
        panic!("it is a task")
    };
    timeout(SOON, task.result()).await.expect("it comes to its end").unwrap();
}

#[tokio::test]
async fn changes_reach_a_listener_whichever_replica_causes_them() {
    let folder = folder();
    let server = Shared::everything(folder.path()).await;
    let replicas = Replicas::two(folder.path(), &json!({"everything": {"url": server.url}})).await;
    let proxy = Proxy::before(&replicas.addresses, Turns::Requests).await;
    let (tools, watched) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (heard_tools, heard_watched) = (Arc::clone(&tools), Arc::clone(&watched));
    let hear = move |change| match change {
        Change::Tools => heard_tools.notify_one(),
        Change::Updated(_) => heard_watched.notify_one(),
        _ => {}
    };
    let client = ada().on_change(hear).connect(proxy.url()).await.unwrap();
    let lists = client.watch(Filter::lists()).await.unwrap();
    let resource = client.watch(Filter::resource("test://watched-resource")).await.unwrap();
    // Twice each: one of the two goes through the replica that does not tell.
    for _ in 0..2 {
        client.call("everything__add_tool", &()).await.unwrap();
        timeout(SOON, tools.notified()).await.expect("the listener is told");
        client.call("everything__test_trigger_resource_update", &()).await.unwrap();
        timeout(SOON, watched.notified()).await.expect("the listener is told");
    }
    drop((lists, resource));
}

#[tokio::test]
async fn a_call_that_waits_for_an_older_server_waits_in_one_replica_and_runs_once() {
    let folder = folder();
    let replicas = Replicas::two(folder.path(), &json!({"older": asks_while_it_runs(folder.path())})).await;
    let proxy = Proxy::before(&replicas.addresses, Turns::Requests).await;
    let first = json!({"name": "older__meet"});
    let call = async |params: &Value| Wire::open(proxy.address).await.newer("tools/call", params).await;
    let asked = call(&first).await;
    let second = returning(&first, &asked.body, "name", "Ada");
    let elsewhere = call(&second).await;
    let (code, says) = elsewhere.error();
    assert!(code == -32603 && says.contains("waits in another replica") && says.contains("to one replica"), "{says}");
    // It goes on waiting where it is: the same request, one turn later, is taken.
    let asked = call(&second).await;
    let third = returning(&first, &asked.body, "color", "blue");
    assert!(call(&third).await.error().1.contains("waits in another replica"));
    assert_eq!(call(&third).await.text(), "Ada likes blue.");
    assert_eq!(ran(folder.path()), 1);
    // A client that does not try again is told, and the call has run no second time.
    let client = ada().connect(proxy.url()).await.unwrap();
    let refused = client.call("older__meet", &()).await.unwrap_err().to_string();
    assert!(refused.contains("waits in another replica"), "{refused}");
    assert_eq!(ran(folder.path()), 2);
}

#[tokio::test]
async fn a_call_that_waits_for_an_older_server_goes_on_over_the_connection_it_came_by() {
    let folder = folder();
    let replicas = Replicas::two(folder.path(), &json!({"older": asks_while_it_runs(folder.path())})).await;
    let proxy = Proxy::before(&replicas.addresses, Turns::Connections).await;
    let mut wire = Wire::open(proxy.address).await;
    let first = json!({"name": "older__meet"});
    let mut params = first.clone();
    for (key, answer) in [("name", "Ada"), ("color", "blue")] {
        params = returning(&first, &wire.newer("tools/call", &params).await.body, key, answer);
    }
    assert_eq!(wire.newer("tools/call", &params).await.text(), "Ada likes blue.");
    assert_eq!(ran(folder.path()), 1);
}
