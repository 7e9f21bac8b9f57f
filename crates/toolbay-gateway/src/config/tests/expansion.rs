//! What `${…}` becomes.

use super::{line, one, parse_at};
use crate::config::Setup;

#[test]
fn variables_are_filled_in() {
    fn check(text: &str, expected: &str) {
        let (server, _) = one(&format!("{{\"command\": \"x\", \"args\": [{text:?}]}}"));
        let shown = line(&server);
        let shown = shown.strip_prefix("one run x ").or(shown.strip_prefix("one broken: ")).unwrap_or(&shown);
        assert_eq!(shown, expected, "{text}");
    }
    check("plain", "[plain]");
    check("${PORT}", "[8080]");
    check("a${PORT}b${PORT}c", "[a8080b8080c]");
    check("${env:PORT}", "[8080]");
    check("${env:ProgramFiles(x86)}", "[/programs]");
    check("${env:NO:-d}", "[d]");
    check("${PORT:-1}", "[8080]");
    check("${NO:-1}", "[1]");
    check("${NO:-}", "[]");
    check("${EMPTY}", "[]");
    check("${EMPTY:-full}", "[full]");
    check("${NO:-${PORT}}", "[8080]");
    check("${NO:-${NEITHER:-x}}y", "[xy]");
    check("${NO:-a:-b}", "[a:-b]");
    check("${NO}", "the environment variable NO is not set");
    check("${env:NO}", "the environment variable NO is not set");
    check("${NO:-${NEITHER}}", "the environment variable NEITHER is not set");
    check("$PORT $HOME/x", "[$PORT $HOME/x]");
    check("${", "[${]");
    check("${PORT", "[${PORT]");
    check("${}", "[${}]");
    check("${PORT%%x}", "[${PORT%%x}]");
    check("${1}", "[${1}]");
    check("$${PORT}", "[$8080]");
    check("${userHome}${/}x${pathSeparator}", "[/home/ada/x/]");
    check("${workspaceFolder}", "[/work/project]");
    check("${workspaceFolderBasename}", "[project]");
    check("${workspaceFolder:web}", "${workspaceFolder:web} is known only to an editor");
    check("${command:pick}", "${command:pick} is known only to an editor");
    check("${input:api-key}", "${input:api-key} is a question only VS Code can ask");
    let deep = format!("{}x{}", "${NO:-".repeat(20), "}".repeat(20));
    check(&deep, "defaults are nested too deeply");
}

#[test]
fn an_unknown_form_is_left_with_a_warning() {
    let (_, remarks) = one(r#"{"command": "sh", "args": ["-c", "echo ${X:?no}"]}"#);
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(remarks[0].contains("${X:?no} is no variable and is left as typed"), "{remarks:?}");
}

#[test]
fn every_field_is_filled_in() {
    let (server, _) = one(
        r#"{"command": "${NO:-c}", "args": ["${PORT}"], "env": {"A": "${TOKEN}", "${PORT}": "b"}, "cwd": "${userHome}/w"}"#,
    );
    assert_eq!(line(&server), "one run c [8080] A=s3cret ${PORT}=b in /home/ada/w");
    let (server, _) = one(r#"{"url": "http://localhost:${PORT}/", "headers": {"A": "Bearer ${TOKEN}"}}"#);
    assert_eq!(line(&server), "one http http://localhost:8080/ a: Bearer s3cret");
}

#[test]
fn an_unset_variable_breaks_its_own_server_only() {
    let text = r#"{"mcpServers": {
        "a": {"command": "x"},
        "b": {"command": "y", "env": {"K": "${NO_SUCH}"}},
        "c": {"url": "https://${NO_SUCH}/"},
        "d": {"command": "z", "disabled": true, "args": ["${NO_SUCH}"]}}}"#;
    let loaded = parse_at("/w/.mcp.json", text).unwrap();
    let Setup::Broken(reason) = &loaded.config.servers[1].setup else { panic!("b should be broken") };
    assert_eq!(
        reason.to_string(),
        "the environment variable NO_SUCH is not set; set it, or give a default: ${NO_SUCH:-DEFAULT}"
    );
    assert_eq!(reason.place.to_string(), "3:44");
    assert_eq!(
        super::lines(&loaded),
        [
            "a run x",
            "b broken: the environment variable NO_SUCH is not set",
            "c broken: the environment variable NO_SUCH is not set",
            "d disabled",
        ]
    );
}

#[test]
fn secrets_are_never_printed() {
    let (server, _) = one(r#"{"command": "x", "args": ["--key=${TOKEN}"], "env": {"K": "${TOKEN}", "L": "s3cret"}}"#);
    let shown = format!("{server:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
    assert!(shown.contains("--key=${TOKEN}") && shown.contains("***"), "{shown}");
    let (server, _) = one(r#"{"url": "https://a.example/?key=${TOKEN}", "headers": {"A": "${TOKEN}"}}"#);
    let shown = format!("{server:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn the_workspace_is_where_the_file_lies() {
    for (file, expected) in [
        ("/work/p/.mcp.json", "/work/p"),
        (".mcp.json", "/work/here"),
        ("../p/x.json", "/work/here/../p"),
        ("/work/p/.vscode/mcp.json", "/work/p"),
        ("/work/p/.cursor/mcp.json", "/work/p"),
        // A user's own files belong to no project: there, the current folder counts.
        ("/home/ada/.cursor/mcp.json", "/work/here"),
        ("/home/ada/.config/toolbay/toolbay.json", "/work/here"),
    ] {
        let text = r#"{"mcpServers": {"a": {"command": "x", "cwd": "${workspaceFolder}"}}}"#;
        let loaded = parse_at(file, text).unwrap();
        assert_eq!(super::lines(&loaded), [format!("a run x in {expected}")], "{file}");
    }
}
