use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{
    ErrorObject, Feature, Frame, Id, Method, Raw, Revision, fault::code, greeting::Introduction, scan::Limits,
};

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned().into(), Limits::DEFAULT).unwrap()
}

fn who(revision: Revision) -> Arc<Introduction> {
    let capabilities = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
    Arc::new(Introduction { capabilities: Raw::of(&capabilities), ..Introduction::anonymous(revision) })
}

fn call(revision: Revision, params: &str, wishes: Wishes) -> Outgoing {
    Outgoing::new(who(revision), Id::Number(1), Method::ToolsCall, Some(raw(params)), wishes)
}

fn taken(revision: Revision, method: Method, params: &str) -> Incoming {
    Incoming::new(who(revision), None, Id::Number(1), method, Some(&raw(params)))
}

fn elicit(message: &str) -> Ask {
    Ask { method: Method::Elicit, params: Some(Raw::of(&json!({"message": message}))) }
}

const EMPTY_CALL: &str = r#"{"name":"x"}"#;

/// What the caller hears of a call that notes, asks twice at once and ends, on a wire of `revision`.
fn story(revision: Revision) -> Vec<String> {
    let mut ours = call(revision, EMPTY_CALL, Wishes { log_level: Some("info".into()), ..Wishes::progress() });
    let open = |frame: &Frame, number| {
        let Frame::Request { id, method, params, .. } = frame.clone() else { panic!("{frame:?}") };
        assert_eq!(id, Id::Number(number));
        Incoming::new(who(revision), None, id, method, params.as_ref())
    };
    let mut heard = vec![];
    let mut theirs = open(&ours.open(), 1);
    for note in [Note::progress(1.0, Some(2.0), None), Note::new(Method::Message, raw(r#"{"level":"info","data":1}"#))]
    {
        let frame = theirs.note(note).unwrap();
        let Some(Step::Note(note)) = ours.receive(frame) else { panic!("no note") };
        heard.push(note.method.to_string());
    }
    let asks: Asks = [("a".to_owned(), elicit("A?")), ("b".to_owned(), elicit("B?"))].into_iter().collect();
    let (_, frames) = theirs.ask(&asks, Some(&raw("\"s\"")), ids(100));
    let mut asked = vec![];
    for frame in frames {
        let Some(Step::Ask(asks)) = ours.receive(frame) else { panic!("no ask") };
        asked.push(asks);
    }
    let mut came = vec![];
    for asks in asked {
        heard.extend(asks.iter().map(|(_, ask)| format!("{:?}", ask.params.as_ref().unwrap())));
        let answers = asks.iter().map(|(key, _)| (key.to_owned(), Ok(raw(r#"{"action":"accept"}"#)))).collect();
        came.extend(ours.answer(answers, || Id::Number(2)).unwrap());
    }
    if theirs.will_return() {
        let [Frame::Request { params: Some(params), .. }] = came.as_slice() else { panic!("{came:?}") };
        let back = Return::read(&who(revision), Some(params));
        assert_eq!((back.answers.unwrap().len(), back.state), (2, Some(raw("\"s\""))));
        theirs = open(&came[0], 2);
    } else {
        let rounds: Vec<_> =
            came.into_iter().filter_map(|frame| theirs.receive(frame.id().unwrap(), Ok(Raw::NULL))).collect();
        assert!(rounds.len() == 1 && rounds[0].1.len() == 2, "{rounds:?}");
    }
    match ours.receive(theirs.done(Ok(raw(r#"{"content":[]}"#)))) {
        Some(Step::Done(Ok(result))) => heard.push(format!("{:?}", result.get("content").unwrap())),
        other => panic!("{other:?}"),
    }
    heard
}

fn ids(from: i64) -> impl FnMut() -> Id {
    let mut next = from;
    move || {
        next += 1;
        Id::Number(next)
    }
}

#[test]
fn both_eras_tell_one_story() {
    for revision in Revision::ALL.into_iter().filter(|revision| revision.has(Feature::Elicitation)) {
        let told =
            ["notifications/progress", "notifications/message", r#"{"message":"A?"}"#, r#"{"message":"B?"}"#, "[]"];
        assert_eq!(story(revision), told, "{revision}");
    }
}

#[test]
fn a_request_wears_its_own_envelope_and_token_and_nobody_elses() {
    let foreign = r#"{"name":"x","_meta":{"traceparent":"00-a","progressToken":"t","io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/logLevel":"debug"}}"#;
    let sent = |revision, wishes| {
        let Frame::Request { params, .. } = call(revision, foreign, wishes).open() else { panic!() };
        format!("{:?}", params.unwrap())
    };
    let plain = r#"{"name":"x","_meta":{"traceparent":"00-a"}}"#;
    assert_eq!(sent(Revision::LATEST_LEGACY, Wishes::default()), plain);
    let token = r#"{"name":"x","_meta":{"progressToken":1,"traceparent":"00-a"}}"#;
    assert_eq!(sent(Revision::LATEST_LEGACY, Wishes::progress()), token);
    let modern = sent(Revision::LATEST, Wishes::default());
    assert!(modern.contains("2026-07-28") && modern.contains("00-a"), "{modern}");
    assert!(!modern.contains("2099") && !modern.contains("debug") && !modern.contains("progressToken"), "{modern}");
}

// Rules 8, 9 and 94.
#[test]
fn result_types_are_known_or_fail_the_request() {
    let check = |method: Method, text: &str, expected: &str| {
        let mut call = Outgoing::new(who(Revision::LATEST), Id::Number(1), method, None, Wishes::default());
        let step = call.receive(Frame::Result { id: Id::Number(1), result: raw(text) });
        let kind = match step {
            Some(Step::Done(Ok(_))) => "done",
            Some(Step::Done(Err(_))) => "failed",
            Some(Step::Ask(_)) => "ask",
            Some(Step::Note(_) | Step::Away(_) | Step::Withdrawn(_)) | None => "nothing",
        };
        assert_eq!(kind, expected, "{text}");
    };
    check(Method::ToolsCall, "{}", "done");
    check(Method::ToolsCall, r#"{"resultType":null}"#, "done");
    check(Method::ToolsCall, r#"{"resultType":"task"}"#, "done");
    check(Method::ToolsCall, r#"{"resultType":"partial"}"#, "failed");
    check(Method::ToolsCall, "[]", "failed");
    check(Method::ToolsCall, r#"{"resultType":"input_required"}"#, "failed");
    check(Method::ToolsCall, r#"{"resultType":"input_required","requestState":"s"}"#, "ask");
    check(Method::ToolsList, r#"{"resultType":"input_required","requestState":"s"}"#, "failed");
    let bad = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"tools/call"}}}"#;
    check(Method::ToolsCall, bad, "failed");
}

// Rules 102, 103 and 110.
#[test]
fn between_two_rounds_nothing_is_in_flight() {
    let ask = || Frame::Result {
        id: Id::Number(1),
        result: raw(
            r#"{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"roots/list"}}}"#,
        ),
    };
    let mut ours = call(Revision::LATEST, EMPTY_CALL, Wishes::default());
    assert!(ours.answer(Answers::default(), || Id::Number(9)).unwrap().is_empty(), "nothing was asked");
    let Some(Step::Ask(asks)) = ours.receive(ask()) else { panic!("no ask") };
    assert_eq!(asks.standing(), &Standing::Over(Some(raw("\"s\""))));
    assert_eq!(ours.receive(ask()), None, "a second copy of the answer");
    assert_eq!(ours.receive(Frame::Result { id: Id::Number(1), result: Raw::EMPTY }), None);
    let mut taken_back = call(Revision::LATEST, EMPTY_CALL, Wishes::default());
    taken_back.receive(ask());
    assert!(taken_back.cancel("no reason").is_empty(), "there is no request to take back");
    let answers = Answers::one("a", Ok(raw(r#"{"roots":[]}"#)));
    let frames = ours.answer(answers.clone(), || Id::Number(2)).unwrap();
    let [Frame::Request { id: Id::Number(2), params: Some(params), .. }] = frames.as_slice() else {
        panic!("{frames:?}")
    };
    assert_eq!(format!("{:?}", params.get("inputResponses").unwrap()), r#"{"a":{"roots":[]}}"#);
    assert_eq!(params.get("requestState"), Some(raw("\"s\"")));
    assert!(ours.answer(answers, || Id::Number(3)).unwrap().is_empty(), "one retry per round");
    assert_eq!(ours.cancel("no reason").len(), 1);
}

#[test]
fn a_round_without_state_is_returned_without_state() {
    let mut ours = call(Revision::LATEST, r#"{"name":"x","requestState":"old"}"#, Wishes::default());
    let result = raw(r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#);
    ours.receive(Frame::Result { id: Id::Number(1), result });
    let frames = ours.answer(Answers::one("a", Ok(Raw::EMPTY)), || Id::Number(2)).unwrap();
    let Frame::Request { params: Some(params), .. } = &frames[0] else { panic!() };
    assert_eq!(params.get("requestState"), None);
}

#[test]
fn a_refusal_is_a_reply_a_cancel_or_the_end() {
    let refused = || Err(ErrorObject::new(code::REFUSED, "no"));
    let ask = |method: &str| Frame::Result {
        id: Id::Number(1),
        result: Raw::of(&json!({"resultType": "input_required", "inputRequests": {"a": {"method": method}}})),
    };
    let mut ours = call(Revision::LATEST, EMPTY_CALL, Wishes::default());
    ours.receive(ask("elicitation/create"));
    let frames = ours.answer(Answers::one("a", refused()), || Id::Number(2)).unwrap();
    let Frame::Request { params: Some(params), .. } = &frames[0] else { panic!() };
    assert_eq!(format!("{:?}", params.get("inputResponses").unwrap()), r#"{"a":{"action":"cancel"}}"#);
    let mut ours = call(Revision::LATEST, EMPTY_CALL, Wishes::default());
    ours.receive(ask("sampling/createMessage"));
    assert_eq!(ours.answer(Answers::one("a", refused()), || Id::Number(2)).unwrap_err().code, code::REFUSED);
    let mut ours = call(Revision::LATEST_LEGACY, EMPTY_CALL, Wishes::default());
    let question = Frame::request(Id::Number(7), Method::Elicit, None);
    let Some(Step::Ask(asks)) = ours.receive(question) else { panic!() };
    let answers = Answers::refuse(&asks, &refused().unwrap_err());
    let frames = ours.answer(answers, || Id::Number(2)).unwrap();
    assert!(matches!(&frames[..], [Frame::Error { id: Some(Id::Number(7)), .. }]), "{frames:?}");
}

// Rules 108, 113 and 114.
#[test]
fn notes_go_only_where_they_are_wanted() {
    let log = |level: &str| Note::new(Method::Message, Raw::of(&json!({"level": level, "data": ""})));
    let progress = |n| Note::progress(n, None, Some("m"));
    let level = r#"{"_meta":{"progressToken":"t","io.modelcontextprotocol/logLevel":"warning"}}"#;
    let mut silent = taken(Revision::LATEST, Method::ToolsCall, "{}");
    assert_eq!((silent.note(progress(1.0)), silent.note(log("emergency"))), (None, None));
    let mut wanting = taken(Revision::LATEST, Method::ToolsCall, level);
    assert!(wanting.note(log("info")).is_none() && wanting.note(log("error")).is_some());
    assert!(
        wanting.note(log("loud")).is_none() && wanting.note(Note { method: Method::Message, params: None }).is_none()
    );
    let heard: Vec<_> = [1.0, 1.0, 0.5, 2.0].map(|n| wanting.note(progress(n)).is_some()).into();
    assert_eq!(heard, [true, false, false, true]);
    assert!(wanting.note(Note::new(Method::Progress, raw(r#"{"progress":"3"}"#))).is_none());
    let mut listening = taken(Revision::LATEST, Method::Listen, level);
    assert_eq!((listening.note(progress(1.0)), listening.note(log("error"))), (None, None));
    let mut old = taken(Revision::V2024_11_05, Method::ToolsCall, level).logging_from(Level::parse("error"));
    assert!(old.note(log("warning")).is_none() && old.note(log("critical")).is_some());
    let Some(Frame::Notification { params: Some(params), .. }) = old.note(progress(1.0)) else { panic!() };
    assert_eq!(format!("{params:?}"), r#"{"progress":1.0,"progressToken":"t"}"#);
    assert!(taken(Revision::V2024_11_05, Method::ToolsCall, "{}").note(log("debug")).is_some(), "never set: all of it");
}

// Rules 94, 97 and 10.
#[test]
fn a_modern_caller_is_asked_only_what_it_may_be() {
    let asks = Asks::one("a", elicit("A?"));
    let check = |capabilities: &str, method: Method, asks: &Asks, expected: Option<i64>| {
        let client = Introduction { capabilities: raw(capabilities), ..Introduction::anonymous(Revision::LATEST) };
        let mut theirs = Incoming::new(Arc::new(client), None, Id::Number(1), method, None);
        let (_, frames) = theirs.ask(asks, None, ids(0));
        let found = match &frames[..] {
            [Frame::Error { error, .. }] => Some(ErrorObject::read(error).code),
            [Frame::Result { .. }] => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{capabilities}");
    };
    check(r#"{"elicitation":{}}"#, Method::ToolsCall, &asks, None);
    check("{}", Method::ToolsCall, &asks, Some(code::MISSING_CAPABILITY));
    check(r#"{"elicitation":{"url":{}}}"#, Method::ToolsCall, &asks, Some(code::MISSING_CAPABILITY));
    check(r#"{"elicitation":{}}"#, Method::ToolsList, &asks, Some(code::INTERNAL));
    check(r#"{"elicitation":{}}"#, Method::ToolsCall, &Asks::default(), Some(code::INTERNAL));
}

#[test]
fn a_result_that_is_no_object_never_leaves() {
    for revision in Revision::ALL {
        let frame = taken(revision, Method::ToolsCall, "{}").done(Ok(raw("[1]")));
        assert!(matches!(frame, Frame::Error { id: Some(Id::Number(1)), .. }), "{revision}");
    }
}

// Rules 10 and 11.
#[test]
fn a_modern_caller_is_told_no_code_that_its_revision_reserves() {
    let check = |method: Method, code: i64, modern: i64| {
        for revision in Revision::ALL.into_iter().filter(|revision| revision.has(Feature::ElicitationIds)) {
            let frame = taken(revision, method.clone(), "{}").done(Err(ErrorObject::new(code, "m")));
            let Frame::Error { error, .. } = frame else { panic!() };
            assert_eq!(ErrorObject::read(&error).code, code);
        }
        let Frame::Error { error, .. } = taken(Revision::LATEST, method, "{}").done(Err(ErrorObject::new(code, "m")))
        else {
            panic!()
        };
        assert_eq!(ErrorObject::read(&error).code, modern, "{code}");
    };
    check(Method::ResourcesRead, code::RESOURCE_NOT_FOUND, code::INVALID_PARAMS);
    check(Method::ToolsCall, code::RESOURCE_NOT_FOUND, code::INTERNAL);
    check(Method::ToolsCall, code::URL_ELICITATION_REQUIRED, code::INVALID_PARAMS);
    for (code, modern) in
        [(-32000, code::INTERNAL), (-32099, code::INTERNAL), (-32603, -32603), (-31999, -31999), (7, 7)]
    {
        check(Method::ToolsCall, code, modern);
    }
    for assigned in [code::HEADER_MISMATCH, code::MISSING_CAPABILITY, code::UNSUPPORTED_VERSION] {
        let frame = taken(Revision::LATEST, Method::ToolsCall, "{}").done(Err(ErrorObject::new(assigned, "m")));
        assert!(matches!(frame, Frame::Error { error, .. } if ErrorObject::read(&error).code == assigned));
    }
}

#[test]
fn a_call_begun_elsewhere_is_carried_on_with_what_came_back() {
    let answers = Answers::one("a", Ok(raw(r#"{"action":"accept"}"#)));
    let ours = call(Revision::LATEST, r#"{"name":"x","inputResponses":1}"#, Wishes::default());
    let Frame::Request { params: Some(params), .. } = ours.resuming(Some(answers.clone()), Some(raw("\"s\""))).open()
    else {
        panic!()
    };
    let back = Return::read(&who(Revision::LATEST), Some(&params));
    assert_eq!(back, Return { answers: Some(answers), state: Some(raw("\"s\"")) });
    assert_eq!(Return::read(&who(Revision::LATEST_LEGACY), Some(&params)), Return::default());
}
