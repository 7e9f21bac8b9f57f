use std::time::Duration;

use super::*;
use crate::limits::Limits;

#[test]
fn limits_stand_beside_all_servers_and_inside_one() {
    let text = r#"{
        "limits": {"settle": 2.5, "parkedCalls": 3, "pages": 7, "timeout": 9, "_note": "x"},
        "mcpServers": {
            "one": {"command": "x"},
            "two": {"command": "x", "timeout": 5, "limits": {"pages": 8, "list_bytes": 4096}}
        }
    }"#;
    let loaded = parsed(text).unwrap();
    assert_eq!(remarks(&loaded), [""; 0]);
    let limits = loaded.config.limits;
    assert_eq!((limits.settle, limits.parked_calls), (Duration::from_millis(2500), 3));
    assert_eq!(limits.sessions, Limits::default().sessions);
    let [one, two] = loaded.config.servers.as_slice() else { panic!("two servers") };
    assert_eq!((one.limits.bounds.pages, one.limits.silence, one.timeout), (7, Duration::from_secs(9), None));
    assert_eq!((two.limits.bounds.pages, two.limits.bounds.list_bytes), (8, 4096));
    assert_eq!(two.timeout, Some(Duration::from_secs(5)));
}

#[test]
fn a_wrong_limit_is_named_with_its_range() {
    let whole = |limits: &str| {
        let text = format!(r#"{{"limits": {limits}, "mcpServers": {{}}}}"#);
        parsed(&text).map(|loaded| remarks(&loaded).join("\n")).unwrap_or_else(|error| error.to_string())
    };
    for (limits, says) in [
        (r#"{"pages": 0}"#, "1:22: the limit `pages` is out of range; write a whole number, from 1 to 1000000"),
        (r#"{"pages": 1.5}"#, "a whole number"),
        (r#"{"settle": -1}"#, "write seconds, from 0 to 86400"),
        (r#"{"pages": "9"}"#, "the limit `pages` is a text; write a number"),
        (r#"{"listBytes": 1024, "list_bytes": 2048}"#, "given twice"),
        (r#"[]"#, "`limits` is a list"),
        (r#"{"page": 9}"#, "warning: `limits.page` is not a known limit; did you mean `pages`?"),
        (r#"{"nonsense": 9}"#, "is not a known limit and is ignored"),
    ] {
        let said = whole(limits);
        assert!(said.contains(says), "{limits}: {said}");
    }
}

#[test]
fn a_wrong_limit_of_a_server_breaks_that_server_alone() {
    let reason = |limits: &str| {
        let (server, _) = one(&format!(r#"{{"command": "x", "limits": {limits}}}"#));
        match server.setup {
            Setup::Broken(reason) => reason.to_string(),
            Setup::Ready(_) | Setup::Disabled => "none".into(),
        }
    };
    assert!(reason(r#"{"items": 1e9}"#).contains("`items` is out of range"));
    assert!(reason(r#"{"settle": 1}"#).contains("a limit of the gateway"));
    assert_eq!(reason(r#"{"items": 5}"#), "none");
}
