//! Entries of the registry.

use std::time::{Duration, SystemTime};

use super::{lines, parsed, remarks};
use crate::config::{Answering, Endpoint, Fault, Names, Setup};

/// The example of the guide, as it stands.
pub(crate) const EXAMPLE: &str = r#"{"tools":[{"name":"weather_query","description":"查询城市天气信息","transport":"sse","url":"http://mcp-server:8080/sse","category":"weather","enabled":true,"expires_at":null},{"name":"map_search","description":"地图搜索和导航","transport":"rest","url":"http://mcp-server:8081/api/tools/call","category":"map","enabled":true,"expires_at":"2026-04-09T15:30:00"}]}"#;

#[test]
fn a_file_with_entries_alone_is_read_without_a_word() {
    let mut loaded = parsed(EXAMPLE).unwrap();
    assert_eq!(remarks(&loaded), [] as [&str; 0]);
    let [weather, map] = &loaded.config.servers[..] else { panic!("two entries") };
    assert_eq!((weather.name.as_str(), map.name.as_str()), ("weather_query", "map_search"));
    assert_eq!((weather.names, map.names), (Names::Entry, Names::Entry));
    let about = map.tool.clone().unwrap();
    assert_eq!((about.category.as_deref(), about.description.as_deref()), (Some("map"), Some("地图搜索和导航")));
    let Setup::Ready(Endpoint::Service(map)) = &map.setup else { panic!("{map:?}") };
    assert_eq!(
        (map.remote.url.to_string().as_str(), &map.answering),
        ("http://mcp-server:8081/api/tools/call", &Answering::AtOnce)
    );
    let Setup::Ready(Endpoint::Service(weather)) = &weather.setup else { panic!("{weather:?}") };
    let Answering::Unknown(polling) = &weather.answering else { panic!("{weather:?}") };
    assert_eq!(
        (polling.url.as_str(), polling.attempts, polling.interval),
        ("http://mcp-server:8080/sse/{session_id}", 30, Duration::from_secs(1))
    );
    let end = about.expires.unwrap().moment();
    assert_eq!(loaded.config.leave_out_expired(end - Duration::from_secs(1)), [] as [&str; 0]);
    assert_eq!(loaded.config.leave_out_expired(end), ["map_search"]);
    assert_eq!(loaded.config.servers.len(), 1);
}

#[test]
fn entries_stand_beside_servers() {
    let loaded = parsed(
        r#"{
          "mcpServers": {"one": {"command": "x"}},
          "tools": [
            {"name": "two", "transport": "stdio", "command": "y", "args": ["a"], "env": {"K": "${TOKEN}"}, "mine": 1},
            {"name": "three", "transport": "http", "url": "http://h.example:${PORT}/mcp", "enabled": false},
            {"name": "four", "transport": "sse", "url": "https://h.example/sse", "poll": false},
            {"name": "five", "transport": "sse", "url": "https://h.example/sse?a=b", "poll": {"attempts": 3, "interval": 0.5}},
            {"name": "six", "transport": "sse", "url": "https://h.example/", "poll": {"url": "https://h.example/p?session_id={session_id}"}},
            {"name": "seven", "transport": "rest", "url": "https://h.example/?k=v", "expires_at": "tomorrow"},
            {"name": "eight", "url": "https://h.example/"},
            {"transport": "rest"}, 3
          ]
        }"#,
    )
    .unwrap();
    let lines = lines(&loaded);
    assert_eq!(lines[..4], ["one run x", "two run y [a] K=s3cret", "three disabled", "four sse https://h.example/sse"]);
    assert!(lines[4].contains("h.example/sse/{session_id}?a=b\", attempts: 3, interval: 500ms"), "{}", lines[4]);
    assert!(lines[5].contains("p?session_id={session_id}"), "{}", lines[5]);
    assert!(lines[6].contains("broken: `expires_at` is `tomorrow`"), "{}", lines[6]);
    assert!(lines[7].contains("broken: the entry has no `transport`"), "{}", lines[7]);
    let said = remarks(&loaded);
    assert!(said.iter().any(|one| one.contains("`mine` is not a known key")), "{said:#?}");
    assert!(said.iter().any(|one| one.contains("entry 8 of `tools`") && one.contains("no text `name`")), "{said:#?}");
    assert!(said.iter().any(|one| one.contains("entry 9 of `tools`") && one.contains("is a number")), "{said:#?}");
    assert!(loaded.config.servers[6].tool.is_some());
    assert!(!loaded.config.servers[6].tool.clone().unwrap().is_over(SystemTime::now()));
}

#[test]
fn no_name_is_given_twice() {
    for text in [
        r#"{"tools": [{"name": "a", "transport": "rest", "url": "http://x/"}, {"name": "a", "transport": "rest", "url": "http://y/"}]}"#,
        r#"{"mcpServers": {"a": {"command": "x"}}, "tools": [{"name": "a", "transport": "rest", "url": "http://y/"}]}"#,
    ] {
        assert_eq!(parsed(text).unwrap_err().fault, Fault::Duplicate, "{text}");
    }
}

#[test]
fn entries_are_prefixed_where_a_server_has_names_of_its_own() {
    let text = r#"{"mcpServers": {"a": {"command": "x", "names": "own"}}, "tools": [{"name": "b", "transport": "rest", "url": "http://y/"}]}"#;
    let servers = parsed(text).unwrap().config.servers;
    assert_eq!((servers[0].names, servers[1].names), (Names::Own, Names::Prefixed));
}
