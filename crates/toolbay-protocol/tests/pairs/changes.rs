//! Being told of changes: notifications of a session, subscriptions of the modern era, and one for the other.

use serde_json::json;
use toolbay_protocol::{
    Feature, Method, Raw,
    exchange::Note,
    peer::{Call, CallId},
    watch::{Change, Filter, legacy},
};
use toolbay_testkit::{Host, Service, Trio};

use super::{each_pair, tool};

/// Has the caller want to know of all lists and of one resource; the call that a modern one listens with.
fn subscribe(trio: &mut Trio, host: &mut Host, service: &mut Service) -> Option<CallId> {
    let listening = if trio.front.revision().has(Feature::Stateless) {
        let filter = Filter { uris: ["mem:a".to_owned()].into(), ..Filter::lists() };
        Some(trio.call(Call::new(Method::Listen, Some(filter.write()))))
    } else {
        trio.call(Call::new(Method::Subscribe, Some(legacy::about("mem:a"))));
        None
    };
    trio.play(host, service);
    listening
}

fn tell(trio: &mut Trio, host: &mut Host, service: &mut Service) {
    for change in [
        Change::Tools,
        Change::Prompts,
        Change::Resources,
        Change::Updated("mem:a".into()),
        Change::Updated("mem:b".into()),
    ] {
        service.change(&change, &mut trio.back.server);
        trio.play(host, service);
    }
}

fn heard(host: &Host, listening: Option<CallId>) -> Vec<String> {
    match listening {
        Some(call) => host.story(call).to_vec(),
        None => host.notes().iter().map(|note| note.method.to_string()).collect(),
    }
}

const CHANGES: [&str; 4] = [
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
];

// Rules 104 to 106, 142 and 197.
#[test]
fn changes_reach_whoever_wants_to_know_in_every_pair() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        let listening = subscribe(&mut trio, &mut host, &mut service);
        tell(&mut trio, &mut host, &mut service);
        let mut expected = CHANGES.to_vec();
        if listening.is_some() {
            expected.insert(0, "notifications/subscriptions/acknowledged");
        }
        assert_eq!(heard(&host, listening), expected, "{caller} to {callee}");
        // And no more, once it is taken back.
        match listening {
            Some(call) => trio.front.client.cancel(call, "enough"),
            None => drop(trio.call(Call::new(Method::Unsubscribe, Some(legacy::about("mem:a"))))),
        }
        trio.play(&mut host, &mut service);
        let before = heard(&host, listening).len();
        tell(&mut trio, &mut host, &mut service);
        let lists = if listening.is_some() { 0 } else { 3 };
        assert_eq!(heard(&host, listening).len() - before, lists, "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}

#[test]
fn a_caller_that_asked_for_nothing_is_told_what_its_revision_tells_unasked() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        trio.play(&mut host, &mut service);
        tell(&mut trio, &mut host, &mut service);
        let expected = if caller.has(Feature::Handshake) { &CHANGES[..3] } else { &[] };
        assert_eq!(heard(&host, None), expected, "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}

// Rules 52, 104 and 109.
#[test]
fn two_subscriptions_hear_each_what_it_wants_under_its_own_id() {
    each_pair(|caller, callee| {
        if caller.has(Feature::Handshake) {
            return;
        }
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        let tools = Filter { tools: true, ..Filter::default() };
        let tools = trio.call(Call::new(Method::Listen, Some(tools.write())));
        let one = trio.call(Call::new(Method::Listen, Some(Filter::resource("mem:b").write())));
        trio.play(&mut host, &mut service);
        tell(&mut trio, &mut host, &mut service);
        assert_eq!(host.story(tools)[1..], [CHANGES[0]], "{caller} to {callee}");
        assert_eq!(host.story(one)[1..], [CHANGES[3]], "{caller} to {callee}");
        assert!(host.notes().is_empty() && host.strays().is_empty());
        for call in [tools, one] {
            trio.front.client.cancel(call, "enough");
        }
        trio.assert_clean(&mut host, &mut service);
    });
}

// Rule 108.
#[test]
fn a_subscription_hears_neither_progress_nor_log_lines() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        let listening = subscribe(&mut trio, &mut host, &mut service);
        let call = trio.call(tool("log"));
        trio.play(&mut host, &mut service);
        assert_eq!(host.outcomes(call).len(), 1, "{caller} to {callee}");
        if let Some(listening) = listening {
            assert_eq!(host.story(listening).len(), 1, "{caller} to {callee}");
            trio.front.client.cancel(listening, "enough");
        }
        trio.assert_clean(&mut host, &mut service);
    });
}

// Rule 107.
#[test]
fn the_end_of_a_subscription_is_heard_once() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        service.end_listening(&mut trio.back.server);
        let mut direct =
            toolbay_testkit::Pair::open(toolbay_testkit::Speaks::Only(caller), toolbay_testkit::Speaks::Every).unwrap();
        if caller.has(Feature::Stateless) {
            let call = direct.call(Call::new(Method::Listen, Some(Filter::lists().write())));
            direct.play(&mut host, &mut service);
            service.end_listening(&mut direct.server);
            direct.play(&mut host, &mut service);
            assert_eq!(host.outcomes(call).len(), 1);
            direct.assert_clean();
        }
        trio.assert_clean(&mut Host::default(), &mut Service::default());
    });
}

// Rule 164.
#[test]
fn changed_roots_reach_callees_that_know_of_them() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        trio.front.client.tell(Note { method: Method::RootsChanged, params: Some(Raw::of(&json!({}))) });
        trio.play(&mut host, &mut service);
        let told = service.notes().iter().filter(|note| note.method == Method::RootsChanged).count();
        let both = caller.has(Feature::Handshake) && callee.has(Feature::Handshake);
        assert!(
            told == usize::from(both) || (caller.has(Feature::Stateless) && callee.has(Feature::Handshake)),
            "{caller} to {callee}: {told}"
        );
    });
}
