//! What one replica seals another opens, where they were given the same key.

use serde_json::{Value, json};

use crate::{
    house::{KEY, Replicas, Shared, THIS, ada, folder, toolbay},
    proxy::{Proxy, Turns},
    wire::Wire,
};

const OTHER: &str = "0d5e7a3b48f2a6d4e9b01c2f3a4d5e6f708192a3b4c5d6e7f8091a2b3c4d9f1c";
const ROUNDS: &str = "everything__test_input_required_result_multi_round";

#[tokio::test]
async fn without_the_same_key_the_other_replica_says_what_to_set() {
    let folder = folder();
    let server = Shared::everything(folder.path()).await;
    let servers = json!({"everything": {"url": server.url}});
    for keys in [[None, None], [Some(KEY), None], [Some(KEY), Some(OTHER)]] {
        let replicas = Replicas::start(folder.path(), &servers, &keys).await;
        let proxy = Proxy::before(&replicas.addresses, Turns::Requests).await;
        let client = ada().tasks().connect(proxy.url()).await.unwrap();
        let refused = client.call(ROUNDS, &()).await.unwrap_err().to_string();
        assert!(refused.contains("the same TOOLBAY_STATE_KEY"), "{refused}");

        let begun = Wire::open(proxy.address).await;
        let begin = json!({"name": "everything__slow_compute", "arguments": {"seconds": 30}});
        let begun = { begun }.newer("tools/call", &begin).await;
        let task = json!({"taskId": begun.body["result"]["taskId"]});
        let elsewhere = Wire::open(proxy.address).await.newer("tasks/get", &task).await;
        let (code, says) = elsewhere.error();
        assert!(code == -32602 && says.contains("the same TOOLBAY_STATE_KEY"), "{elsewhere:?}");
        let here = Wire::open(proxy.address).await.newer("tasks/cancel", &task).await;
        assert_eq!(here.body["error"], Value::Null, "{here:?}");
    }
}

/// A server that is a process of each replica's own is two servers: they need a key of their own to share.
#[tokio::test]
async fn servers_of_each_replica_take_up_each_others_calls_where_they_share_a_key() {
    let folder = folder();
    let server = |env: Value| json!({"everything": {"command": THIS, "args": ["serve", "everything"], "env": env}});
    for (env, taken_up) in [(json!({"TOOLBAY_STATE_KEY": "${TOOLBAY_STATE_KEY}"}), true), (json!({}), false)] {
        let replicas = Replicas::two(folder.path(), &server(env)).await;
        let proxy = Proxy::before(&replicas.addresses, Turns::Requests).await;
        let client = ada().connect(proxy.url()).await.unwrap();
        let said = client.call(ROUNDS, &()).await;
        match said {
            Ok(_) => assert!(taken_up),
            Err(refused) => assert!(!taken_up && refused.to_string().contains("requestState"), "{refused}"),
        }
    }
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_at_the_start() {
    let folder = folder();
    for args in [&["up", "--listen", "127.0.0.1:0"][..], &["serve", "time"]] {
        let output = toolbay(folder.path(), args).env("TOOLBAY_STATE_KEY", "secret").output().await.unwrap();
        let says = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(3) && says.contains("openssl rand -hex 32"), "{says}");
    }
}
