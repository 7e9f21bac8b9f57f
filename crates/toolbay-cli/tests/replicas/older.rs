//! Clients that open sessions.

use serde_json::json;
use tokio::time::timeout;
use toolbay::{client::ResultExt as _, protocol::Revision, protocol::watch::Filter};

use crate::{
    house::{Replicas, SOON, Shared, ada, asks_while_it_runs, folder, ran},
    proxy::{Proxy, Turns},
    wire::{Wire, hello},
};

#[tokio::test]
async fn a_session_that_the_other_replica_opened_is_not_found_so_that_a_new_one_is_opened() {
    let folder = folder();
    let replicas = Replicas::two(folder.path(), &json!({})).await;
    let proxy = Proxy::before(&replicas.addresses, Turns::Requests).await;
    let opened = Wire::open(proxy.address).await.older(None, "initialize", &hello()).await;
    let session = opened.session.unwrap();
    let named = [("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", "2025-11-25")];
    let elsewhere = Wire::open(proxy.address).await.older(Some(&session), "tools/list", &json!({})).await;
    assert_eq!(elsewhere.status, 404, "{elsewhere:?}");
    assert!(elsewhere.error().1.contains("open a new one with `initialize`"), "{elsewhere:?}");
    // One turn later it is there: nothing was ended by that.
    let here = Wire::open(proxy.address).await.older(Some(&session), "ping", &json!({})).await;
    assert_eq!(here.status, 200, "{here:?}");
    let accept = [named[0], named[1], ("Accept", "text/event-stream")];
    assert_eq!(Wire::open(proxy.address).await.send("GET", &accept, None).await.status, 404);
    assert_eq!(Wire::open(proxy.address).await.send("DELETE", &named, None).await.status, 204);
    assert_eq!(Wire::open(proxy.address).await.send("DELETE", &named, None).await.status, 404);
}

#[tokio::test]
async fn a_client_that_finds_no_session_gives_up_in_time_and_says_why() {
    let folder = folder();
    let replicas = Replicas::two(folder.path(), &json!({})).await;
    let proxy = Proxy::before(&replicas.addresses, Turns::Requests).await;
    let trying = async {
        let client = ada().revision(Revision::V2025_11_25).connect(proxy.url()).await?;
        client.tools().all().await.map(drop)
    };
    let failed = timeout(SOON, trying).await.expect("it does not try for ever").unwrap_err().to_string();
    assert!(failed.contains("404"), "{failed}");
}

#[tokio::test]
async fn a_session_that_sticks_to_its_replica_has_all_of_it() {
    let folder = folder();
    let server = Shared::everything(folder.path()).await;
    let servers = json!({"everything": {"url": server.url}, "older": asks_while_it_runs(folder.path())});
    let replicas = Replicas::two(folder.path(), &servers).await;
    let proxy = Proxy::before(&replicas.addresses, Turns::Sessions).await;
    // One after the other, so that each replica has some.
    for count in 1..=2 {
        let client = ada().revision(Revision::V2025_11_25).connect(proxy.url()).await.unwrap();
        assert!(client.tools().all().await.unwrap().len() > 2);
        let said = client.call("everything__test_input_required_result_multi_round", &()).await.unwrap();
        assert_eq!(said.texts(), "Ada likes blue.");
        assert_eq!(client.call("older__meet", &()).await.unwrap().texts(), "Ada likes blue.");
        assert_eq!(ran(folder.path()), count);
        drop(client.watch(Filter::resource("test://watched-resource")).await.unwrap());
    }
    let went = proxy.went();
    assert!(went.contains(&0) && went.contains(&1), "{went:?}");
}
