//! Files that cannot be used, and how they are told.

use std::path::Path;

use super::{folder, lines, parsed};
use crate::config::{Choice, Error, Fault, Loaded, Surroundings, System, load};

#[test]
fn a_syntax_error_names_its_place_and_what_to_do() {
    fn check(text: &str, expected: &str) {
        let error = parsed(text).expect_err(text);
        assert_eq!(error.fault, Fault::Syntax, "{text}");
        assert_eq!(error.to_string(), format!("/work/project/.mcp.json:{expected}"), "{text}");
    }
    check("{\n  'a': 1}", "2:3: a text in single quotes; write \"…\" instead");
    check("{a: 1}", "1:2: a key without quotes; write \"KEY\": VALUE");
    check("{“a”: 1}", "1:2: a typographic quotation mark; write the plain \" instead");
    check("{\"a\": 1\n \"b\": 2}", "1:8: a comma is missing after this; add one");
    check("{\"a\": {}", "1:1: this { is never closed; add the missing }");
    check("{\"a\": [1", "1:7: this [ is never closed; add the missing ]");
    check("{} {}", "1:4: something follows the end of the object; remove it, or look for a } too many");
    check("{\"a\": True}", "1:7: this word is no JSON value; write texts in \"…\"; the words are true, false, null");
    check("{} /* x", "1:4: this comment is never closed; add the missing */");
    let error = parsed(r#"{"a": "C:\Users"}"#).unwrap_err();
    assert!(error.remedy.contains(r"write a backslash as \\"), "{error}");
}

#[test]
fn comments_and_trailing_commas_are_fine() {
    let text =
        "\u{feff}// mine\n{ /* all */ \"mcpServers\": { \"a\": { \"command\": \"x\", \"args\": [\"1\",], }, }, }\n";
    assert_eq!(lines(&parsed(text).unwrap()), ["a run x [1]"]);
}

#[test]
fn something_else_than_an_object_is_told() {
    for (text, problem) in [
        ("", "the file is empty"),
        ("  // nothing\n", "the file is empty"),
        ("[]", "the file holds a list, not an object"),
        ("null", "the file holds null, not an object"),
        ("\"x\"", "the file holds a text, not an object"),
    ] {
        let error = parsed(text).unwrap_err();
        assert_eq!((error.fault, error.problem.as_str()), (Fault::Shape, problem));
    }
}

#[test]
fn a_name_given_twice_is_an_error_with_both_places() {
    fn check(text: &str, expected: &str) {
        let error = parsed(text).expect_err(text);
        assert_eq!(error.fault, Fault::Duplicate);
        assert_eq!(error.to_string(), format!("/work/project/.mcp.json:{expected}"), "{text}");
    }
    check(
        "{\"mcpServers\": {\n \"a\": {\"command\": \"x\"},\n \"a\": {\"command\": \"y\"}}}",
        "3:2: the server `a` is given twice; keep one; the first is at 2:2",
    );
    check(
        r#"{"mcpServers": {"\u0061": {"command": "x"}, "a": {"command": "y"}}}"#,
        "1:45: the server `a` is given twice; keep one; the first is at 1:17",
    );
    check(
        r#"{"mcpServers": {"a": {"command": "x"}}, "servers": {"a": {"command": "y"}}}"#,
        "1:53: the server `a` is both in `mcpServers` and in `servers`; rename one; the first is at 1:17",
    );
    check(
        r#"{"mcpServers": {}, "mcpServers": {}}"#,
        "1:20: the key `mcpServers` is given twice; keep one; the first is at 1:2",
    );
    check(
        r#"{"mcpServers": {"a": {"command": "x", "command": "y"}}}"#,
        "1:39: the key `command` is given twice; keep one; the first is at 1:23",
    );
}

#[test]
fn deep_nesting_and_many_servers_are_refused() {
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(parsed(&deep).unwrap_err().problem, "the file is nested too deeply");
    let many = |count: usize| {
        let servers: Vec<String> = (0..count).map(|n| format!("\"s{n}\": {{\"command\": \"x\"}}")).collect();
        parsed(&format!("{{\"mcpServers\": {{{}}}}}", servers.join(",")))
    };
    assert_eq!(many(1_000).unwrap().config.servers.len(), 1_000);
    assert_eq!(many(1_001).unwrap_err().fault, Fault::TooMany);
}

#[test]
fn remarks_are_listed_up_to_a_hundred() {
    let keys: Vec<String> = (0..150).map(|n| format!("\"key{n}\": 1")).collect();
    let loaded = parsed(&format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"x\", {}}}}}}}", keys.join(","))).unwrap();
    assert_eq!(loaded.warnings.len(), 101);
    assert!(loaded.warnings[100].message.starts_with("50 more remarks"), "{}", loaded.warnings[100]);
}

fn load_from(folder: &Path, choice: &Choice) -> Result<Loaded, Error> {
    load(choice, &Surroundings { folder, system: System::Unix, variable: &|_| None })
}

#[test]
fn files_that_cannot_be_read_are_told_apart() {
    let (_keep, path) = folder(&[("folder/x", "")]);
    std::fs::write(path.join("latin"), b"{\"a\": \"\xe9\"}").unwrap();
    std::fs::write(path.join("wide"), b"\xff\xfe{\0}\0").unwrap();
    std::fs::write(path.join("long"), vec![b' '; (4 << 20) + 1]).unwrap();
    std::os::unix::fs::symlink("nowhere", path.join("link")).unwrap();
    for (name, fault) in [
        ("none", Fault::Missing),
        ("folder", Fault::Unreadable),
        ("link", Fault::Unreadable),
        ("latin", Fault::Encoding),
        ("wide", Fault::Encoding),
        ("long", Fault::TooLarge),
    ] {
        let error = load_from(&path, &Choice::Named(name.into())).unwrap_err();
        assert_eq!(error.fault, fault, "{error}");
        assert!(error.to_string().starts_with(&format!("{name}: ")), "{error}");
    }
}

#[test]
fn a_file_is_loaded_from_where_it_is_found() {
    let (_keep, path) = folder(&[(".mcp.json", r#"{"mcpServers": {"a": {"command": "x", "cwd": "."}}}"#)]);
    let loaded = load_from(&path, &Choice::Usual).unwrap();
    assert_eq!(loaded.file, Some(path.join(".mcp.json")));
    assert_eq!(lines(&loaded), [format!("a run x in {}/.", path.display())]);
}

#[test]
fn without_a_file_there_are_no_servers_and_no_error() {
    let (_keep, path) = folder(&[]);
    let loaded = load_from(&path, &Choice::Usual).unwrap();
    assert_eq!((loaded.file, loaded.config.servers.len(), loaded.warnings.len()), (None, 0, 0));
}
