use serde_json::{Map, json};

use super::*;
use crate::toolbox::{Hints, Tool, ToolId};

fn tool(server: &str, hints: Hints) -> Tool {
    let id = ToolId { server: server.into(), name: "t".into() };
    Tool { id, public: "t".into(), description: String::new(), schema: json!({}), hints }
}

const READS: Hints =
    Hints { read_only: Some(true), destructive: None, idempotent: None, open_world: None, result_chars: None };

#[test]
fn a_hint_counts_on_a_trusted_server_alone() {
    let policy = ReadOnly::of(["a"]);
    assert_eq!(policy.decide(&tool("a", READS), &Map::new()), Decision::Allow);
    assert_eq!(policy.decide(&tool("b", READS), &Map::new()), Decision::Ask);
    assert_eq!(policy.decide(&tool("a", Hints::default()), &Map::new()), Decision::Ask);
}

#[test]
fn what_is_remembered_holds_for_one_server_alone() {
    let policies: [Box<dyn Policy>; 2] = [Box::new(AskAll::default()), Box::new(ReadOnly::of(["a"]))];
    for policy in policies {
        policy.remember(&tool("b", READS), Decision::Allow).unwrap();
        policy.remember(&tool("a", READS), Decision::Deny("not here".into())).unwrap();
        assert_eq!(policy.decide(&tool("b", READS), &Map::new()), Decision::Allow);
        assert_eq!(policy.decide(&tool("a", READS), &Map::new()), Decision::Deny("not here".into()));
        assert_eq!(policy.decide(&tool("c", READS), &Map::new()), Decision::Ask);
    }
}

#[test]
fn an_untrusted_word_is_told_as_a_word() {
    assert_eq!(effect(&tool("a", READS), Trust::Trusted), "It reads, and changes nothing.");
    let told = effect(&tool("a", READS), Trust::Untrusted);
    assert!(told.starts_with("It says of itself") && told.ends_with("not trusted."), "{told}");
    assert!(effect(&tool("a", Hints::default()), Trust::Trusted).contains("does not say"));
}

#[test]
fn a_denial_is_above_a_question_above_a_memory_above_a_permission() {
    let all = |rules: Rules| {
        rules
            .rule(Pattern::new("*", "*"), Decision::Allow)
            .rule(Pattern::new("a", "ask*"), Decision::Ask)
            .rule(Pattern::new("*", "*never*"), Decision::Deny("by rule".into()))
    };
    let named = |name: &str| {
        let tool = tool("a", Hints::default());
        Tool { id: ToolId { name: name.into(), ..tool.id.clone() }, ..tool }
    };
    let rules = all(Rules::default());
    let decide = |name: &str| rules.decide(&named(name), &Map::new());
    for name in ["t", "ask_t", "never_t", "ask_never"] {
        rules.remember(&named(name), Decision::Deny("by memory".into())).unwrap();
    }
    assert_eq!(decide("other"), Decision::Allow);
    assert_eq!(decide("t"), Decision::Deny("by memory".into()));
    assert_eq!(decide("ask_t"), Decision::Ask);
    assert_eq!(decide("never_t"), Decision::Deny("by rule".into()));
    assert_eq!(decide("ask_never"), Decision::Deny("by rule".into()));
}

#[test]
fn what_is_decided_for_a_project_outlives_the_conversation_and_holds_there_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (state, here, there) = (folder.path().join("a/b"), folder.path().join("here"), folder.path().join("there"));
    let rules = |project| Rules::new(Remembered::of_project(&state, project));
    let tool = tool("s", Hints::default());
    rules(&here).remember(&tool, Decision::Allow).unwrap();
    rules(&there).remember(&tool, Decision::Deny("no".into())).unwrap();
    assert_eq!(rules(&here).decide(&tool, &Map::new()), Decision::Allow);
    assert_eq!(rules(&there).decide(&tool, &Map::new()), Decision::Deny("no".into()));
    // Another definition is asked about anew, and the person is told why.
    for changed in [
        Tool { description: "other".into(), ..tool.clone() },
        Tool { schema: json!({"type": "object"}), ..tool.clone() },
        Tool { hints: READS, ..tool.clone() },
    ] {
        let rules = rules(&here);
        assert_eq!(rules.decide(&changed, &Map::new()), Decision::Ask);
        assert!(rules.remark(&changed).unwrap().contains("changed"), "{changed:?}");
    }
    assert!(rules(&here).remark(&tool).is_none());
    // What was refused stays so.
    let changed = Tool { description: "other".into(), ..tool.clone() };
    assert_eq!(rules(&there).decide(&changed, &Map::new()), Decision::Deny("no".into()));
    let kept = Remembered::of_project(&state, &here);
    assert_eq!(kept.list().unwrap().len(), 1);
    assert!(kept.forget(&["other".parse().unwrap()]).unwrap().is_empty());
    assert_eq!(kept.forget(&["s/*".parse().unwrap()]).unwrap()[0].tool, "t");
    assert_eq!(rules(&here).decide(&tool, &Map::new()), Decision::Ask);
    #[cfg(unix)]
    for file in std::fs::read_dir(&state).unwrap() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = file.unwrap();
        let others = file.metadata().unwrap().permissions().mode() & 0o077;
        assert!(others == 0 || file.path().extension().is_none_or(|end| end != "json"), "{file:?}");
    }
}

#[test]
fn what_cannot_be_read_decides_nothing_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let remembered = || Remembered::of_project(folder.path(), std::path::Path::new("/p"));
    let tool = tool("s", Hints::default());
    remembered().put(&tool, Decision::Allow).unwrap();
    let file = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    let file = file.into_iter().find(|file| file.extension().is_some_and(|end| end == "json")).unwrap();
    std::fs::write(&file, "{").unwrap();
    assert_eq!(remembered().of(&tool), Known::Nothing);
    assert!(remembered().list().unwrap_err().contains("remove it"));
    // The next decision begins anew.
    remembered().put(&tool, Decision::Allow).unwrap();
    assert_eq!(remembered().of(&tool), Known::Decided(Decision::Allow));
}

#[test]
fn a_star_is_any_part() {
    for (pattern, text, expected) in [
        ("*", "", true),
        ("a*c", "abc", true),
        ("a*c", "ab", false),
        ("*b*", "abc", true),
        ("ab*b", "ab", false),
        ("a*b*c", "a1b2c", true),
        ("a*b*c", "acb", false),
        ("abc", "abc", true),
        ("abc", "abcd", false),
    ] {
        assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
    }
    assert!("/x".parse::<Pattern>().is_err() && "x/".parse::<Pattern>().is_err());
}

#[test]
fn where_nothing_can_be_written_it_holds_for_the_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let rules = Rules::new(Remembered::of_project(&file.join("no/folder"), std::path::Path::new("/p")));
    let tool = tool("s", Hints::default());
    assert_eq!(rules.decide(&tool, &Map::new()), Decision::Ask);
    assert!(rules.remember(&tool, Decision::Allow).unwrap_err().contains("this conversation alone"));
    assert_eq!(rules.decide(&tool, &Map::new()), Decision::Allow);
}
