use serde_json::json;

use super::*;
use crate::{Id, Method, Raw, greeting::Profile};

#[test]
fn a_filter_survives_the_wire_and_is_cut_to_what_a_server_can() {
    let all = Filter { uris: ["a:1".to_owned(), "b:2".to_owned()].into(), ..Filter::lists() };
    assert_eq!(Filter::read(Some(&all.write())).unwrap(), all);
    assert!(Filter::read(None).is_err());
    assert!(Filter::read(Some(&Raw::of(&json!({"notifications": {"resourceSubscriptions": [1]}})))).is_err());
    let capabilities =
        Raw::of(&json!({"tools": {"listChanged": true}, "prompts": {"listChanged": false}, "resources": {}}));
    let profile = Profile { server: Raw::EMPTY, capabilities, instructions: None };
    assert_eq!(all.honoured_by(&profile), Filter { tools: true, ..Filter::default() });
}

#[test]
fn every_modern_note_names_its_subscription_with_the_same_type() {
    for id in [Id::Number(7), Id::Text("7".into())] {
        let notes = [modern::acknowledge(&id, &Filter::lists()), modern::note(&id, &Change::Updated("a:1".into()))];
        for note in notes {
            assert_eq!(modern::subscription(note.params.as_ref()), Some(id.clone()));
        }
        assert_eq!(modern::subscription(Some(&modern::end(&id))), Some(id));
    }
    for change in [Change::Tools, Change::Prompts, Change::Resources, Change::Updated("x".into())] {
        let note = legacy::note(&change);
        assert_eq!(legacy::change(&note.method, note.params.as_ref()), Some(change));
    }
    assert_eq!(legacy::change(&Method::Progress, None), None);
}
