//! How calls end before their time: taken back, grown old, lost.

use std::time::Duration;

use toolbay_protocol::{
    Feature,
    peer::{Call, Patience},
};
use toolbay_testkit::{Act, Host, Mood, Service, Trio};

use super::{each_pair, tool};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

// Rules 51, 90, 110, 111 and 198.
#[test]
fn a_cancel_reaches_the_callee_and_nothing_is_answered() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        let call = trio.call(tool("slow"));
        let other = trio.call(tool("slow"));
        trio.play(&mut host, &mut service);
        assert_eq!(service.running(), 2);
        trio.front.client.cancel(call, "enough");
        trio.play(&mut host, &mut service);
        assert_eq!(service.cancelled(), ["slow"], "{caller} to {callee}");
        service.go_on("slow", &mut trio.back.server);
        trio.play(&mut host, &mut service);
        assert!(host.story(call).is_empty(), "{caller} to {callee}");
        assert_eq!(host.story(other), ["done {\"of\":\"slow\"}"], "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}

#[test]
fn a_cancel_that_meets_the_answer_on_its_way_is_let_by() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        let call = trio.call(tool("slow"));
        trio.play(&mut host, &mut service);
        service.go_on("slow", &mut trio.back.server);
        trio.back.settle();
        trio.bridge.carry(&mut trio.front, &mut trio.back);
        trio.front.client.cancel(call, "too late");
        trio.play(&mut host, &mut service);
        assert!(host.story(call).is_empty() && service.cancelled().is_empty(), "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}

// Rule 112.
#[test]
fn a_silent_callee_is_given_up_and_told_so() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        trio.bridge.be_patient(Patience { silence: seconds(30), total: None });
        let call = trio.call(tool("slow"));
        trio.play(&mut host, &mut service);
        trio.wait(seconds(29), &mut host, &mut service);
        assert!(host.story(call).is_empty());
        trio.wait(seconds(1), &mut host, &mut service);
        assert_eq!(host.story(call), ["error -32603"], "{caller} to {callee}: the bridge's patience");
        assert_eq!(service.cancelled(), ["slow"], "{caller} to {callee}");
        let mut impatient = tool("slow");
        impatient.patience.silence = seconds(10);
        let call = trio.call(impatient);
        trio.play(&mut host, &mut service);
        trio.wait(seconds(10), &mut host, &mut service);
        assert_eq!(host.story(call), ["overdue"], "{caller} to {callee}: the caller's patience");
        assert_eq!(service.cancelled().len(), 2, "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}

#[test]
fn progress_renews_every_clock_on_its_way_and_the_total_holds_anyway() {
    let steady =
        [Act::Progress(1.0, ""), Act::Wait, Act::Progress(2.0, ""), Act::Wait, Act::Progress(3.0, ""), Act::Wait];
    each_pair(|caller, callee| {
        let (mut trio, mut host) = (Trio::open(caller, callee).unwrap(), Host::default());
        let mut service = Service::default().with("steady", steady.to_vec());
        trio.bridge.be_patient(Patience { silence: seconds(30), total: None });
        let calls = [None, Some(seconds(45))].map(|total| {
            let call = tool("steady");
            trio.call(Call { patience: Patience { silence: seconds(30), total }, ..call })
        });
        trio.play(&mut host, &mut service);
        for _ in 0..3 {
            trio.wait(seconds(20), &mut host, &mut service);
            service.go_on("steady", &mut trio.back.server);
            trio.play(&mut host, &mut service);
        }
        let [patient, bounded] = calls.map(|call| host.story(call).last().cloned().unwrap());
        assert_eq!(patient, "done {\"of\":\"steady\"}", "{caller} to {callee}");
        assert_eq!(bounded, "overdue", "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}

#[test]
fn the_clock_waits_for_people_but_not_for_ever() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::new(Mood::Waits), Service::default());
        let call = trio.call(tool("sample"));
        trio.play(&mut host, &mut service);
        trio.wait(seconds(300), &mut host, &mut service);
        host.answer(&mut trio.front.client, trio.front.clock.now());
        trio.play(&mut host, &mut service);
        let told = ["ask sampling/createMessage", "done {\"of\":\"sample\"} model=\"m\""];
        assert_eq!(host.story(call), told, "{caller} to {callee}");
        let abandoned = trio.call(tool("sample"));
        trio.play(&mut host, &mut service);
        trio.wait(seconds(1201), &mut host, &mut service);
        trio.bridge.sweep();
        assert_eq!(host.outcomes(abandoned).len(), 1, "{caller} to {callee}: {:?}", host.story(abandoned));
        assert_eq!(service.running(), 0, "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}

/// What came for a caller that was away is handed out when it is back.
#[test]
fn a_callee_that_ends_while_its_caller_fetches_answers_is_heard() {
    each_pair(|caller, callee| {
        if caller.has(Feature::Handshake) || callee.has(Feature::Stateless) {
            return;
        }
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::new(Mood::Waits), Service::default());
        let call = trio.call(tool("sample"));
        trio.play(&mut host, &mut service);
        service.finish(&mut trio.back.server);
        trio.play(&mut host, &mut service);
        assert_eq!(host.story(call), ["ask sampling/createMessage"]);
        host.answer(&mut trio.front.client, trio.front.clock.now());
        trio.play(&mut host, &mut service);
        assert_eq!(host.story(call)[1], "done {\"of\":\"sample\"}", "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}
