//! `search_tools` and `describe_tool`.

use std::sync::Arc;

use serde_json::json;
use toolbay_gateway::{Bay, Identity, servers::Spec};
use toolbay_protocol::{Method, Raw, Revision, peer::Call};

use crate::{
    house::{ERAS, OWN, Shop, call, client, flaw, listed, own, searching},
    seen::{self, Seen},
};

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned().into(), Default::default()).unwrap()
}

const FORECAST: &str = r#"{"name":"get_forecast","title":"Forecast","description":"The weather of the next days in a city.","inputSchema":{"type":"object","properties":{"city":{"type":"string","description":"Where"}}},"x-own":1.50}"#;

/// A weather service, a post office, and one with a tool that nobody can take.
fn bay(revision: Revision) -> (Bay, Arc<Shop>) {
    let sky = Shop::of(vec![raw(FORECAST)]);
    let mail = Shop::of(vec![
        raw(r#"{"name":"send_mail","description":"Sends a message to an address.","inputSchema":{"type":"object"}}"#),
        raw(r#"{"name":"list_mail","description":"Lists the messages in the inbox.","inputSchema":{"type":"object"}}"#),
    ]);
    let poison =
        raw(r##"{"name":"poison","description":"Brews a deadly poison.","inputSchema":{"type":"object","$ref":"#"}}"##);
    let spec =
        |name: &str, shop: &Arc<Shop>| Spec { revision: Some(revision), ..Spec::embedded(name, Arc::clone(shop)) };
    let specs = vec![spec("sky", &sky), spec("mail", &mail), spec("witch", &Shop::of(vec![poison]))];
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, specs).unwrap();
    bay.expose(searching());
    (bay, mail)
}

#[tokio::test]
async fn a_tool_is_found_by_what_it_does() {
    for revision in ERAS {
        let (bay, _) = bay(revision);
        let (one, _) = client(&bay, revision, "one").await;
        let found = own(&one, "search_tools", json!({"query": "what will the weather be"})).await;
        let best = &found["tools"][0];
        assert_eq!((&best["name"], &best["server"]), (&json!("sky__get_forecast"), &json!("sky")), "{found}");
        assert!(best["score"].is_number() && best["parts"]["words"].as_f64().unwrap() > 0.0, "{best}");
        assert_eq!((&best["parts"]["matched"][0]["word"], &best["inputSchema"]), (&json!("weather"), &json!(null)));
        let found = own(&one, "search_tools", json!({"query": "北京明天的天气", "schema": true, "limit": 1})).await;
        assert_eq!(found["tools"].as_array().unwrap().len(), 1);
        assert_eq!(found["tools"][0]["inputSchema"]["properties"]["city"]["type"], "string");
        let found = own(&one, "search_tools", json!({"query": "messages mail", "server": "mail"})).await;
        assert!(found["tools"].as_array().unwrap().iter().all(|tool| tool["server"] == "mail"), "{found}");
    }
}

#[tokio::test]
async fn an_empty_answer_says_so() {
    let (bay, _) = bay(Revision::LATEST);
    let (one, _) = client(&bay, Revision::LATEST, "one").await;
    for (arguments, says) in [
        (json!({"query": "zzyzx quux"}), "no tool fits"),
        (json!({"query": "zzyzx quux", "server": "sky"}), "no tool of \"sky\" fits"),
        (json!({"query": "weather", "server": "skye"}), "no server \"skye\" offers a tool to you"),
    ] {
        let found = own(&one, "search_tools", arguments).await;
        assert_eq!(found["tools"], json!([]));
        assert!(found["note"].as_str().unwrap().contains(says), "{found}");
    }
}

#[tokio::test]
async fn who_asks_wrongly_is_told_how_to_ask() {
    let (bay, _) = bay(Revision::LATEST);
    for revision in ERAS {
        let (one, _) = client(&bay, revision, "one").await;
        for (tool, arguments, says) in [
            ("search_tools", json!({}), "missing field `query`"),
            ("search_tools", json!({"querry": "x"}), "expected one of `query`"),
            ("search_tools", json!({"query": "x", "limit": 21}), "from 1 to 20"),
            ("search_tools", json!({"query": "x", "limit": 0}), "from 1 to 20"),
            ("describe_tool", json!({"name": 1}), "expected a string"),
            ("call_tool", json!({"arguments": {}}), "`name` is wanted"),
            ("call_tool", json!({"name": "sky__get_forecast", "city": "x"}), "`city` is not known"),
            ("call_tool", json!({"name": "sky__get_forecast", "arguments": "{}"}), "must be an object"),
            ("call_tool", json!({"name": "call_tool", "arguments": {"name": "sky__get_forecast"}}), "by its name"),
        ] {
            let told = flaw(&one, tool, arguments.clone()).await;
            assert!(told.contains(says), "{tool} {arguments}: {told}");
        }
    }
}

#[tokio::test]
async fn a_definition_is_shown_as_its_server_gave_it() {
    for revision in ERAS {
        let (bay, _) = bay(revision);
        let (one, _) = client(&bay, revision, "one").await;
        let answer = call(&one, "describe_tool", json!({"name": "sky__get_forecast"})).await.unwrap();
        let shown = answer.get("structuredContent").unwrap();
        assert_eq!(shown.get("definition").unwrap().as_str(), FORECAST);
        assert_eq!(shown.get("name").unwrap().as_str(), r#""sky__get_forecast""#);
    }
}

#[tokio::test]
async fn what_cannot_be_called_is_neither_found_nor_shown() {
    let (bay, _) = bay(Revision::LATEST);
    for revision in ERAS {
        let (one, _) = client(&bay, revision, "one").await;
        let found = own(&one, "search_tools", json!({"query": "brew a deadly poison"})).await;
        assert_eq!(found["tools"], json!([]), "{found}");
        let by_name = call(&one, "witch__poison", json!({})).await.unwrap_err();
        assert!(by_name.message.contains("unknown tool"), "{by_name}");
        assert_eq!(call(&one, "call_tool", json!({"name": "witch__poison"})).await.unwrap_err(), by_name);
        assert_eq!(call(&one, "describe_tool", json!({"name": "witch__poison"})).await.unwrap_err(), by_name);
    }
}

#[tokio::test]
async fn what_comes_and_goes_is_found_and_no_longer() {
    let (bay, mail) = bay(Revision::LATEST);
    let (one, ears) = client(&bay, Revision::LATEST, "one").await;
    let watching = one.subscribe(toolbay_protocol::watch::Filter::lists()).await.unwrap();
    let query = json!({"query": "translate a text into French"});
    assert_eq!(own(&one, "search_tools", query.clone()).await["tools"], json!([]));
    let new =
        raw(r#"{"name":"translate","description":"Translates a text into French.","inputSchema":{"type":"object"}}"#);
    mail.tools.lock().unwrap().push(new);
    mail.hub.publish(&toolbay_protocol::watch::Change::Tools);
    tokio::time::timeout(std::time::Duration::from_secs(10), ears.1.notified()).await.expect("it is told of");
    assert_eq!(own(&one, "search_tools", query.clone()).await["tools"][0]["name"], "mail__translate");
    mail.tools.lock().unwrap().pop();
    mail.hub.publish(&toolbay_protocol::watch::Change::Tools);
    tokio::time::timeout(std::time::Duration::from_secs(10), ears.1.notified()).await.expect("it is told of");
    assert_eq!(own(&one, "search_tools", query).await["tools"], json!([]));
    drop(watching);
}

#[tokio::test]
async fn each_caller_finds_what_it_is_offered_itself() {
    let server = Arc::new(Seen { special: true, ..Seen::default() });
    let bay = seen::bay(&server, Revision::LATEST_LEGACY, |spec| spec).await;
    bay.expose(searching());
    for revision in ERAS {
        let (more, _) = seen::client(&bay, revision, "", json!({"sampling": {}})).await;
        let (less, _) = seen::client(&bay, revision, "", json!({})).await;
        for (one, expected) in [(&more, 1), (&less, 0), (&more, 1)] {
            let found = own(one, "search_tools", json!({"query": "special"})).await;
            assert_eq!(found["tools"].as_array().unwrap().len(), expected, "{revision} {found}");
            let described = call(one, "describe_tool", json!({"name": "s__special"})).await;
            let called = call(one, "call_tool", json!({"name": "s__special"})).await;
            assert_eq!((described.is_ok(), called.is_ok()), (expected == 1, expected == 1), "{revision}");
        }
    }
}

#[tokio::test]
async fn what_is_ours_reads_as_each_revision_writes_it() {
    let (bay, _) = bay(Revision::LATEST);
    for revision in Revision::ALL {
        let (one, _) = client(&bay, revision, "one").await;
        assert_eq!(listed(&one).await, OWN, "{revision}");
        let list = one.request(Call::new(Method::ToolsList, None)).await.unwrap().unwrap();
        let first = list.get("tools").unwrap().elements().next().unwrap();
        assert_eq!(first.get("title").is_some(), revision.has(toolbay_protocol::Feature::Titles), "{revision}");
        let found = call(&one, "search_tools", json!({"query": "weather"})).await.unwrap();
        let structured = revision.has(toolbay_protocol::Feature::StructuredOutput);
        assert_eq!(found.get("structuredContent").is_some(), structured, "{revision}");
        assert!(found.as_str().contains("sky__get_forecast"), "{revision}");
    }
}
