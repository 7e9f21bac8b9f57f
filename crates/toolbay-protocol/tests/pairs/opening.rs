//! Who meets whom, and how.

use toolbay_protocol::{ErrorObject, Feature, Frame, Method, Revision, fault::code, frame::Rejected, peer::Call};
use toolbay_testkit::{FakeClock, Host, Narrow, Pair, Refusal, Service, Speaks, Trio, profile, us};

use super::{each_pair, tool};

/// What was sent up before the meeting was over, by method.
fn opening(pair: &Pair) -> Vec<String> {
    let frames = pair.up.log().iter().map(|line| Frame::parse(&line.clone().into()).expect("a frame"));
    frames
        .map(|frame| match frame {
            Frame::Request { method, .. } | Frame::Notification { method, .. } => method.to_string(),
            other => format!("{other:?}"),
        })
        .collect()
}

// Rules 31, 32, 39 to 42.
#[test]
fn a_client_of_all_revisions_meets_a_server_of_any_one() {
    for revision in Revision::ALL {
        let pair = Pair::open(Speaks::Every, Speaks::Only(revision)).unwrap();
        assert_eq!(pair.revision(), revision);
        let legacy = ["server/discover", "initialize", "notifications/initialized"];
        assert_eq!(opening(&pair), if revision.has(Feature::Handshake) { &legacy[..] } else { &legacy[..1] });
        assert_eq!(pair.meeting().profile.instructions.as_deref(), Some("be kind"));
        pair.assert_clean();
    }
}

#[test]
fn a_server_of_all_revisions_is_met_by_a_client_of_any_one() {
    for revision in Revision::ALL {
        let pair = Pair::open(Speaks::Only(revision), Speaks::Every).unwrap();
        assert_eq!(pair.revision(), revision);
        pair.assert_clean();
    }
}

// Rule 32: the fallback is keyed to no code, nor to an answer at all.
#[test]
fn however_a_legacy_server_takes_the_probe_it_is_met() {
    let codes = [code::METHOD_NOT_FOUND, code::INVALID_REQUEST, code::INVALID_PARAMS, code::PARSE, code::INTERNAL];
    let refusals = codes.into_iter().chain([-32000, -32001, 0, 7]).map(Refusal::Code);
    for refusal in refusals.chain([Refusal::Nonsense, Refusal::Silence]) {
        for revision in Revision::ALL.into_iter().filter(|revision| revision.has(Feature::Handshake)) {
            let narrow = Narrow::to(revision).refusing(refusal);
            let mut pair = Pair::strangers(FakeClock::new(), profile("old"), Speaks::Narrowed(narrow));
            assert_eq!(pair.meet(us(), Speaks::Every).unwrap().revision, revision, "{refusal:?}");
            assert_eq!(opening(&pair), ["server/discover", "initialize", "notifications/initialized"]);
            assert_eq!(pair.clock.passed().as_secs(), if refusal == Refusal::Silence { 10 } else { 0 });
            pair.assert_clean();
        }
    }
}

// Rules 38 and 41.
#[test]
fn where_there_is_no_common_ground_both_sides_say_so() {
    let mut pair = Pair::strangers(FakeClock::new(), profile("new"), Speaks::Only(Revision::LATEST));
    let why = pair.meet(us(), Speaks::Only(Revision::V2025_06_18)).unwrap_err();
    assert!(why.contains("2026-07-28") || why.contains("modern"), "{why}");
    for wanted in Revision::ALL.into_iter().filter(|revision| *revision != Revision::V2025_03_26) {
        let mut pair = Pair::strangers(FakeClock::new(), profile("old"), Speaks::Only(Revision::V2025_03_26));
        assert!(pair.meet(us(), Speaks::Only(wanted)).is_err(), "{wanted}");
    }
}

/// A late answer to the probe must not be taken for one to the opening.
#[test]
fn a_late_answer_to_the_probe_is_let_by() {
    let narrow = Narrow::to(Revision::V2024_11_05).refusing(Refusal::Silence);
    let mut pair = Pair::strangers(FakeClock::new(), profile("slow"), Speaks::Narrowed(narrow));
    pair.meet(us(), Speaks::Every).unwrap();
    let error = ErrorObject::new(code::METHOD_NOT_FOUND, "what?");
    pair.down.send(&Frame::reply(toolbay_protocol::Id::Number(1), Err(error)));
    let (mut host, mut service) = (Host::default(), Service::default());
    let call = pair.call(tool("echo"));
    pair.play(&mut host, &mut service);
    assert_eq!((host.story(call), host.strays().len()), (&["done {\"of\":\"echo\"}".to_owned()][..], 1));
    pair.assert_clean();
}

#[test]
fn each_of_five_callers_meets_each_of_five_callees_across_the_bridge() {
    each_pair(|caller, callee| {
        let mut trio = Trio::open(caller, callee).unwrap();
        assert_eq!((trio.front.revision(), trio.back.revision()), (caller, callee));
        trio.assert_clean(&mut Host::default(), &mut Service::default());
    });
}

// Rules 28, 36: eras are told apart message by message.
#[test]
fn both_eras_are_served_on_one_link() {
    let mut pair = Pair::open(Speaks::Only(Revision::V2025_06_18), Speaks::Every).unwrap();
    let (mut host, mut service) = (Host::default(), Service::default());
    let session = pair.server.session().cloned();
    pair.client.introduce(us().into());
    let modern = pair.call(tool("echo"));
    pair.client.introduce(us().in_revision(Revision::V2025_06_18).into());
    let legacy = pair.call(tool("echo"));
    pair.play(&mut host, &mut service);
    for call in [modern, legacy] {
        assert_eq!(host.story(call), ["done {\"of\":\"echo\"}"]);
    }
    assert!(host.outcomes(modern)[0].as_ref().unwrap().get("resultType").is_some());
    assert!(host.outcomes(legacy)[0].as_ref().unwrap().get("resultType").is_none());
    assert_eq!(pair.server.session().cloned(), session);
}

/// An answer that cannot be read ends the probe as any other refusal does.
#[test]
fn a_server_that_answers_the_probe_with_rubbish_is_met() {
    let mut client = toolbay_protocol::peer::Client::new(us().into());
    let now = FakeClock::new().now();
    client.call(toolbay_protocol::peer::CallId(1), Call::new(Method::Discover, None), now);
    let fault = toolbay_protocol::Fault::envelope("neither");
    client.receive(Err(Rejected { id: Some(toolbay_protocol::Id::Number(1)), fault }), now);
    assert!(matches!(
        client.event(),
        Some(toolbay_protocol::peer::ClientEvent::Step(_, toolbay_protocol::exchange::Step::Done(Err(_))))
    ));
}
