use serde_json::{Map, Value, json};

use super::{store::Store, *};
use crate::{
    toolbox::{Hints, Tool, ToolId},
    transcript::{Content, Outcome, Part},
    turn::Given,
};

fn tool() -> Tool {
    let id = ToolId { server: "logs".into(), name: "tail".into() };
    Tool { id, public: "logs__tail".into(), description: String::new(), schema: json!({}), hints: Hints::default() }
}

fn shaped(result: Value) -> Given {
    let limits = ResultLimits::default();
    shape(result, &tool(), Pictures::Shown, &limits, &mut Store::new(&limits))
}

fn text(part: &Part) -> &str {
    match &part.what {
        Content::Text(text) => text,
        Content::Image { .. } => panic!("a picture"),
    }
}

fn asked(arguments: Value, store: &Store) -> (String, String) {
    let Value::Object(arguments) = arguments else { panic!() };
    let given = read(&arguments, &ResultLimits::default(), store);
    let note = given.parts.last().map(|part| text(part).to_owned()).unwrap();
    (text(&given.parts[0]).to_owned(), note)
}

#[test]
fn content_is_told_and_never_what_says_the_same_again() {
    let both = shaped(json!({"content": [{"type": "text", "text": "5"}], "structuredContent": {"sum": 5}}));
    assert_eq!(both.parts, [Part::text("5").from("logs", "tail")]);
    for empty in [json!([]), json!(null), json!([{"type": "text", "text": ""}])] {
        let structured = shaped(json!({"content": empty, "structuredContent": {"sum": 5}}));
        assert_eq!(structured.parts, [Part::text("{\"sum\":5}").from("logs", "tail")]);
    }
    assert_eq!(shaped(json!({})).parts, [Part::text("[host] It gave no output.")]);
}

