use toolbay_protocol::Revision;

use super::{one, parsed, remarks};
use crate::config::{Names, Setup, Start};

#[test]
fn names_are_prefixed_or_a_servers_own() {
    for (body, names) in [
        (r#"{"command": "x"}"#, Names::Prefixed),
        (r#"{"command": "x", "names": "prefixed"}"#, Names::Prefixed),
        (r#"{"command": "x", "names": "own"}"#, Names::Own),
    ] {
        let (server, remarks) = one(body);
        assert_eq!((server.names, remarks.len()), (names, 0), "{body}");
    }
    let (server, _) = one(r#"{"command": "x", "names": "plain"}"#);
    assert!(matches!(server.setup, Setup::Broken(reason) if reason.problem.contains("`plain`")));
}

#[test]
fn a_second_server_with_names_of_its_own_keeps_its_prefix_and_is_told() {
    let server = r#"{"command": "x", "names": "own"}"#;
    let off = r#"{"command": "x", "names": "own", "disabled": true}"#;
    let text = format!(r#"{{"mcpServers": {{"off": {off}, "a": {server}, "b": {server}}}}}"#);
    let loaded = parsed(&text).expect("the file is sound");
    let names: Vec<_> = loaded.config.servers.iter().map(|server| server.names).collect();
    assert_eq!(names, [Names::Prefixed, Names::Own, Names::Prefixed]);
    assert!(matches!(remarks(&loaded).as_slice(), [one] if one.contains("server `b`: its names are prefixed")));
}

#[test]
fn a_server_is_held_to_a_revision() {
    let (server, remarks) = one(r#"{"command": "x", "revision": "2025-11-25"}"#);
    assert_eq!((server.revision, remarks.len()), (Some(Revision::V2025_11_25), 0));
    let (server, _) = one(r#"{"command": "x", "revision": "2025-11"}"#);
    assert!(matches!(server.setup, Setup::Broken(reason) if reason.problem.contains("`2025-11`")));
}

#[test]
fn a_server_is_started_at_once_or_on_demand() {
    for (body, start) in [
        (r#"{"command": "x"}"#, Start::AtOnce),
        (r#"{"command": "x", "start": "at-once"}"#, Start::AtOnce),
        (r#"{"command": "x", "start": "on-demand"}"#, Start::OnDemand),
    ] {
        let (server, remarks) = one(body);
        assert_eq!((server.start, remarks.len()), (start, 0), "{body}");
    }
    let (server, _) = one(r#"{"command": "x", "start": "later"}"#);
    assert!(matches!(server.setup, Setup::Broken(reason) if reason.problem.contains("`later`")));
}
