use super::{one, parsed, remarks};
use crate::config::{Names, Setup};

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
