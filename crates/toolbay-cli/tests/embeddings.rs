//! An embedding endpoint of a configuration, as the commands use it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;

use std::path::Path;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolbay_testkit::services::{Web, embeddings::Model, map};

/// A configuration with two services, of which no word asks for a parcel, and that endpoint.
fn write(folder: &Path, service: &Web, embeddings: &Value) {
    let tool = |name: &str, description: &str| {
        json!({"name": name, "description": description, "transport": "rest", "url": service.url("/api/tools/call"),
            "inputSchema": {"type": "object", "properties": {}}})
    };
    let tools = [tool("packer", "Packs files into an archive"), tool("counter", "Adds numbers")];
    let config = json!({"tools": tools, "expose": "search", "acquire": {"sources": []}, "embeddings": embeddings});
    std::fs::write(folder.join("toolbay.json"), config.to_string()).unwrap();
}

fn endpoint(web: &Web) -> Value {
    // A machine may be busy.
    json!({"url": web.url("/v1/embeddings"), "model": "small", "key": "k3y", "budget": 10})
}

async fn run(folder: &Path, args: &[&str]) -> String {
    let (code, out, err) = command::run(folder, args).await;
    assert_eq!(code, 0, "{args:?}: {out} {err}");
    out
}

async fn status(folder: &Path) -> Value {
    let status: Value = serde_json::from_str(&run(folder, &["status", "--json"]).await).unwrap();
    status["embeddings"].clone()
}

#[tokio::test]
async fn up_asks_the_endpoint_reloads_it_and_keeps_what_it_answered() {
    let (folder, service, model) = (tempfile::tempdir().unwrap(), map(), Model::knowing(&[&["parcel", "archive"]]));
    let (folder, web) = (folder.path(), model.serve());
    write(folder, &service, &endpoint(&web));
    let mut child = command::up(folder).spawn().unwrap();
    let (endpoints, _) = command::ready(&mut child).await;
    let url = command::address(&endpoints, "http");
    let search = async || run(folder, &["call", "search_tools", "query=make a parcel", "--url", &url]).await;
    let until = Instant::now() + command::SOON;
    // 90 texts of the self-test, and the two tools.
    while status(folder).await["vectors"] != 92 {
        assert!(Instant::now() < until, "all are encoded in time: {}", status(folder).await);
    }
    while !search().await.contains("packer") {
        assert!(Instant::now() < until, "what is encoded is found");
    }
    let said = run(folder, &["status"]).await;
    assert!(said.contains("embeddings by small at http://127.0.0.1:") && said.contains("92 texts encoded"), "{said}");
    assert!(web.asked().iter().all(|asked| asked.header("authorization") == Some("Bearer k3y")));

    write(folder, &service, &Value::Null);
    let said = run(folder, &["reload"]).await;
    assert!(said.contains("search: adjusted: embeddings (live)"), "{said}");
    assert!(!search().await.contains("packer"));
    assert_eq!(status(folder).await, Value::Null);

    let asked = model.asked().len();
    write(folder, &service, &endpoint(&web));
    run(folder, &["reload"]).await;
    while !search().await.contains("packer") {
        assert!(Instant::now() < until, "it is found again");
    }
    assert!(model.asked()[asked..].iter().all(|texts| *texts == ["make a parcel"]), "only the request is asked anew");
    command::end(child).await;
}

#[tokio::test]
async fn ask_finds_by_meaning_and_goes_by_words_where_nobody_answers() {
    let (folder, service, model) = (tempfile::tempdir().unwrap(), map(), Model::knowing(&[&["parcel", "archive"]]));
    let (folder, web) = (folder.path(), model.serve());
    write(folder, &service, &endpoint(&web));
    let plan = run(folder, &["ask", "--plan", "--json", "make a parcel"]).await;
    assert!(plan.contains("packer") && !plan.contains("counter"), "{plan}");
    let asked = model.asked().len();
    run(folder, &["ask", "--plan", "--json", "make a parcel"]).await;
    assert_eq!(model.asked()[asked..], [["make a parcel"]], "tools and self-test lie in the cache");
    drop(web);
    let (code, _, err) = command::run(folder, &["ask", "--plan", "make a parcel"]).await;
    assert!(code != 0 && err.contains("found by words alone") && !err.contains("k3y"), "{err}");
    let (code, out, _) = command::run(folder, &["ask", "--plan", "pack files"]).await;
    assert!(code == 0 && out.contains("packer"), "{out}");
}
