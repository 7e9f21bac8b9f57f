use serde_json::json;

use super::{slash::Argument, *};
use crate::transcript::{Content, Message};

#[test]
fn resources_are_named_where_a_word_begins() {
    let named = |message: &str| -> Vec<String> {
        mentions(message).into_iter().map(|one| format!("{} {}", one.server, one.uri)).collect()
    };
    assert_eq!(named("see @docs:file:///a.md, and (@git:repo://x)."), ["docs file:///a.md", "git repo://x"]);
    assert_eq!(named("看@docs:file:///a 和 @docs:file:///a"), ["docs file:///a"]);
    assert_eq!(named("@fs:\"file:///a b\" @fs:<file:///c d>"), ["fs file:///a b", "fs file:///c d"]);
    assert_eq!(named("ann@example.com:x, @nobody, @ :x, @a: b"), [""; 0]);
}

fn takes(names: &[&str]) -> Vec<Argument> {
    let one = |name: &&str| Argument { name: (*name).to_owned(), description: String::new(), required: true };
    names.iter().map(one).collect()
}

#[test]
fn arguments_are_read_as_people_type_them() {
    for (names, tail, expected) in [
        (&["a", "b"][..], "x y", json!({"a": "x", "b": "y"})),
        (&["a", "b"], "b=y x", json!({"b": "y", "a": "x"})),
        (&["a", "b"], r#"a="x y" 'z w'"#, json!({"a": "x y", "b": "z w"})),
        (&["a", "b"], r#""a=1" it's"#, json!({"a": "a=1", "b": "it's"})),
        (&["a", "b"], "c=1", json!({"a": "c=1"})),
        (&["a"], "the whole \"tail\" as it is", json!({"a": "the whole \"tail\" as it is"})),
        (&["a"], "\"quoted whole\"", json!({"a": "quoted whole"})),
        (&["a"], "a=named one", json!({"a": "named one"})),
        (&["a"], "", json!({})),
    ] {
        let read = words::read(&takes(names), tail).map(serde_json::Value::Object);
        assert_eq!(read, Ok(expected), "{names:?} {tail}");
    }
    for (tail, why) in [("x y z", "too many"), ("a=1 a=2", "twice"), ("a=\"x", "not closed")] {
        let told = words::read(&takes(&["a", "b"]), tail).unwrap_err();
        assert!(told.contains(why), "{tail}: {told}");
    }
}

#[test]
fn a_prompt_becomes_messages_that_say_where_they_come_from() {
    let result = json!({"messages": [
        {"role": "user", "content": {"type": "text", "text": "look"}},
        {"role": "user", "content": {"type": "resource", "resource": {"uri": "x://y", "text": "at this"}}},
        {"role": "assistant", "content": {"type": "text", "text": "well"}},
    ]});
    let messages = prompted("s", "p", &result);
    let Message::User(parts) = &messages[0] else { panic!("{messages:?}") };
    assert_eq!(parts[1].what, Content::Text("at this".into()));
    assert!(parts.iter().all(|part| part.origin.as_ref().is_some_and(|from| from.server == "s")));
    assert!(matches!(&messages[1], Message::Model(said) if said.text() == "well"));
}
