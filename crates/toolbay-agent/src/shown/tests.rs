use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{
    model::Wire,
    toolbox::{Hints, Shelf, Tool, ToolId},
};

fn tool(server: &str, name: &str, public: &str) -> Arc<Tool> {
    let id = ToolId { server: server.into(), name: name.into() };
    let schema = json!({"type": "object"});
    Arc::new(Tool { id, public: public.into(), description: "d".into(), schema, hints: Hints::default() })
}

fn shelf(generation: u64, tools: Vec<Arc<Tool>>) -> Arc<Shelf> {
    Arc::new(Shelf { generation, tools, down: vec![] })
}

fn names(shown: &Shown) -> Vec<&str> {
    shown.defined().iter().map(|defined| defined.name.as_str()).collect()
}

#[test]
fn a_name_that_was_given_stays() {
    let mut shown = Shown::new(Wire::Anthropic, Showing::default());
    shown.follow(&shelf(1, vec![tool("b", "x", "x")]));
    assert_eq!(names(&shown), ["read_result", "x"]);
    // Another of the same name sorts before it: the first one keeps what the model knows it by.
    shown.follow(&shelf(2, vec![tool("a", "x", "x"), tool("b", "x", "x")]));
    assert_eq!(names(&shown)[..2], ["read_result", "x"]);
    assert!(names(&shown)[2].starts_with("x_"), "{:?}", names(&shown));
    assert_eq!(shown.find("x").unwrap().id.server, "b");
}

#[test]
fn a_tool_with_a_name_of_the_hosts_own_gets_another() {
    let mut shown = Shown::new(Wire::Anthropic, Showing::default());
    shown.follow(&shelf(1, vec![tool("a", "read_result", "read_result")]));
    assert!(names(&shown)[1].starts_with("read_result_"), "{:?}", names(&shown));
}

#[test]
fn a_tool_that_changed_is_defined_again_in_its_place() {
    let mut shown = Shown::new(Wire::Anthropic, Showing::default());
    shown.follow(&shelf(1, vec![tool("a", "x", "x"), tool("b", "y", "y")]));
    let changed = Arc::new(Tool { description: "something else".into(), ..Tool::clone(&tool("a", "x", "x")) });
    let before = shown.tokens();
    shown.follow(&shelf(2, vec![changed, tool("b", "y", "y")]));
    assert_eq!(names(&shown), ["read_result", "x", "y"]);
    assert_eq!(shown.defined()[1].description, "something else");
    assert!(shown.tokens() > before);
}
