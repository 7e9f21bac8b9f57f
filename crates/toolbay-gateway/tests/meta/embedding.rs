//! What an embedding endpoint adds to `search_tools`, and what it does not when it is away.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;
use toolbay_gateway::{
    Bay, Identity,
    config::Url,
    embeddings::{Embedder, Settings},
    servers::Spec,
};
use toolbay_protocol::{Raw, Revision, watch::Change};
use toolbay_testkit::services::{
    Web,
    embeddings::{Manner, Model},
};
use toolbay_transport::Connection;

use crate::{
    acquiring::acquirer,
    house::{Shop, client, own, searching},
    seen::{self, Seen},
};

const SOON: Duration = Duration::from_secs(30);

fn tool(name: &str, description: &str) -> Raw {
    Raw::of(&json!({"name": name, "description": description, "inputSchema": {"type": "object"}}))
}

fn model() -> Model {
    Model::knowing(&[&["parcel", "archive"], &["umbrella", "weather"], &["special", "extraordinary"]])
}

fn settings(web: &Web) -> Settings {
    // A machine may be busy; that a late answer is none is shown on a clock of its own.
    let budget = Duration::from_secs(10);
    Settings { budget, ..Settings::new(Url::parse(&web.url("/v1/embeddings")).unwrap(), "small") }
}

fn embedder(settings: Settings) -> Embedder {
    Embedder::start(settings, None, Arc::new(|_| {})).unwrap()
}

fn bay() -> (Bay, Arc<Shop>) {
    let shop = Shop::of(vec![
        tool("zip", "Packs files into an archive"),
        tool("send", "Sends a message to an address"),
        tool("sum", "Adds numbers"),
        tool("clock", "Tells the time"),
    ]);
    let spec = Spec { revision: Some(Revision::LATEST), ..Spec::embedded("s", Arc::clone(&shop)) };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    bay.expose(searching());
    (bay, shop)
}

async fn encoded(bay: &Bay) {
    bay.settled().await;
    timeout(SOON, bay.encoded()).await.expect("all are encoded");
}

async fn best(client: &Connection, query: &str) -> (Value, f64) {
    let found = own(client, "search_tools", json!({"query": query})).await;
    (found["tools"][0]["name"].clone(), found["tools"][0]["parts"]["model"].as_f64().unwrap_or_default())
}

#[tokio::test]
async fn what_means_the_same_is_found_while_somebody_is_asked_what_it_means() {
    let model = model();
    let (web, (bay, shop)) = (model.serve(), bay());
    let (one, _) = client(&bay, Revision::LATEST, "one").await;
    assert_eq!(best(&one, "make a parcel").await, (Value::Null, 0.0), "no word of it is a tool's");
    bay.embed_by(Some(embedder(settings(&web))));
    encoded(&bay).await;
    let (name, by_model) = best(&one, "make a parcel").await;
    assert!(name == "s__zip" && by_model > 0.0, "{name} {by_model}");
    let asked = web.asked();
    assert!(asked.iter().all(|asked| asked.header("content-type") == Some("application/json")));

    // What comes is encoded, and nothing else is again.
    let before = model.asked().len();
    shop.tools.lock().unwrap().push(tool("forecast", "Says what the weather will be"));
    let mut moves = bay.moves();
    shop.hub.publish(&Change::Tools);
    timeout(SOON, moves.wait_for(|_| bay.catalog().iter(toolbay_gateway::catalog::Listed::Tools).count() == 5))
        .await
        .unwrap()
        .unwrap();
    encoded(&bay).await;
    assert_eq!(model.asked()[before..], [["s forecast: Says what the weather will be"]]);
    assert_eq!(best(&one, "need an umbrella").await.0, "s__forecast");

    bay.embed_by(None);
    assert_eq!(best(&one, "make a parcel").await, (Value::Null, 0.0));
    assert!(bay.embedded().is_none());
}

