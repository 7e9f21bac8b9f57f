//! Who is shown what.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::timeout;
use toolbay_gateway::{
    Bay, Identity,
    catalog::Listed,
    config::Names,
    meta::{Client, Expose, Exposure},
    servers::Spec,
};
use toolbay_protocol::{
    Raw, Revision,
    watch::{Change, Filter},
};

use crate::{
    house::{ERAS, OWN, Shop, call, client, listed, own, searching},
    script::{Ears, Script, bay},
};

const SOON: Duration = Duration::from_secs(10);

/// Waits for the next change of the list of tools, and forgets it.
async fn told(ears: &Arc<Ears>) {
    let heard = async {
        loop {
            if ears.0.lock().unwrap().drain(..).any(|change| change == Change::Tools) {
                return;
            }
            ears.1.notified().await;
        }
    };
    timeout(SOON, heard).await.expect("it is told of");
}

#[tokio::test]
async fn whoever_is_shown_all_has_none_of_our_own() {
    for revision in ERAS {
        let bay = bay(vec![("s", Script::new())], revision).await;
        let (one, _) = client(&bay, revision, "one").await;
        assert_eq!(listed(&one).await.len(), 8);
        for tool in [OWN[0], OWN[1], OWN[2], "search_and_acquire"] {
            let error = call(&one, tool, json!({"query": "x", "name": "s__echo"})).await.unwrap_err();
            assert!(error.message.contains("unknown tool"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_change_of_mind_is_told_and_holds_at_once() {
    for revision in ERAS {
        let bay = bay(vec![("s", Script::new())], revision).await;
        let (one, ears) = client(&bay, revision, "one").await;
        let watching = one.subscribe(Filter::lists()).await.unwrap();
        assert_eq!(bay.expose(searching()), ["expose"]);
        told(&ears).await;
        assert_eq!(listed(&one).await, OWN);
        assert_eq!(bay.expose(searching()), [""; 0], "nothing new");
        bay.expose(Exposure::all());
        told(&ears).await;
        assert_eq!(listed(&one).await.len(), 8);
        drop(watching);
    }
}

#[tokio::test]
async fn the_size_of_the_lists_decides_and_the_switch_is_told() {
    for revision in ERAS {
        let script = Script::new();
        let bay = bay(vec![("s", script.clone())], revision).await;
        let tokens = bay.exposed().tokens;
        let bytes: usize = bay.catalog().result(Listed::Tools, revision).as_str().len();
        assert!(tokens * 4 <= bytes && bytes < tokens * 4 + 64, "a token is four bytes: {tokens} {bytes}");
        // As many as there are, and not one more.
        let exposure = Exposure {
            expose: Expose::Auto,
            context: u32::try_from(tokens).unwrap(),
            share: 1.0,
            ..Exposure::default()
        };
        bay.expose(exposure);
        let (one, ears) = client(&bay, revision, "one").await;
        let watching = one.subscribe(Filter::lists()).await.unwrap();
        assert_eq!(listed(&one).await.len(), 8);
        assert_eq!(bay.exposed().shows(None), Expose::All);
        script.tools.lock().unwrap().push("one_more");
        script.hub.publish(&Change::Tools);
        told(&ears).await;
        assert_eq!((listed(&one).await, bay.exposed().shows(None)), (OWN.map(String::from).to_vec(), Expose::Search));
        script.tools.lock().unwrap().pop();
        script.hub.publish(&Change::Tools);
        told(&ears).await;
        assert_eq!(listed(&one).await.len(), 8);
        // Its list may be older than the switch.
        assert!(call(&one, "call_tool", json!({"name": "s__echo"})).await.is_ok());
        drop(watching);
    }
}

#[tokio::test]
async fn each_client_is_shown_what_is_said_of_it() {
    let clients = [
        ("big", Client { expose: Some(Expose::All), context: None }),
        ("small", Client { expose: None, context: Some(1_000) }),
        ("shy", Client { expose: Some(Expose::Search), context: None }),
    ];
    let clients: BTreeMap<_, _> = clients.into_iter().map(|(name, client)| (name.to_owned(), client)).collect();
    for revision in ERAS {
        let bay = bay(vec![("s", Script::new())], revision).await;
        bay.expose(Exposure { expose: Expose::Auto, clients: clients.clone(), ..Exposure::default() });
        assert!(bay.exposed().tokens > 100);
        for (name, all) in [("big", true), ("small", false), ("shy", false), ("other", true)] {
            let (one, _) = client(&bay, revision, name).await;
            assert_eq!(listed(&one).await.len() == 8, all, "{name}");
        }
        let (big, _) = client(&bay, revision, "big").await;
        assert!(call(&big, "call_tool", json!({"name": "s__echo"})).await.is_err(), "who is shown all has none");
    }
}

#[tokio::test]
async fn no_server_takes_the_name_of_one_of_our_own() {
    let tools =
        ["search_tools", "plain"].map(|name| Raw::of(&json!({"name": name, "inputSchema": {"type": "object"}})));
    let spec = Spec { names: Names::Own, ..Spec::embedded("s", Shop::of(tools.to_vec())) };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    bay.settled().await;
    let (one, _) = client(&bay, Revision::LATEST, "one").await;
    assert_eq!(listed(&one).await, ["s__search_tools", "plain"]);
    bay.expose(searching());
    assert_eq!(own(&one, "search_tools", json!({"query": "plain"})).await["tools"][0]["name"], "plain");
    let theirs = call(&one, "s__search_tools", json!({})).await.unwrap();
    assert!(theirs.as_str().contains("search_tools"), "{theirs:?}");
}
