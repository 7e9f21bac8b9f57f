use std::collections::HashSet;

use serde_json::json;
use toolbay_protocol::{Raw, Revision};

use super::*;
use crate::config::Names;

fn part(server: &str, tools: &[&str]) -> Part {
    let tool = |name: &&str| {
        let definition = json!({"name": name, "title": "T", "inputSchema": {"type": "object"}, "x": 1.5});
        ((*name).to_owned(), Raw::of(&definition))
    };
    let mut part = Part::empty(server.into(), Revision::LATEST);
    part.tools = tools.iter().map(tool).collect();
    part
}

#[test]
fn public_names_are_safe_short_and_never_the_same() {
    let odd = "n".repeat(300);
    let servers = ["a", "a_", "a__b", "b c", "b_c", "", "天气", &odd];
    let names = ["x", "_x", "__x", "b__x", "x y", "x.y", "x/y", "", "查询", &odd];
    let mut seen = HashSet::new();
    for server in servers {
        for name in names {
            let public = public_name(server, name);
            assert!(public.len() <= 64 && public.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)));
            assert!(seen.insert(public.clone()), "{server:?} {name:?} {public}");
        }
    }
    assert_eq!(public_name("git", "git_log"), "git__git_log");
}

#[test]
fn no_server_can_take_the_name_of_a_tool_of_another() {
    let digested = public_name("a_", "x");
    let forged = digested.strip_prefix("a__").unwrap();
    assert_ne!(public_name("a", forged), digested);
}

#[test]
fn a_server_with_names_of_its_own_can_take_nobody_elses() {
    let mut own = part("b", &["x", "a__x", "x y", "n_0123456789"]);
    own.names = Names::Own;
    let (catalog, reports) = Catalog::of([own, part("a", &["x"])].iter());
    assert!(reports.is_empty());
    let server = |public: &str| catalog.find(Listed::Tools, public).map(|found| &*found.server);
    assert_eq!((server("x"), server("a__x"), server("b__x")), (Some("b"), Some("a"), None));
    assert_eq!(server(&public_name("b", "x y")), Some("b"));
    assert_eq!((server("n_0123456789"), server(&public_name("b", "n_0123456789"))), (None, Some("b")));
}

#[test]
fn names_stay_when_other_servers_come_and_go() {
    let (alone, _) = Catalog::of([part("a", &["x"])].iter());
    let (both, _) = Catalog::of([part("b", &["x"]), part("a", &["x"])].iter());
    let name = public_name("a", "x");
    assert_eq!(alone.find(Listed::Tools, &name), both.find(Listed::Tools, &name));
    assert_eq!(both.count(Listed::Tools), 2);
}

#[test]
fn each_revision_is_shown_what_it_knows() {
    let (catalog, reports) = Catalog::of([part("a", &["x"])].iter());
    assert!(reports.is_empty());
    let shown = |revision| format!("{:?}", catalog.result(Listed::Tools, revision));
    assert!(shown(Revision::LATEST).contains(r#""title":"T""#) && shown(Revision::LATEST).contains("1.5"));
    assert!(!shown(Revision::V2024_11_05).contains(r#""title":"T""#));
    assert!(shown(Revision::V2024_11_05).contains("a__x"));
}

#[test]
fn what_cannot_be_shown_is_reported_and_hides_nothing_else() {
    let mut bad = part("a", &["x", "x", "y"]);
    bad.tools[2].1 = Raw::of(&json!({"name": "y"}));
    let (catalog, reports) = Catalog::of([bad, part("b", &["z"])].iter());
    assert_eq!((catalog.count(Listed::Tools), reports.len()), (2, 2));
}

#[test]
fn what_a_tool_wants_in_headers_is_known_under_its_public_name() {
    let mut part = part("a", &["x", "y"]);
    let region = json!({"type": "string", "x-mcp-header": "Region"});
    let schema = json!({"type": "object", "properties": {"region": region}});
    part.tools[1].1 = Raw::of(&json!({"name": "y", "inputSchema": schema}));
    let (catalog, _) = Catalog::of([part].iter());
    assert!(catalog.header_plan("a__x").is_none() && catalog.header_plan("y").is_none());
    assert_eq!(catalog.header_plan("a__y").map(|plan| plan.params().len()), Some(1));
}

#[test]
fn a_resource_is_read_where_it_is_listed_or_fits() {
    let mut one = part("a", &[]);
    one.resources = vec![("file:///x".into(), Raw::of(&json!({"uri": "file:///x", "name": "x"})))];
    let mut two = part("b", &[]);
    two.templates = vec![("file:///{name}".into(), Raw::of(&json!({"uriTemplate": "file:///{name}", "name": "t"})))];
    let (catalog, _) = Catalog::of([one, two].iter());
    assert_eq!(catalog.server_of("file:///x").map(|server| &**server), Some("a"));
    assert_eq!(catalog.server_of("file:///y").map(|server| &**server), Some("b"));
    assert_eq!(catalog.server_of("http://y"), None);
}
