use std::sync::Arc;

use serde_json::json;

use super::{
    probe::{Came, Next, Probe},
    *,
};
use crate::{
    ErrorObject, Method, Raw, Revision,
    exchange::Ask,
    fault::{Fault, Unsupported, code},
};

fn profile() -> Profile {
    Profile {
        server: Raw::of(&json!({"name": "s", "version": "1", "title": "S", "icons": []})),
        capabilities: Raw::of(&json!({"tools": {}, "completions": {}, "tasks": {}})),
        instructions: Some("be kind".into()),
    }
}

fn us() -> Introduction {
    Introduction {
        revision: Revision::LATEST,
        client: Some(Raw::of(&json!({"name": "c", "version": "1"}))),
        capabilities: Raw::of(&json!({"elicitation": {}})),
        device: None,
    }
}

#[test]
fn each_legacy_revision_is_met_as_offered_and_sheds_what_it_lacks() {
    for revision in Revision::of(crate::Era::Legacy) {
        let (met, result) = legacy::answer(Some(&legacy::offer(&us().in_revision(revision))), &profile()).unwrap();
        assert_eq!(met.revision, revision);
        let meeting = legacy::accept(&result).unwrap();
        assert_eq!((meeting.revision, meeting.profile.instructions.as_deref()), (revision, Some("be kind")));
        assert_eq!(meeting.profile.declares(&["tasks"]), revision.has(crate::Feature::CoreTasks));
        assert_eq!(meeting.profile.server.get("title").is_some(), revision.has(crate::Feature::Titles));
    }
    assert!(legacy::answer(None, &profile()).is_err());
    assert!(legacy::accept(&Raw::of(&json!({"protocolVersion": "2026-07-28"}))).is_err());
}

#[test]
fn an_envelope_is_complete_or_names_what_it_lacks() {
    let check = |meta: serde_json::Value, fault: &str| {
        let params = Raw::of(&json!({"_meta": meta}));
        let said = envelope::read(Some(&params)).expect_err(fault).to_string();
        assert!(said.contains(fault), "{said}");
    };
    check(json!({}), "protocolVersion");
    check(json!({envelope::PROTOCOL_VERSION: "2026-07-28"}), "clientCapabilities");
    check(json!({envelope::PROTOCOL_VERSION: 7, envelope::CLIENT_CAPABILITIES: {}}), "must be a string");
    check(json!({envelope::PROTOCOL_VERSION: "2025-11-25", envelope::CLIENT_CAPABILITIES: {}}), "2025-11-25");
    check(json!({envelope::PROTOCOL_VERSION: "2026-07-28", envelope::CLIENT_CAPABILITIES: 1}), "must be an object");
    assert!(envelope::is_modern(Some(&Raw::of(&json!({"_meta": {envelope::PROTOCOL_VERSION: null}})))));
}

/// Plays `script` against a probe and returns what it came to.
fn play(script: Vec<Came>) -> (Vec<String>, Next) {
    let mut probe = Probe::new(us());
    let (mut sent, mut next) = (vec![], probe.next());
    for came in script {
        match next {
            Next::Send(us, method, _) => sent.push(format!("{method} {}", us.revision)),
            Next::Restart => sent.push("restart".into()),
            other => panic!("nothing more was due: {other:?}"),
        }
        next = if sent.last().is_some_and(|last| last == "restart") { probe.next() } else { probe.came(came) };
    }
    (sent, next)
}

#[test]
fn every_way_to_meet_a_server() {
    let error = |code: i64, supported: &[&str]| {
        ErrorObject::new(code, "no").with_data(&json!({"supported": supported, "requested": "x"}))
    };
    let discover =
        |versions: &[&str]| Came::Answer(Ok(Raw::of(&json!({"supportedVersions": versions, "capabilities": {}}))));
    let initialized = || Came::Answer(Ok(legacy::answer(Some(&legacy::offer(&us())), &profile()).unwrap().1));
    let met = |script| match play(script) {
        (_, Next::Met(meeting)) => meeting.revision,
        other => panic!("{other:?}"),
    };
    assert_eq!(met(vec![discover(&["2026-07-28", "2025-11-25"])]), Revision::LATEST);
    let refusals = vec![
        Came::Answer(Err(error(code::METHOD_NOT_FOUND, &[]))),
        Came::Answer(Err(error(-32000, &[]))),
        Came::Answer(Ok(Raw::EMPTY)),
        Came::Silence,
        Came::Status(404, None),
        Came::Status(400, Some(error(code::INVALID_REQUEST, &[]))),
        Came::Status(404, Some(error(code::METHOD_NOT_FOUND, &[]))),
        Came::Answer(Err(error(code::UNSUPPORTED_VERSION, &["2025-06-18"]))),
        discover(&["2025-11-25"]),
    ];
    for refusal in refusals {
        assert_eq!(met(vec![refusal, initialized()]), Revision::LATEST_LEGACY);
    }
    let again = Came::Answer(Err(error(code::UNSUPPORTED_VERSION, &["2026-07-28", "2099-01-01"])));
    assert_eq!(met(vec![again, discover(&["2026-07-28"])]), Revision::LATEST);
    let (sent, next) = play(vec![Came::End, Came::End, initialized()]);
    assert_eq!(sent, ["server/discover 2026-07-28", "restart", "initialize 2025-11-25"]);
    assert!(matches!(next, Next::Met(_)));
    let (_, next) = play(vec![Came::Silence, Came::Status(405, None)]);
    assert_eq!(next, Next::TwoEndpoints);
    for failure in [
        vec![discover(&["2099-01-01"])],
        vec![Came::Status(503, None)],
        vec![Came::Status(401, None)],
        vec![Came::Answer(Err(error(code::HEADER_MISMATCH, &[])))],
        vec![Came::Answer(Err(error(code::UNSUPPORTED_VERSION, &["2099-01-01"])))],
        vec![Came::Silence, Came::Silence],
        vec![Came::Silence, Came::Answer(Err(error(code::INTERNAL, &[])))],
    ] {
        assert!(matches!(play(failure).1, Next::Failed(_)));
    }
    let locked = Came::Answer(Err(error(code::UNSUPPORTED_VERSION, &["2026-07-28"])));
    assert_eq!(met(vec![Came::Silence, locked, discover(&["2026-07-28"])]), Revision::LATEST);
}