#[test]
fn each_kind_of_content_is_told_with_its_origin() {
    let given = shaped(json!({"content": [
        {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
        {"type": "image", "mimeType": "image/png", "data": "not base64!"},
        {"type": "audio", "mimeType": "audio/wav", "data": "aGVsbG8="},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "hello"}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": "aGVsbG8=", "mimeType": "application/pdf"}},
        {"type": "resource_link", "uri": "file:///c", "name": "c", "size": 7},
        {"type": "hologram", "angle": 3},
    ]}));
    assert!(matches!(&given.parts[0].what, Content::Image { data, .. } if data == "aGVsbG8="));
    let told: Vec<_> = given.parts[1..].iter().map(text).collect();
    assert_eq!(told[0], "[image image/png, 6 bytes: its bytes cannot be read]");
    assert!(told[1].starts_with("[audio audio/wav") && told[3].starts_with("[resource file:///b application/pdf"));
    assert_eq!((told[2], told[4]), ("hello", "[resource file:///c; name: c; 7 bytes]"));
    assert_eq!(told[5], r#"{"type":"hologram","angle":3}"#);
    let whats: Vec<_> = given.parts.iter().map(|part| part.origin.as_ref().unwrap().what.as_str()).collect();
    assert_eq!(whats, ["tail", "tail", "tail", "file:///a", "file:///b", "file:///c", "tail"]);
}

#[test]
fn where_pictures_cannot_be_shown_they_are_named() {
    let limits = ResultLimits::default();
    let result = json!({"content": [{"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}]});
    let given = shape(result, &tool(), Pictures::Named, &limits, &mut Store::new(&limits));
    assert_eq!(text(&given.parts[0]), "[image image/png, 6 bytes: pictures cannot be shown here]");
}

#[test]
fn a_result_or_its_tool_may_ask_for_more() {
    let limits = ResultLimits::default();
    let long = "x".repeat(100_000);
    let of = |meta: Value, said: Option<u32>| {
        let mut tool = tool();
        tool.hints.result_chars = said;
        let result = json!({"content": [{"type": "text", "text": long}], "_meta": meta});
        shape(result, &tool, Pictures::Shown, &limits, &mut Store::new(&limits)).parts.len()
    };
    assert_eq!(of(json!({}), None), 2);
    assert_eq!(of(json!({"anthropic/maxResultSizeChars": 200_000}), None), 1);
    assert_eq!(of(json!({}), Some(200_000)), 1);
    let beyond = json!({
        "content": [{"type": "text", "text": "x".repeat(600_000)}], "_meta": {"anthropic/maxResultSizeChars": 9_000_000},
    });
    assert_eq!(shaped(beyond).parts.len(), 2, "nobody gets more than 500,000");
}

#[test]
fn an_error_is_cut_earlier() {
    let given = shaped(json!({"content": [{"type": "text", "text": "e".repeat(12_000)}], "isError": true}));
    assert_eq!((given.outcome, given.parts.len()), (Outcome::Failure, 2));
}

#[test]
fn a_result_of_31_mb_is_previewed_and_read_on() {
    let limits = ResultLimits::default();
    let mut store = Store::new(&limits);
    let line = "2026-11-30 12:00:00 öffne Verbindung, alles gut, noch eine Zeile\n";
    let mut big = line.repeat((31 << 20) / line.len());
    let total = big.lines().count();
    big += "FATAL: out of disk\n";
    let chars = big.chars().count();
    let address = big.as_ptr();
    let result = json!({"content": [{"type": "text"}]});
    let Value::Object(mut result) = result else { panic!() };
    result["content"][0]["text"] = Value::String(big);
    let given = shape(Value::Object(result), &tool(), Pictures::Shown, &limits, &mut store);
    assert_eq!(given.parts.len(), 2);
    assert_eq!(text(&given.parts[0]).chars().count(), limits.preview);
    assert!(text(&given.parts[1]).contains("\"r1\"") && text(&given.parts[1]).contains(&chars.to_string()));
    let (kept, _) = store.find("r1").unwrap();
    assert_eq!(kept.as_ptr(), address, "it was moved, never copied");
    let (piece, note) = asked(json!({"handle": "r1", "find": "fatal"}), &store);
    assert_eq!(note, "[host] 1 places, which are all.");
    assert!(piece.starts_with(&format!("line {}, character ", total + 1)) && piece.contains("out of disk"), "{piece}");
    let (piece, note) = asked(json!({"handle": "r1", "unit": "lines", "from": total, "count": 5}), &store);
    assert_eq!(piece, format!("{line}FATAL: out of disk\n"));
    assert!(note.ends_with("to its end."), "{note}");
    let (piece, note) = asked(json!({"handle": "r1", "from": chars - 5}), &store);
    assert_eq!((piece.as_str(), note.ends_with(": its end.")), ("disk\n", true));
}

#[test]
fn pages_join_up_to_the_whole() {
    let limits = ResultLimits::default();
    let mut store = Store::new(&limits);
    let whole: String = (0..30_000).map(|line| format!("{line} — größer\n")).collect();
    store.put(whole.clone(), crate::transcript::Origin { server: "s".into(), what: "t".into() }).unwrap();
    for unit in ["characters", "lines"] {
        let (mut read, mut from) = (String::new(), u64::from(unit == "lines"));
        loop {
            let (piece, note) = asked(json!({"handle": "r1", "unit": unit, "from": from, "count": 7_777}), &store);
            read += &piece;
            let Some((_, next)) = note.rsplit_once("goes on from ") else { break };
            from = next.trim_start_matches("line ").trim_end_matches('.').parse().unwrap();
        }
        assert!(read == whole, "{unit}");
    }
}

#[test]
fn a_line_longer_than_a_page_is_read_on_by_characters() {
    let limits = ResultLimits::default();
    let mut store = Store::new(&limits);
    store.put("x".repeat(50_000), crate::transcript::Origin { server: "s".into(), what: "t".into() }).unwrap();
    let (piece, note) = asked(json!({"handle": "r1", "unit": "lines"}), &store);
    assert_eq!(piece.len(), limits.page);
    assert!(note.contains("from character 20000"), "{note}");
}

#[test]
fn what_is_older_goes_to_files_and_then_is_forgotten() {
    let limits = ResultLimits { memory: 2_000, files: 2_000, ..ResultLimits::default() };
    let mut store = Store::new(&limits);
    let origin = || crate::transcript::Origin { server: "s".into(), what: "t".into() };
    for letter in ["a", "b", "c", "d", "e"] {
        store.put(letter.repeat(1_000), origin()).unwrap();
    }
    assert_eq!(store.handles(), ["r2", "r3", "r4", "r5"]);
    assert_eq!(store.text("r2").unwrap(), "b".repeat(1_000));
    assert!(store.text("r1").unwrap_err().contains("there are: [r2"));
    assert!(store.put("f".repeat(3_000), origin()).is_err());
    let folder = store.folder().unwrap().to_owned();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    drop(store);
    assert!(!folder.exists(), "nothing stays behind");
}

#[test]
fn an_unknown_handle_is_told_what_there_is() {
    let given = read(&Map::new(), &ResultLimits::default(), &Store::new(&ResultLimits::default()));
    assert_eq!(
        (given.outcome, text(&given.parts[0])),
        (Outcome::Failure, "[host] no result \"\" is kept; there are: []")
    );
}
