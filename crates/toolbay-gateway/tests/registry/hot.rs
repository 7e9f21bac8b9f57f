//! What is changed is so a moment later, for clients of each era, and nobody else notices.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use toolbay_gateway::registry::{Added, Entry, Existing, Registry, Switched, Transport, hot::News};
use toolbay_protocol::{Method, Revision, watch::Filter};

use crate::{
    ears::{client, pass},
    house::{House, ask, call, told, tools},
};

const EXAMPLE: &str = r#"{"tools":[{"name":"weather_query","description":"查询城市天气信息","transport":"sse","url":"http://mcp-server:8080/sse","category":"weather","enabled":true,"expires_at":null},{"name":"map_search","description":"地图搜索和导航","transport":"rest","url":"http://mcp-server:8081/api/tools/call","category":"map","enabled":true,"expires_at":"2026-04-09T15:30:00"}]}"#;

/// A minute before the example's second entry goes.
fn before() -> SystemTime {
    "2026-04-09T15:29:00".parse::<toolbay_gateway::registry::Expiry>().unwrap().moment()
}

/// A change, and the tools that there are then.
type Change = (Box<dyn Fn(&House)>, Vec<&'static str>);

const WEATHER: [&str; 2] = ["weather_query", "weather_query__t"];
const MAP: [&str; 2] = ["map_search", "map_search__t"];

#[tokio::test(start_paused = true)]
async fn the_example_goes_through_all_operations_with_a_client_of_each_era() {
    let mut house = House::open(EXAMPLE, before()).await;
    let mut clients = vec![];
    for revision in [Revision::LATEST, Revision::LATEST_LEGACY] {
        let (client, heard) = client(&house.bay, revision).await;
        let watching = client.subscribe(Filter::lists()).await.unwrap();
        clients.push((client, heard, watching));
    }
    pass(Duration::from_secs(2)).await;
    // By the API, and by hand in an editor.
    let other = Entry { category: Some("x".into()), ..Entry::at("extra", Transport::Rest, "http://h.example/") };
    let disabled = "\"category\":\"weather\",\"enabled\":false";
    let enabled = "\"category\":\"weather\",\"enabled\":true";
    let steps: Vec<Change> = vec![
        (
            Box::new(|house| assert_eq!(house.registry.disable_tool("map_search").unwrap(), Switched::Now)),
            WEATHER.to_vec(),
        ),
        (
            Box::new(|house| assert_eq!(house.registry.enable_tool("map_search").unwrap(), Switched::Now)),
            [WEATHER, MAP].concat(),
        ),
        (Box::new(move |house| house.edit(enabled, disabled)), MAP.to_vec()),
        (Box::new(move |house| house.edit(disabled, enabled)), [WEATHER, MAP].concat()),
        (
            Box::new(move |house| assert_eq!(house.registry.add_tool(&other, Existing::Refuse).unwrap(), Added::New)),
            [WEATHER, MAP, ["extra", "extra__t"]].concat(),
        ),
        (Box::new(|house| house.registry.remove_tool("extra").unwrap()), [WEATHER, MAP].concat()),
    ];
    for (change, expected) in steps {
        for (_, heard, _) in &mut clients {
            while heard.try_recv().is_ok() {}
        }
        let begun = Instant::now();
        change(&house);
        for (client, heard, _) in &mut clients {
            told(heard).await;
            assert_eq!(tools(client).await, expected);
        }
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        assert!(matches!(house.next().await, News::Changed(_)));
    }
    // What was not changed was not started anew; the other was, once for each time that it was turned on.
    assert_eq!((house.peers.starts("weather_query"), house.peers.starts("map_search")), (2, 2));
    // At its time the second goes by itself, and out of the file.
    pass(Duration::from_secs(60)).await;
    for (client, heard, _) in &mut clients {
        told(heard).await;
        assert_eq!(tools(client).await, WEATHER);
    }
    house.hot.caught_up().await;
    let left: Vec<_> = house.registry.tools().unwrap().into_iter().map(|entry| entry.unwrap().name).collect();
    assert_eq!(left, ["weather_query"]);
    assert_eq!(house.bay.entry("weather_query").unwrap().category.as_deref(), Some("weather"));
    house.bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn disabled_is_refused_on_every_way_in_and_said_to_be_so() {
    let house = House::open(EXAMPLE, before()).await;
    for revision in [Revision::LATEST, Revision::LATEST_LEGACY] {
        let (client, _) = client(&house.bay, revision).await;
        house.registry.enable_tool("weather_query").unwrap();
        house.hot.caught_up().await;
        house.bay.settled().await;
        assert!(ask(&client, Method::PromptsGet, "name", "weather_query__p").await.is_ok());
        assert!(ask(&client, Method::ResourcesRead, "uri", "test://weather_query").await.is_ok());
        house.registry.disable_tool("weather_query").unwrap();
        house.hot.caught_up().await;
        let begun = Instant::now();
        for (method, key, value) in [
            (Method::ToolsCall, "name", "weather_query"),
            (Method::ToolsCall, "name", "weather_query__t"),
            (Method::PromptsGet, "name", "weather_query__p"),
            (Method::ResourcesRead, "uri", "test://weather_query"),
        ] {
            let refused = ask(&client, method.clone(), key, value).await.unwrap_err();
            let enable = "\"weather_query\" is disabled; `toolbay tool enable weather_query`";
            assert!(refused.message.contains(enable), "{method} {value}: {refused}");
        }
        assert!(begun.elapsed() < Duration::from_secs(1), "nobody waits for what is off");
        assert_eq!(tools(&client).await, MAP);
    }
    house.bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_end_where_they_began() {
    let text = EXAMPLE.replacen("{", r#"{"mcpServers": {"srv": {"command": "x"}}, "#, 1);
    let house = House::open(&text, before()).await;
    let (client, _) = client(&house.bay, Revision::LATEST).await;
    let calls = ["srv", "weather_query", "map_search"].map(|server| (server, call(&client, &format!("{server}__t"))));
    pass(Duration::from_millis(10)).await;
    house.registry.disable_tool("weather_query").unwrap();
    house.registry.remove_tool("map_search").unwrap();
    house.hot.caught_up().await;
    assert_eq!(tools(&client).await, ["srv__srv", "srv__t"]);
    for (server, call) in calls {
        house.peers.gate(server).add_permits(1);
        assert!(call.await.unwrap().is_ok(), "{server}");
    }
    assert_eq!(house.peers.starts("srv"), 1);
    // Nor is a server touched that the file names and that nobody asked to be read anew.
    house.edit("\"command\": \"x\"", "\"command\": \"y\"");
    house.hot.caught_up().await;
    assert_eq!(house.peers.starts("srv"), 1);
    house.bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_outlives_its_entry() {
    let mut house = House::open(EXAMPLE, before()).await;
    let (client, _) = client(&house.bay, Revision::LATEST).await;
    pass(Duration::from_secs(50)).await;
    let running = call(&client, "map_search");
    pass(Duration::from_secs(11)).await;
    assert!(matches!(house.next().await, News::Changed(_)));
    assert_eq!(house.next().await, News::Expired(vec!["map_search".into()]));
    let unknown = ask(&client, Method::ToolsCall, "name", "map_search").await.unwrap_err();
    assert!(unknown.message.contains("unknown tool"), "{unknown}");
    house.peers.gate("map_search").add_permits(1);
    assert!(running.await.unwrap().is_ok());
    house.bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_came_to_its_end_while_nobody_ran_is_not_offered_again() {
    let mut house = House::open(EXAMPLE, before() + Duration::from_secs(3_600)).await;
    let (client, _) = client(&house.bay, Revision::LATEST).await;
    assert_eq!(tools(&client).await, WEATHER);
    while house.next().await != News::Expired(vec!["map_search".into()]) {}
    assert_eq!(house.registry.tools().unwrap().len(), 1);
    house.bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_used_changes_nothing_and_its_place_is_told() {
    let mut house = House::open(EXAMPLE, before()).await;
    let (client, _) = client(&house.bay, Revision::LATEST).await;
    for (from, to, place) in [
        ("\"map_search\"", "\n  map_search", "toolbay.json:2:3"),
        ("\"map_search\"", "\"weather_query\"", "taken in `tools`"),
        ("{\"tools\"", "[\"tools\"", "toolbay.json:1:9"),
    ] {
        let sound = std::fs::read_to_string(&house.file).unwrap();
        house.edit(from, to);
        let News::Broken(why) = house.next().await else { panic!("it is broken") };
        assert!(why.contains(place), "{why}");
        assert_eq!(house.hot.fault(), Some(why));
        assert_eq!(tools(&client).await, [WEATHER, MAP].concat());
        // Half of a text for a moment is no reason to say anything.
        std::fs::write(&house.file, &sound[..100]).unwrap();
        pass(Duration::from_millis(300)).await;
        std::fs::write(&house.file, sound).unwrap();
        assert_eq!(house.next().await, News::Mended);
        assert_eq!(house.hot.fault(), None);
    }
    std::fs::remove_file(&house.file).unwrap();
    assert!(matches!(house.next().await, News::Broken(why) if why.contains("cannot be read")));
    assert_eq!(tools(&client).await, [WEATHER, MAP].concat());
    assert_eq!((house.peers.starts("weather_query"), house.peers.starts("map_search")), (1, 1));
    house.bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_entry_never_takes_the_place_of_a_server() {
    let mut house = House::open(r#"{"mcpServers": {"one": {"command": "x"}}}"#, before()).await;
    std::fs::write(&house.file, r#"{"tools": [{"name": "one", "transport": "rest", "url": "http://h.example/"}]}"#)
        .unwrap();
    let News::Changed(changes) = house.next().await else { panic!("it is told") };
    assert!(format!("{changes:?}").contains("a server of this name runs"), "{changes:?}");
    assert_eq!(house.peers.starts("one"), 1);
    assert_eq!(Registry::at(&house.file).tools().unwrap().len(), 1);
    house.bay.close().await;
}
