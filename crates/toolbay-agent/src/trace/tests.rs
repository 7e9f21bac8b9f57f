use serde_json::{Map, Value, json};

use super::*;
use crate::toolbox::ToolId;

fn called(text: &str) -> What {
    let tool = ToolId { server: "s".into(), name: "t".into() };
    What::Called { id: "1".into(), sent: "s__t".into(), tool: Some(tool), arguments: Cut::of(text) }
}

#[test]
fn a_line_is_in_the_file_when_the_step_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let trace = Trace::file(&path).unwrap();
    for round in 1..4 {
        trace.add(round, called("{}"));
        let lines = std::fs::read_to_string(&path).unwrap();
        let last: Value = serde_json::from_str(lines.lines().next_back().unwrap()).unwrap();
        assert_eq!((&last["round"], &last["step"], &last["server"]), (&json!(round), &json!("called"), &json!("s")));
    }
    // A second conversation goes on in the same file.
    Trace::file(&path).unwrap().add(1, called("{}"));
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 4);
    assert_eq!(trace.steps().len(), 3);
}

#[test]
fn what_is_cut_is_said() {
    let long = "é".repeat(100_000);
    let step = Step { number: 1, at_ms: 0, round: 1, what: called(&long) };
    let line = step.to_value();
    assert_eq!((&line["arguments"]["cut"], &line["arguments"]["bytes"]), (&json!(true), &json!(200_000)));
    assert!(line.to_string().len() < 5_000);
    let object: Map<_, _> = [("text".to_owned(), json!(long))].into_iter().collect();
    let cut = Cut::of_object(&object);
    assert_eq!(cut.bytes, 200_011);
    assert!(cut.text.starts_with("{\"text\":\"éé") && cut.text.len() <= 4096);
}

#[test]
fn memory_is_bounded() {
    let trace = Trace::new();
    for _ in 0..10_010 {
        trace.add(1, called("{}"));
    }
    let steps = trace.steps();
    assert_eq!((steps.len(), steps[0].number), (10_000, 11));
    let forgetting = Trace::new().forgetting();
    forgetting.add(1, called("{}"));
    assert!(forgetting.steps().is_empty());
}
