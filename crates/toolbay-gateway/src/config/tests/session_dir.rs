//! The folder of a session: where it may stand, and what becomes of it.

use std::path::Path;

use super::one;
use crate::config::{Child, Endpoint, Isolation, Keeping, Setup};

fn child(body: &str) -> (Result<Child, String>, Vec<String>) {
    let (server, remarks) = one(body);
    let child = match server.setup {
        Setup::Ready(Endpoint::Child(child)) => Ok(child),
        Setup::Broken(reason) => Err(format!("{}; {}", reason.problem, reason.remedy)),
        other => panic!("{other:?}"),
    };
    (child, remarks)
}

#[test]
fn it_stands_for_itself_until_there_is_a_session() {
    let body = r#"{"command": "x", "args": ["--db=${SESSION_DIR}/a b"], "isolation": "per-device",
        "env": {"FILE": "${SESSION_DIR}/f", "REAL": "${env:SESSION_DIR:-real}"}}"#;
    let (child, remarks) = child(body);
    let child = child.unwrap();
    assert_eq!((child.session_dir.as_ref().unwrap().keeping.clone(), remarks.len()), (Keeping::Nothing, 0));
    let within = child.within(Path::new("/tmp/one"));
    let env: Vec<_> = within.env.iter().map(|(_, value)| value.reveal()).collect();
    assert_eq!((within.args[0].value(), env), ("--db=/tmp/one/a b", vec!["/tmp/one/f", "real"]));
    assert_eq!(within.args[0].written(), "--db=${SESSION_DIR}/a b");
}

#[test]
fn it_is_kept_where_the_file_says_so() {
    let body = |word: &str| {
        format!(
            r#"{{"command": "x", "args": ["${{SESSION_DIR}}"], "isolation": "per-device", "sessionDir": "{word}"}}"#
        )
    };
    let keeping = |word: &str| child(&body(word)).0.map(|child| child.session_dir.unwrap().keeping);
    assert_eq!(keeping("temporary"), Ok(Keeping::Nothing));
    assert_eq!(keeping("keep"), Ok(Keeping::At("/home/ada/.local/state/toolbay/sessions".into())));
    assert!(keeping("always").unwrap_err().contains("write temporary or keep"));
}

#[test]
fn it_means_nothing_elsewhere() {
    let check = |body: &str, said: &str| {
        let (child, remarks) = child(body);
        let all = format!("{:?} {remarks:?}", child.map(|child| child.session_dir));
        assert!(all.contains(said), "{body}: {all}");
    };
    check(r#"{"command": "x", "args": ["${SESSION_DIR}"]}"#, r#"add \"isolation\": \"per-device\""#);
    check(r#"{"command": "x", "isolation": "per-device"}"#, "Ok(None) []");
    check(r#"{"command": "x", "isolation": "per-device", "sessionDir": "keep"}"#, "means nothing without");
    check(r#"{"command": "${SESSION_DIR}/x", "isolation": "per-device"}"#, "write it in `args` or `env`");
    check(r#"{"command": "x", "cwd": "${SESSION_DIR}", "isolation": "per-device"}"#, "write it in `args` or `env`");
    assert_eq!(one(r#"{"command": "x", "isolation": "per-device"}"#).0.isolation, Some(Isolation::PerDevice));
}