#[tokio::test]
async fn one_that_is_away_costs_its_note_and_nothing_else() {
    let model = model();
    let (web, (bay, _)) = (model.serve(), bay());
    let (one, _) = client(&bay, Revision::LATEST, "one").await;
    bay.embed_by(Some(embedder(settings(&web))));
    encoded(&bay).await;
    model.behave(Manner::Refuses(503, "overloaded"));
    let search = async |query: &str| own(&one, "search_tools", json!({"query": query})).await;
    let first = search("pack files").await;
    assert_eq!((&first["tools"][0]["name"], &first["tools"][0]["parts"]["model"]), (&json!("s__zip"), &json!(0.0)));
    let note = first["note"].as_str().unwrap();
    assert!(note.contains("found by words alone") && note.contains("overloaded"), "{note}");
    for query in ["send a message", "add numbers", "tell the time", "pack files"] {
        assert_eq!(search(query).await["note"], Value::Null, "it was said");
    }
    let asked = model.asked().len();
    search("pack an archive").await;
    assert_eq!(model.asked().len(), asked, "it is left alone");
    assert!(bay.embedded().unwrap().fault.unwrap().contains("overloaded"));
}

#[tokio::test]
async fn vectors_of_another_model_are_never_compared() {
    let (web, other) = (model().serve(), Model::knowing(&[&["parcel", "numbers"]]).serve());
    let (bay, _) = bay();
    let (one, _) = client(&bay, Revision::LATEST, "one").await;
    bay.embed_by(Some(embedder(settings(&web))));
    encoded(&bay).await;
    assert_eq!(best(&one, "make a parcel").await.0, "s__zip");
    bay.embed_by(Some(embedder(settings(&other))));
    encoded(&bay).await;
    assert_eq!(best(&one, "make a parcel").await.0, "s__sum", "both have 64 numbers, and nothing else in common");
    let wrong = Settings { model: "none".into(), ..Settings::new(Url::parse(&web.url("/wrong")).unwrap(), "x") };
    bay.embed_by(Some(embedder(wrong)));
    assert_eq!(best(&one, "pack files").await, (json!("s__zip"), 0.0));
}

#[tokio::test]
async fn a_caller_finds_by_meaning_only_what_it_is_offered() {
    let (model, server) = (model(), Arc::new(Seen { special: true, ..Seen::default() }));
    let web = model.serve();
    let bay = seen::bay(&server, Revision::LATEST_LEGACY, |spec| spec).await;
    bay.expose(searching());
    bay.embed_by(Some(embedder(settings(&web))));
    let (more, _) = seen::client(&bay, Revision::LATEST, "", json!({"sampling": {}})).await;
    let (less, _) = seen::client(&bay, Revision::LATEST, "", json!({})).await;
    let found = async |one: &Connection| {
        let found = own(one, "search_tools", json!({"query": "something extraordinary"})).await;
        found["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "s__special")
    };
    // The first search makes the index of that view, which is encoded then.
    let until = tokio::time::Instant::now() + SOON;
    while !found(&more).await {
        assert!(tokio::time::Instant::now() < until, "it is encoded in time");
        tokio::task::yield_now().await;
    }
    assert!(!found(&less).await, "its vector is known, and it is not this caller's");
}

#[tokio::test]
async fn servers_that_registries_list_are_found_by_meaning_too() {
    let (folder, web) = (tempfile::tempdir().unwrap(), model().serve());
    let (acquirer, _) = acquirer(folder.path());
    let names = async || {
        let offers = acquirer.find("need an umbrella", 3).await.offers;
        offers.into_iter().map(|offer| offer.listing.name).collect::<Vec<_>>()
    };
    assert_eq!(names().await, [""; 0]);
    acquirer.embed_by(Some(embedder(settings(&web))));
    assert_eq!(names().await, ["io.github.someone/sky"]);
    acquirer.embed_by(None);
    assert_eq!(names().await, [""; 0]);
}
