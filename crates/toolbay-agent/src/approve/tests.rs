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
    let policies: [Box<dyn Policy>; 2] = [Box::<AskAll>::default(), Box::new(ReadOnly::of(["a"]))];
    for policy in policies {
        policy.remember(&tool("b", READS).id, Decision::Allow);
        policy.remember(&tool("a", READS).id, Decision::Deny("not here".into()));
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
