//! Services that do not speak the protocol, behind a bay: real ones, on this machine.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{net::TcpListener, time::timeout};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity,
    config::{self, Surroundings, System},
    servers::{Phase, Spec},
};
use toolbay_protocol::{Method, Raw, Revision, peer::Call};
use toolbay_testkit::services::{Ready, Reply, Web, map, weather};
use toolbay_transport::{Connection, http::server};

use crate::{
    ears::client,
    house::{Scripted, tools},
};

const SOON: Duration = Duration::from_secs(20);

fn bay(entries: &Value) -> Bay {
    let variable = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
    let around = Surroundings { folder: Path::new("/"), system: System::Unix, variable: &variable };
    let config =
        config::parse(&json!({ "tools": entries }).to_string(), Path::new("toolbay.json"), &around).unwrap().config;
    let identity = Identity { name: "bay".into(), version: "0".into() };
    Bay::open(&identity, config.servers.iter().map(Spec::configured).collect()).unwrap()
}

async fn call(client: &Connection, tool: &str, arguments: &Value) -> Value {
    let params = Raw::of(&json!({"name": tool, "arguments": arguments}));
    let outcome = timeout(SOON, client.request(Call::new(Method::ToolsCall, Some(params)))).await.expect("it ends");
    match outcome.unwrap() {
        Ok(result) => result.read().unwrap(),
        Err(error) => json!({ "refused": error.message }),
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_rest_service_is_one_tool_in_every_revision() {
    let map = map();
    let schema =
        json!({"type": "object", "properties": {"origin": {"type": "string"}, "destination": {"type": "string"}}});
    let bay = bay(&json!([{
        "name": "map_search", "description": "地图搜索和导航", "transport": "rest", "url": map.url("/api/tools/call"),
        "category": "map", "inputSchema": schema, "headers": {"X-Key": "${TOKEN}"}
    }]));
    bay.settled().await;
    for revision in Revision::ALL {
        let (client, _) = client(&bay, revision).await;
        let listed = client.request(Call::new(Method::ToolsList, None)).await.unwrap().unwrap();
        let tool: Value = listed.get("tools").unwrap().elements().next().unwrap().read().unwrap();
        assert_eq!((&tool["name"], &tool["inputSchema"]), (&json!("map_search"), &schema), "{revision}");
        assert_eq!(tool["description"], "地图搜索和导航");
        let result = call(&client, "map_search", &json!({"origin": "海淀区", "destination": "朝阳区"})).await;
        assert!(text(&result).contains(r#""distance_km":18.5"#), "{revision} {result}");
        let structured = revision.has(toolbay_protocol::Feature::StructuredOutput);
        assert_eq!(result["structuredContent"]["destination"] == "朝阳区", structured, "{revision}");
        let failed = call(&client, "map_search", &json!({})).await;
        assert!(failed["isError"] == true && text(&failed).contains("HTTP 422"), "{failed}");
        assert!(text(&failed).contains("give origin and destination"), "{failed}");
    }
    let asked = map.asked().remove(0);
    assert_eq!(asked.header("x-key"), Some("s3cret"));
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body, json!({"name": "map_search", "arguments": {"origin": "海淀区", "destination": "朝阳区"}}));
    bay.close().await;
}

#[tokio::test]
async fn what_a_service_may_do_is_bounded() {
    let other = Web::serve(|_| Reply::json(200, "1"));
    let elsewhere = other.url("/");
    let web = Web::serve(move |asked| match asked.target.as_str() {
        "/bare" => Reply::json(200, &asked.body),
        "/long" => Reply::json(200, format!("\"{}\"", "x".repeat(5_000))),
        "/away" => Reply::redirect(307, elsewhere.clone()),
        "/two" => Reply::redirect(308, "/one"),
        "/one" => Reply::redirect(302, "/bare"),
        "/loop" => Reply::redirect(307, "/loop"),
        "/silent" => Reply::Silence,
        _ => Reply::json(404, "{}"),
    });
    let entry = |name: &str, more: Value| {
        let mut entry = json!({"name": name, "transport": "rest", "url": web.url(&format!("/{name}"))});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    let bay = bay(&json!([
        entry("bare", json!({"body": "arguments"})),
        entry("long", json!({"limits": {"messageBytes": 4_096}})),
        entry("away", json!({})),
        entry("two", json!({"body": "arguments"})),
        entry("loop", json!({})),
        entry("silent", json!({"timeout": 0.2})),
        {"name": "gone", "transport": "rest", "url": "http://127.0.0.1:1/"},
    ]));
    bay.settled().await;
    let (client, _) = client(&bay, Revision::LATEST).await;
    let arguments = json!({"a": 1.50, "b": [null]});
    assert_eq!(call(&client, "bare", &arguments).await["structuredContent"], arguments);
    // The verb and the body go along.
    assert_eq!(call(&client, "two", &arguments).await["structuredContent"], arguments);
    for (tool, why) in [
        ("long", "more than 4096 bytes (limit `messageBytes`)"),
        ("away", "another origin"),
        ("loop", "redirects more than 3 times"),
        ("gone", "nothing listens at 127.0.0.1:1"),
    ] {
        let failed = call(&client, tool, &json!({})).await;
        assert!(failed["isError"] == true && text(&failed).contains(why), "{tool}: {failed}");
    }
    let late = call(&client, "silent", &json!({})).await;
    assert!(late["refused"].as_str().is_some_and(|why| why.contains("did not answer in time")), "{late}");
    assert_eq!(other.asked(), []);
    assert_eq!(web.asked().iter().filter(|asked| asked.target == "/loop").count(), 4);
    bay.close().await;
}

#[tokio::test]
async fn an_sse_service_that_names_a_session_is_polled_while_its_events_are_heard() {
    for (ready, poll) in [
        (Ready::Polled(3), json!({"interval": 0.01})),
        (Ready::ByEvent, json!({"interval": 600})),
        (Ready::Never, json!({"interval": 0.01, "attempts": 2})),
    ] {
        let weather = weather(ready);
        let bay = bay(&json!([{
            "name": "weather_query", "transport": "sse", "url": weather.url("/sse"), "category": "weather", "poll": poll
        }]));
        bay.settled().await;
        let (client, _) = client(&bay, Revision::LATEST).await;
        assert_eq!(tools(&client).await, ["weather_query"]);
        let result = call(&client, "weather_query", &json!({"city": "北京"})).await;
        let polls = weather.asked().iter().filter(|asked| asked.target == "/sse/w1").count();
        match ready {
            Ready::Never => {
                assert!(result["isError"] == true && text(&result).contains("after 2 looks"), "{result}");
                assert_eq!(polls, 2);
            }
            Ready::Polled(_) | Ready::ByEvent => {
                assert_eq!(result["structuredContent"]["city"], "北京", "{result}");
                assert_eq!(polls, if ready == Ready::ByEvent { 0 } else { 3 });
            }
        }
        let failed = call(&client, "weather_query", &json!({})).await;
        assert!(failed["isError"] == true && text(&failed).contains("give a city"), "{failed}");
        bay.close().await;
    }
}

#[tokio::test]
async fn which_sort_of_sse_it_is_is_found_out() {
    let weather = weather(Ready::ByEvent);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, end) = (listener.local_addr().unwrap(), CancellationToken::new());
    let options = server::Options { sse: Some(server::Pair::default()), ..server::Options::default() };
    let served = server::Endpoint::new(Arc::new(Scripted::open("calm")), options);
    let serving = tokio::spawn(server::serve(listener, served, end.clone()));
    let bay = bay(&json!([
        {"name": "weather_query", "transport": "sse", "url": weather.url("/sse")},
        {"name": "calm", "transport": "sse", "url": format!("http://{address}/sse")},
        {"name": "gone", "transport": "sse", "url": "http://127.0.0.1:1/sse"},
    ]));
    timeout(SOON, bay.settled()).await.unwrap();
    let (client, _) = client(&bay, Revision::LATEST).await;
    assert_eq!(tools(&client).await, ["weather_query", "calm", "calm__t"]);
    assert_eq!(text(&call(&client, "calm__t", &json!({})).await), "calm");
    let result = call(&client, "weather_query", &json!({"city": "上海"})).await;
    assert_eq!(result["structuredContent"]["city"], "上海", "{result}");
    assert!(matches!(&bay.status()[2].phase, Phase::Failed(why) if why.contains("nothing listens")));
    bay.close().await;
    end.cancel();
    serving.await.unwrap().unwrap();
}
