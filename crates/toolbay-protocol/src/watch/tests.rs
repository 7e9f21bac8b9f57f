use serde_json::json;

use super::*;
use crate::{
    ErrorObject, Id, Method, Raw, Revision,
    fault::code,
    greeting::{Introduction, Profile},
    method::TASKS,
};

#[test]
fn a_filter_survives_the_wire_and_is_cut_to_what_a_server_can() {
    let uris = ["a:1".to_owned(), "b:2".to_owned()].into();
    let all = Filter { uris, tasks: ["t".to_owned()].into(), ..Filter::lists() };
    assert_eq!(Filter::read(Some(&all.write())).unwrap(), all);
    assert!(Filter::read(None).is_err());
    assert!(Filter::read(Some(&Raw::of(&json!({"notifications": {"resourceSubscriptions": [1]}})))).is_err());
    assert!(Filter::read(Some(&Raw::of(&json!({"notifications": {"taskIds": "t"}})))).is_err());
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

fn task(id: &str, status: &str) -> Change {
    let state = Raw::of(&json!({"taskId": id, "status": status}));
    Change::Task(TaskChange { id: id.to_owned(), state })
}

#[test]
fn a_task_is_told_of_whole_and_the_later_state_stands_for_the_earlier() {
    let (working, done) = (task("t", "working"), task("t", "completed"));
    assert!(done.supersedes(&working) && !done.supersedes(&task("u", "working")) && !done.supersedes(&Change::Tools));
    assert!(Filter::task("t").wants(&done) && !Filter::task("u").wants(&done) && !Filter::lists().wants(&done));
    let note = modern::note(&Id::Number(7), &done);
    assert_eq!((&note.method, modern::subscription(note.params.as_ref())), (&Method::Tasks, Some(Id::Number(7))));
    assert_eq!(legacy::change(&note.method, note.params.as_ref()), Some(done));
    assert_eq!(legacy::change(&Method::Tasks, Some(&Raw::EMPTY)), None, "nobody knows which task");
}

#[test]
fn rule_175_tasks_are_told_of_only_to_who_declares_them() {
    let profile =
        |capabilities| Profile { server: Raw::EMPTY, capabilities: Raw::of(&capabilities), instructions: None };
    let with = profile(json!({"extensions": {TASKS: {}}}));
    let caller = |capabilities| Introduction {
        capabilities: Raw::of(&capabilities),
        ..Introduction::anonymous(Revision::LATEST)
    };
    let params = Raw::of(&json!({"notifications": {"taskIds": ["t"]}}));
    let asked = |who, profile| Filter::asked(Some(&params), &caller(who), profile);
    for undeclared in [json!({}), json!({"extensions": {}}), json!({"tasks": {"list": {}}})] {
        let error = ErrorObject::from(asked(undeclared, &with).unwrap_err());
        assert_eq!(error.code, code::MISSING_CAPABILITY);
        let data: serde_json::Value = error.data.unwrap().read().unwrap();
        assert_eq!(data, json!({"requiredCapabilities": {"extensions": {TASKS: {}}}}));
    }
    assert_eq!(asked(json!({"extensions": {TASKS: {}}}), &with), Ok(Filter::task("t")));
    assert_eq!(asked(json!({"extensions": {TASKS: {}}}), &profile(json!({}))), Ok(Filter::default()));
    let nothing = Raw::of(&json!({"notifications": {"taskIds": []}}));
    assert_eq!(Filter::asked(Some(&nothing), &caller(json!({})), &with), Ok(Filter::default()));
}
