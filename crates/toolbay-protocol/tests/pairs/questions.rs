//! What callees ask: one thing, several at once, over two rounds, in vain, too late.

use serde_json::json;
use toolbay_protocol::{Feature, Frame, Revision, peer::CallId};
use toolbay_testkit::{Act, Host, Mood, Service, Trio, capable};

use super::{each_pair, tool};

/// A modern caller is never sent a request, and never answers one.
fn assert_no_requests_to_a_modern_caller(trio: &Trio) {
    if trio.front.revision().has(Feature::Stateless) {
        for line in trio.front.down.log() {
            let frame = Frame::parse(&line.clone().into()).expect("a frame");
            assert!(!matches!(frame, Frame::Request { .. }), "{line}");
        }
    }
}

fn play(caller: Revision, callee: Revision, host: &mut Host, name: &str) -> Vec<String> {
    let (mut trio, mut service) = (Trio::open(caller, callee).expect("they meet"), Service::default());
    let call = trio.call(tool(name));
    trio.play(host, &mut service);
    assert_no_requests_to_a_modern_caller(&trio);
    if service.running() > 0 {
        // A caller of the modern era has no word to a bridge for "no": it just does not come back.
        assert!(caller.has(Feature::Stateless) && callee.has(Feature::Handshake), "{caller} to {callee}");
        trio.wait(std::time::Duration::from_secs(601), host, &mut service);
        trio.bridge.sweep();
    }
    assert_eq!(service.running(), 0, "{caller} to {callee}: {:?}", host.story(call));
    trio.assert_clean(host, &mut service);
    host.story(call).to_vec()
}

// Rules 194 and 195: one story in all pairs.
#[test]
fn one_question_is_asked_and_answered_in_every_pair() {
    each_pair(|caller, callee| {
        let story = play(caller, callee, &mut Host::default(), "sample");
        let told = ["ask sampling/createMessage", "done {\"of\":\"sample\"} model=\"m\""];
        assert_eq!(story, told, "{caller} to {callee}");
        let story = play(caller, callee, &mut Host::default(), "ask");
        let both = caller.has(Feature::Elicitation) && callee.has(Feature::Elicitation);
        match (both, callee.has(Feature::Stateless)) {
            (true, _) => assert_eq!(story, ["ask elicitation/create Who?", "done {\"of\":\"ask\"} name=\"accept\""]),
            // A modern callee has no other word for it.
            (false, true) => assert_eq!(story, ["done {\"of\":\"ask\"} name=\"cancel\""]),
            (false, false) => assert_eq!(story.len(), 1, "{caller} to {callee}: {story:?}"),
        }
    });
}

// Rule 101.
#[test]
fn several_questions_at_once_are_answered_together() {
    each_pair(|caller, callee| {
        let mut story = play(caller, callee, &mut Host::default(), "ask_both");
        let done = story.pop().unwrap();
        story.sort();
        assert_eq!(story, ["ask roots/list", "ask sampling/createMessage"], "{caller} to {callee}");
        assert!(done.contains("model=\"m\"") && done.contains("roots=[{\"uri\":\"file:///r\"}]"), "{done}");
    });
}

// Rules 101, 102.
#[test]
fn a_second_round_knows_what_the_first_one_brought() {
    each_pair(|caller, callee| {
        let story = play(caller, callee, &mut Host::default(), "ask_twice");
        let told = [
            "ask roots/list",
            "ask sampling/createMessage",
            "done {\"of\":\"ask_twice\"} roots=[{\"uri\":\"file:///r\"}] model=\"m\"",
        ];
        assert_eq!(story, told, "{caller} to {callee}");
    });
}

