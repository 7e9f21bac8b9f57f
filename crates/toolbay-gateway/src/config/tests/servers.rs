//! One server, in all its forms.

use std::time::Duration;

use super::{folder, line, one, parse_at};
use crate::config::Isolation;

/// What one server becomes, and what is said about it.
fn check(body: &str, expected: &str, said: &[&str]) {
    let (server, remarks) = one(body);
    assert_eq!(line(&server), format!("one {expected}"), "{body}");
    assert_eq!(remarks.len(), said.len(), "{body}: {remarks:#?}");
    for (remark, part) in remarks.iter().zip(said) {
        assert!(remark.contains(part), "{remark:?} should contain {part:?}");
    }
}

#[test]
fn the_transport_follows_from_the_keys() {
    check(r#"{"command": "x"}"#, "run x", &[]);
    check(r#"{"url": "https://a.example/mcp"}"#, "http https://a.example/mcp", &[]);
    check(r#"{"url": "https://a.example/sse"}"#, "http https://a.example/sse", &[]);
    check(r#"{"type": "sse", "url": "https://a.example/"}"#, "sse https://a.example/", &[]);
    check(r#"{"type": "SSE", "url": "https://a.example/"}"#, "sse https://a.example/", &[]);
    check(r#"{"type": "streamable_http", "url": "https://a.example/"}"#, "http https://a.example/", &[]);
    check(r#"{"transport": "sse", "url": "https://a.example/"}"#, "sse https://a.example/", &["is read as `type`"]);
    check(r#"{"type": "stdio", "command": "x", "url": "y"}"#, "run x", &["`url` is ignored"]);
    check(
        r#"{"type": "http", "command": "x", "url": "https://a.example/"}"#,
        "http https://a.example/",
        &["`command` is ignored"],
    );
    check(r#"{"command": "x", "url": "https://a.example/"}"#, "broken: it has both `command` and `url`", &[]);
    check("{}", "broken: it has neither `command` nor `url`", &[]);
    check(r#"{"type": "stdio"}"#, "broken: its type is stdio and it has no `command`", &[]);
    check(r#"{"type": "http", "command": "x"}"#, "broken: its type is remote and it has no `url`", &[]);
    check(r#"{"type": "ws", "url": "wss://a"}"#, "broken: WebSocket is not a transport of the protocol", &[]);
    check(r#"{"type": "sdk", "name": "x"}"#, "broken: the type `sdk` lives inside another program", &["`name`"]);
    check(r#"{"type": "stdoi", "command": "x"}"#, "broken: the type `stdoi` is not known", &[]);
    check(r#"{"url": "a.example/mcp"}"#, "broken: `url`: the address has no scheme", &[]);
}

#[test]
fn a_server_of_the_wrong_shape_is_broken_by_itself() {
    check(r#""npx x""#, "broken: it is a text, not an object", &[]);
    check("null", "broken: it is null, not an object", &[]);
    check(r#"{"command": 1}"#, "broken: `command` is a number", &[]);
    check(r#"{"command": "x", "args": "a b"}"#, "broken: `args` is a text", &[]);
    check(r#"{"command": "x", "args": [true]}"#, "broken: `args` is true or false", &[]);
    check(r#"{"command": "x", "env": ["A=b"]}"#, "broken: `env` is a list", &[]);
    check(r#"{"command": "x", "env": {"A": {}}}"#, "broken: `env.A` is an object", &[]);
    check(r#"{"command": "x", "env": {"A": "1", "A": "2"}}"#, "broken: the name `A` is given twice", &[]);
    check(r#"{"command": "x", "disabled": "yes"}"#, "broken: `disabled` is a text", &[]);
    check(r#"{"command": "x", "args": 1, "disabled": true}"#, "disabled", &[]);
    check(r#"{"command": "x", "timeout": "30"}"#, "broken: `timeout` is a text", &[]);
    check(r#"{"command": ""}"#, "broken: `command` is empty", &[]);
    check(r#"{"command": []}"#, "broken: it has neither `command` nor `url`", &["`command` is a list"]);
    check(r#"{"command": "x", "args": ["a\u0000b"]}"#, "broken: the text holds a NUL character", &[]);
    check(
        r#"{"command": "x", "env": {"A=B": "c"}}"#,
        "broken: `A=B` cannot be the name of an environment variable",
        &[],
    );
    check(r#"{"command": "x", "env": {"": "c"}}"#, "broken: `` cannot be the name of an environment variable", &[]);
}

#[test]
fn values_that_are_nearly_texts_are_taken() {
    check(r#"{"command": "x", "args": ["-n", 3]}"#, "run x [-n] [3]", &[]);
    check(
        r#"{"command": "x", "env": {"P": 80, "D": true, "N": null}}"#,
        "run x P=80 D=true",
        &["`env.N` is null and is left out"],
    );
    check(r#"{"command": ["npx", "-y", "x"]}"#, "run npx [-y] [x]", &["`command` is a list"]);
    check(r#"{"command": "x", "args": null, "env": null, "cwd": null, "type": null}"#, "run x", &[]);
    check(r#"{"cmd": "x", "envs": {"A": "b"}}"#, "run x A=b", &["goose", "goose"]);
}

#[test]
fn unknown_keys_are_named_with_the_nearest_known_one() {
    check(
        r#"{"command": "x", "arg": []}"#,
        "run x",
        &["1:41 warning: server `one`: `arg` is not a known key; did you mean `args`?"],
    );
    check(r#"{"Command": "x"}"#, "broken: it has neither `command` nor `url`", &["did you mean `command`?"]);
    check(
        r#"{"command": "x", "zzzzzz": 1}"#,
        "run x",
        &["`zzzzzz` is not a known key and is ignored (known are type,"],
    );
    check(r#"{"command": "x", "_note": 1, "//": "why", "$schema": ""}"#, "run x", &[]);
    check(r#"{"url": "https://a.example/", "oauth": {}}"#, "http https://a.example/", &["note: server `one`: `oauth`"]);
}

#[test]
fn a_command_line_in_one_text_is_warned_about() {
    check(r#"{"command": "npx -y server"}"#, "run npx -y server", &[r#""command": "npx", "args": ["-y", "server"]"#]);
    check(r#"{"command": "C:\\Program Files\\node.exe"}"#, r"run C:\Program Files\node.exe", &[]);
    check(r#"{"command": "~/bin/x"}"#, "run /work/here/~/bin/x", &["`~` is left as typed"]);
}

#[test]
fn a_relative_program_is_settled_against_the_child_s_folder() {
    check(r#"{"command": "node"}"#, "run node", &[]);
    check(r#"{"command": "./server"}"#, "run /work/here/./server", &[]);
    check(r#"{"command": "bin/server", "cwd": "sub"}"#, "run /work/project/sub/bin/server in /work/project/sub", &[]);
    check(r#"{"command": "/bin/server", "cwd": "/tmp"}"#, "run /bin/server in /tmp", &[]);
}

#[test]
fn headers_are_checked_and_the_protocol_s_own_are_left_out() {
    check(
        r#"{"url": "https://a.example/", "headers": {"Content-Type": "application/json", "X-A": "b"}}"#,
        "http https://a.example/ x-a: b",
        &["`Content-Type` is set by the protocol"],
    );
    check(
        r#"{"url": "https://a.example/", "headers": {"A": "1", "a": "2"}}"#,
        "broken: the header `a` is given twice",
        &[],
    );
    check(
        r#"{"url": "https://a.example/", "headers": {"A": "${LINES}"}}"#,
        "broken: the value of the header `A` holds a line break or a control character",
        &[],
    );
    check(
        r#"{"url": "https://a.example/", "headers": {"a b": "1"}}"#,
        "broken: `a b` cannot be the name of a header",
        &[],
    );
    check(r#"{"command": "x", "headers": {"A": "1"}}"#, "run x", &["`headers` are ignored"]);
    check(
        r#"{"url": "https://a.example/", "env": {"A": "1"}}"#,
        "http https://a.example/",
        &["`args` and `env` are ignored"],
    );
}

#[test]
fn secrets_on_open_roads_are_warned_about() {
    let open = r#"{"url": "http://a.example/", "headers": {"Authorization": "x"}}"#;
    check(open, "http http://a.example/ authorization: x", &["credentials are sent unencrypted"]);
    check(
        r#"{"url": "http://127.0.0.1:1/", "headers": {"Authorization": "x"}}"#,
        "http http://127.0.0.1:1/ authorization: x",
        &[],
    );
    let query = r#"{"url": "https://a.example/?api_key=1"}"#;
    check(query, "http https://a.example/?api_key=1", &["`api_key` in `url` looks secret"]);
}

#[test]
fn timeouts_are_seconds() {
    let (server, remarks) = one(r#"{"command": "x", "timeout": 2.5, "startupTimeout": 90}"#);
    assert_eq!(server.timeout, Some(Duration::from_millis(2500)));
    assert_eq!(server.startup_timeout, Some(Duration::from_secs(90)));
    assert!(remarks.is_empty());
    check(r#"{"command": "x", "timeout": 60000}"#, "run x", &["may have been meant as milliseconds"]);
    check(r#"{"command": "x", "timeout": 0}"#, "broken: `timeout` is out of range", &[]);
    check(r#"{"command": "x", "timeout": -1}"#, "broken: `timeout` is out of range", &[]);
    check(r#"{"command": "x", "timeout": 1e-300}"#, "broken: `timeout` is out of range", &[]);
}

#[test]
fn isolation_is_one_of_three_words() {
    for (word, isolation) in Isolation::WORDS {
        let (server, remarks) = one(&format!(r#"{{"command": "x", "isolation": "{word}"}}"#));
        assert_eq!((server.isolation, remarks.len()), (Some(isolation), 0));
    }
    assert_eq!(one(r#"{"command": "x"}"#).0.isolation, None);
    check(r#"{"command": "x", "isolation": "none"}"#, "broken: `isolation` is `none`, which is not known", &[]);
}

#[test]
fn names_are_kept_as_typed() {
    for name in ["a", "A b", "@org/server", "ünï", "x.y-z_1"] {
        let text = format!(r#"{{"mcpServers": {{"{name}": {{"command": "x"}}}}}}"#);
        assert_eq!(super::lines(&parse_at("/x", &text).unwrap()), [format!("{name} run x")]);
    }
    for (name, expected) in [(" ", "the server has no name"), ("a\\nb", "the server's name cannot be used")] {
        let text = format!(r#"{{"mcpServers": {{"{name}": {{"command": "x"}}}}}}"#);
        let shown = super::lines(&parse_at("/x", &text).unwrap());
        assert!(shown[0].ends_with(expected), "{shown:?}");
    }
}

#[test]
fn an_env_file_is_read_and_env_wins() {
    let (_keep, path) = folder(&[(".env", "A=1\nB='two words'\n"), ("bad.env", "A=1\nwhat\n")]);
    let check = |body: &str, expected: &str| {
        let text = format!(r#"{{"servers": {{"one": {body}}}}}"#);
        let loaded = parse_at(path.join("mcp.json").to_str().unwrap(), &text).unwrap();
        let shown = super::lines(&loaded)[0].replace(path.to_str().unwrap(), "DIR");
        assert_eq!(shown, format!("one {expected}"), "{body}");
    };
    check(r#"{"command": "x", "envFile": ".env"}"#, "run x A=1 B=two words");
    check(r#"{"command": "x", "envFile": "${workspaceFolder}/.env", "env": {"A": "3"}}"#, "run x B=two words A=3");
    check(r#"{"command": "x", "envFile": "bad.env"}"#, "broken: line 2 of the envFile DIR/bad.env cannot be read");
    check(
        r#"{"command": "x", "envFile": "none.env"}"#,
        "broken: the envFile DIR/none.env cannot be read (No such file or directory (os error 2))",
    );
}