#[test]
fn a_search_for_one_revision_finds_no_other() {
    let refused = || {
        let data = json!({"supported": ["2026-07-28"], "requested": "x"});
        Came::Answer(Err(ErrorObject::new(code::UNSUPPORTED_VERSION, "no").with_data(&data)))
    };
    let newest = || Came::Answer(Ok(legacy::answer(Some(&legacy::offer(&us())), &profile()).unwrap().1));
    for (revision, came) in [
        (Revision::V2025_06_18, refused()),
        (Revision::V2025_06_18, newest()),
        (Revision::V2025_06_18, Came::End),
        (Revision::LATEST, Came::End),
        (Revision::LATEST, Came::Silence),
        (Revision::LATEST, Came::Answer(Ok(Raw::EMPTY))),
    ] {
        let mut probe = Probe::pinned(us(), revision);
        assert!(matches!(probe.next(), Next::Send(us, ..) if us.revision == revision));
        let next = probe.came(came);
        assert!(matches!(next, Next::Failed(_)), "{revision}: {next:?}");
    }
}

// Rule 149: where modes are unknown, declaring elicitation at all promises forms.
#[test]
fn a_client_promises_in_each_revision_only_what_that_revision_means_by_it() {
    let check = |capabilities: serde_json::Value, revision: Revision, expected: &str| {
        let all = Introduction { capabilities: Raw::of(&capabilities), ..us() };
        let promised = all.in_revision(revision).capabilities;
        assert_eq!(format!("{promised:?}"), expected, "{revision}");
    };
    let all = json!({
        "elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {"listChanged": true}, "x": 1.5
    });
    check(all.clone(), Revision::V2025_03_26, r#"{"roots":{"listChanged":true},"sampling":{},"x":1.5}"#);
    check(
        all.clone(),
        Revision::V2025_06_18,
        r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{},"x":1.5}"#,
    );
    check(all, Revision::LATEST, r#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"x":1.5}"#);
    check(json!({"elicitation": {"url": {}}}), Revision::V2025_06_18, "{}");
}

#[test]
fn only_declared_questions_are_admitted() {
    let check = |capabilities: serde_json::Value, method: Method, params: serde_json::Value, good: bool| {
        let client = Introduction { capabilities: Raw::of(&capabilities), ..us() };
        let said = client.admits(&Ask { method, params: Some(Raw::of(&params)) });
        assert_eq!(said.is_ok(), good, "{capabilities} {params}");
        if let Err(fault) = said {
            assert!(matches!(fault, Fault::Unsupported(Unsupported::Capability(_))));
        }
    };
    check(json!({"elicitation": {}}), Method::Elicit, json!({}), true);
    check(json!({"elicitation": {}}), Method::Elicit, json!({"mode": "url"}), false);
    check(json!({"elicitation": {"url": {}}}), Method::Elicit, json!({}), false);
    check(json!({"elicitation": {"url": {}, "form": {}}}), Method::Elicit, json!({"mode": "form"}), true);
    check(json!({"sampling": {}}), Method::CreateMessage, json!({"tools": []}), false);
    check(json!({"sampling": {"tools": {}}}), Method::CreateMessage, json!({"tools": []}), true);
    check(json!({}), Method::RootsList, json!({}), false);
    check(json!({"roots": {}}), Method::ToolsCall, json!({}), false);
    let old = Introduction { capabilities: Raw::of(&json!({"elicitation": {}})), ..us() };
    let old = Introduction { revision: Revision::V2025_03_26, ..old };
    assert!(old.admits(&Ask { method: Method::Elicit, params: None }).is_err());
    drop(Arc::new(old));
}