#[test]
fn prompts_and_resources_may_ask_too() {
    each_pair(|caller, callee| {
        for (method, key, name) in [("prompts/get", "name", "sample"), ("resources/read", "uri", "mem:sample")] {
            let (mut trio, mut host, mut service) =
                (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
            let params = toolbay_protocol::Raw::of(&json!({key: name}));
            let call =
                trio.call(toolbay_protocol::peer::Call::new(toolbay_protocol::Method::parse(method), Some(params)));
            trio.play(&mut host, &mut service);
            assert_eq!(host.story(call), ["ask sampling/createMessage", "done model=\"m\""], "{caller} to {callee}");
            trio.assert_clean(&mut host, &mut service);
        }
    });
}

/// A callee that wants nothing but another try is tried again, with a bound.
#[test]
fn a_callee_that_says_come_back_is_come_back_to() {
    each_pair(|caller, callee| {
        assert_eq!(play(caller, callee, &mut Host::default(), "come_back"), ["done {\"of\":\"come_back\"}"]);
        let (mut trio, mut host) = (Trio::open(caller, callee).unwrap(), Host::new(Mood::Waits));
        let mut service = Service::default().with("for ever", vec![Act::ComeBack; 50]);
        let call = trio.call(tool("for ever"));
        for _ in 0..40 {
            trio.play(&mut host, &mut service);
            host.answer(&mut trio.front.client, trio.front.clock.now());
        }
        match (caller.has(Feature::Handshake), callee.has(Feature::Handshake)) {
            (true, false) => assert_eq!(host.story(call), ["error -32603"], "the bridge's patience ends"),
            (false, false) => assert!(host.outcomes(call).is_empty(), "the caller's own patience decides"),
            (_, true) => assert_eq!(host.outcomes(call).len(), 1),
        }
        trio.front.client.cancel(call, "enough");
        trio.assert_clean(&mut host, &mut service);
    });
}

#[test]
fn a_refusal_reaches_whoever_asked() {
    each_pair(|caller, callee| {
        let story = play(caller, callee, &mut Host::new(Mood::Refuses), "sample");
        assert_eq!(story[0], "ask sampling/createMessage");
        match (caller.has(Feature::Handshake), callee.has(Feature::Handshake)) {
            (true, true) => assert_eq!(story[1], "done {\"of\":\"sample\"} model=error -1"),
            // A round of the modern era has no place for an error: the call fails with it.
            (true, false) | (false, _) => assert_eq!(story[1], "error -1", "{caller} to {callee}"),
        }
        if caller.has(Feature::Elicitation) && callee.has(Feature::Elicitation) {
            let story = play(caller, callee, &mut Host::new(Mood::Refuses), "ask");
            let said = if caller.has(Feature::Stateless) || callee.has(Feature::Stateless) {
                "\"cancel\""
            } else {
                "error -1"
            };
            assert_eq!(story[1], format!("done {{\"of\":\"ask\"}} name={said}"), "{caller} to {callee}");
        }
    });
}

// Rules 23, 43, 97 and 149: a caller is never asked what it did not declare.
#[test]
fn what_the_caller_did_not_declare_it_is_not_asked() {
    each_pair(|caller, callee| {
        let us = capable(&json!({"roots": {}, "elicitation": {"form": {}}}));
        let (mut trio, mut service) = (Trio::with(us, caller, callee).unwrap(), Service::default());
        let mut host = Host::default();
        let sample = trio.call(tool("sample"));
        let both = trio.call(tool("ask_both"));
        trio.play(&mut host, &mut service);
        for call in [sample, both] {
            assert_eq!(host.outcomes(call).len(), 1, "{caller} to {callee}");
            assert!(!host.story(call).iter().any(|told| told.contains("sampling")), "{caller} to {callee}");
        }
        assert!(!trio.front.down.log().iter().any(|line| line.contains("sampling/createMessage")));
        trio.assert_clean(&mut host, &mut service);
    });
}

#[test]
fn a_question_of_no_call_of_a_caller_that_comes_back_is_refused() {
    for caller in Revision::ALL {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, Revision::LATEST_LEGACY).unwrap(), Host::default(), Service::default());
        let line = br#"{"jsonrpc":"2.0","id":900,"method":"roots/list"}"#;
        trio.back.down.put(line.as_slice().into());
        trio.play(&mut host, &mut service);
        let answer = trio.back.up.log().last().unwrap();
        assert!(answer.contains("\"id\":900") && answer.contains("\"error\""), "{answer}");
        assert!(host.asked().is_empty());
    }
}

// Rule 111: late answers are let by.
#[test]
fn answers_after_the_cancel_reach_nobody() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::new(Mood::Waits), Service::default());
        let call = trio.call(tool("ask_both"));
        trio.play(&mut host, &mut service);
        assert!(!host.waiting().is_empty());
        trio.front.client.cancel(call, "the caller left");
        host.answer(&mut trio.front.client, trio.front.clock.now());
        trio.play(&mut host, &mut service);
        assert!(host.outcomes(call).is_empty(), "{caller} to {callee}");
        // Between two rounds nothing is in flight to be taken back: a bridge learns of it by its own clock.
        trio.wait(std::time::Duration::from_secs(601), &mut host, &mut service);
        trio.bridge.sweep();
        assert_eq!(service.running(), 0, "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}

// Rules 98 to 100, as far as a bridge without a seal can hold them.
#[test]
fn a_caller_that_brings_back_what_nobody_gave_it_is_refused() {
    for callee in Revision::ALL {
        let (mut trio, mut host, mut service) =
            (Trio::open(Revision::LATEST, callee).unwrap(), Host::default(), Service::default());
        let mut forged = tool("sample");
        forged.returning.state = Some(toolbay_protocol::Raw::of("forged"));
        let call = trio.call(forged);
        trio.play(&mut host, &mut service);
        assert_eq!(host.story(call), ["error -32602"], "{callee}");
        trio.assert_clean(&mut host, &mut service);
    }
}

#[test]
fn missing_answers_are_asked_for_again() {
    for callee in Revision::ALL.into_iter().filter(|revision| revision.has(Feature::Handshake)) {
        let (mut trio, mut host, mut service) =
            (Trio::open(Revision::LATEST, callee).unwrap(), Host::new(Mood::Waits), Service::default());
        let call: CallId = trio.call(tool("ask_both"));
        trio.play(&mut host, &mut service);
        trio.front.client.answer(call, toolbay_protocol::exchange::Answers::default(), trio.front.clock.now());
        trio.play(&mut host, &mut service);
        assert_eq!(host.story(call).len(), 4, "both were asked twice: {:?}", host.story(call));
        host.answer(&mut trio.front.client, trio.front.clock.now());
        trio.play(&mut host, &mut service);
        assert_eq!(host.outcomes(call).len(), 1, "{callee}");
        trio.assert_clean(&mut host, &mut service);
    }
}
