//! Random operations over good and bad links. Whatever befalls a call: nobody panics, it ends once, and not with
//! somebody else's outcome; and when all is over, nobody remembers anything.

use std::{collections::BTreeMap, time::Duration};

use serde_json::json;
use toolbay_protocol::{
    Feature, Method, Raw, Revision,
    exchange::{Note, Wishes},
    peer::{Call, CallId, Patience},
    watch::{Change, Filter},
};
use toolbay_testkit::{Act, Faults, Host, Mood, Pair, Rng, Service, Speaks, Trio};

const TOOLS: [&str; 11] = [
    "echo",
    "slow",
    "progress",
    "log",
    "ask",
    "sample",
    "ask_both",
    "ask_twice",
    "come_back",
    "asks_and_waits",
    "none",
];

/// What a caller remembers of its calls.
#[derive(Default)]
struct Calls {
    begun: BTreeMap<CallId, u64>,
    taken_back: Vec<CallId>,
}

impl Calls {
    fn one(&mut self, rng: &mut Rng) -> (u64, Call) {
        let mark = rng.number() >> 1;
        let mut arguments = rng.object(2);
        arguments.insert("mark".into(), json!(mark));
        let params = json!({"name": rng.pick(&TOOLS), "arguments": arguments});
        let silence = Duration::from_secs(1 + rng.number() % 90);
        let total = rng.chance(300).then(|| Duration::from_secs(1 + rng.number() % 200));
        let wishes = Wishes { log_level: rng.chance(500).then(|| "info".into()), ..Wishes::default() };
        let wishes = if rng.chance(500) { Wishes { progress: Wishes::progress().progress, ..wishes } } else { wishes };
        let patience = Patience { silence, total };
        (mark, Call { wishes, patience, ..Call::new(Method::ToolsCall, Some(Raw::of(&params))) })
    }

    fn any(&self, rng: &mut Rng) -> Option<CallId> {
        let calls: Vec<_> = self.begun.keys().collect();
        (!calls.is_empty()).then(|| **rng.pick(&calls))
    }

    /// Each call ended once, with its own outcome, an error, or not at all where it was taken back.
    fn judge(&self, host: &Host, seed: u64) -> (usize, usize) {
        let (mut good, mut bad) = (0, 0);
        for (call, mark) in &self.begun {
            let ends = host.outcomes(*call);
            let expected = if self.taken_back.contains(call) { 0..=1 } else { 1..=1 };
            assert!(expected.contains(&ends.len()), "seed {seed}, {call:?}: {ends:?} {:?}", host.story(*call));
            for end in ends {
                match end {
                    Ok(result) => {
                        good += 1;
                        let own = format!("\\\"mark\\\":{mark}");
                        assert!(format!("{result:?}").contains(&own), "seed {seed}, {call:?}: {result:?} lacks {own}");
                    }
                    Err(_) => bad += 1,
                }
            }
        }
        (good, bad)
    }
}

fn service() -> Service {
    let plan =
        vec![Act::elicit("x", "X?"), Act::Progress(1.0, "asked"), Act::Wait, Act::Log("error"), Act::elicit("y", "Y?")];
    Service::default().with("asks_and_waits", plan)
}

fn faults(rng: &mut Rng) -> Faults {
    match rng.below(4) {
        0 => Faults::default(),
        1 => Faults { overtaken: 500, doubled: 200, ..Faults::default() },
        2 => Faults { lost: 300, ..Faults::all() },
        _ => Faults::all(),
    }
}

fn mood(rng: &mut Rng) -> Mood {
    *rng.pick(&[Mood::Answers, Mood::Refuses, Mood::Waits])
}

fn change(rng: &mut Rng) -> Change {
    rng.pick(&[Change::Tools, Change::Prompts, Change::Resources, Change::Updated("mem:a".into())]).clone()
}

fn note(rng: &mut Rng) -> Note {
    let method = Method::parse(rng.pick::<&str>(&[
        "notifications/roots/list_changed",
        "notifications/unheard_of",
        "notifications/initialized",
    ]));
    Note { method, params: Some(Raw::of(&rng.object(2))) }
}

/// A line that was sent before comes once more, however long ago it was.
fn echo(rng: &mut Rng, pair: &mut Pair) {
    let wire = if rng.chance(500) { &mut pair.up } else { &mut pair.down };
    // The opening is not repeated: another client's would be another link.
    if wire.log().len() > 4 {
        let line = wire.log()[4 + rng.below(wire.log().len() - 4)].clone();
        wire.put(line.into());
    }
}

fn run_pair(seed: u64) -> (usize, usize) {
    let rng = &mut Rng::new(seed);
    let revision = *rng.pick(&Revision::ALL);
    let mut pair = Pair::open(Speaks::Only(revision), Speaks::Every).expect("they meet");
    let faults = faults(rng);
    pair.up.spoil(faults, Rng::new(seed ^ 1));
    pair.down.spoil(faults, Rng::new(seed ^ 2));
    let (mut host, mut service, mut calls) = (Host::new(mood(rng)), service(), Calls::default());
    for _ in 0..rng.below(150) {
        match rng.below(12) {
            0..=2 => {
                let (mark, call) = calls.one(rng);
                calls.begun.insert(pair.call(call), mark);
            }
            3 => {
                if let Some(call) = calls.any(rng) {
                    pair.client.cancel(call, "by chance");
                    calls.taken_back.push(call);
                }
            }
            4 => service.go_on(rng.pick::<&str>(&TOOLS), &mut pair.server),
            5 => {
                pair.clock.advance(Duration::from_secs(rng.number() % 40));
                pair.client.expire(pair.clock.now());
            }
            6 => pair.client.tell(note(rng)),
            7 => service.change(&change(rng), &mut pair.server),
            8 => host.answer(&mut pair.client, pair.clock.now()),
            9 if rng.chance(300) => echo(rng, &mut pair),
            10 => {
                service.serve(&mut pair.server);
            }
            _ => {
                host.hear(&mut pair.client, pair.clock.now());
            }
        }
        for _ in 0..rng.below(3) {
            pair.step();
        }
    }
    pair.up.mend();
    pair.down.mend();
    pair.play(&mut host, &mut service);
    for _ in 0..8 {
        host.answer(&mut pair.client, pair.clock.now());
        service.finish(&mut pair.server);
        pair.play(&mut host, &mut service);
        pair.wait(Duration::from_secs(700));
        pair.play(&mut host, &mut service);
    }
    pair.assert_clean();
    calls.judge(&host, seed)
}

fn run_trio(seed: u64) -> (usize, usize) {
    let rng = &mut Rng::new(seed);
    let (caller, callee) = (*rng.pick(&Revision::ALL), *rng.pick(&Revision::ALL));
    let mut trio = Trio::open(caller, callee).expect("they meet");
    let (mut host, mut service, mut calls) = (Host::new(mood(rng)), service(), Calls::default());
    trio.play(&mut host, &mut service);
    let faults = faults(rng);
    for (place, wire) in
        [&mut trio.front.up, &mut trio.front.down, &mut trio.back.up, &mut trio.back.down].into_iter().enumerate()
    {
        wire.spoil(faults, Rng::new(seed ^ place as u64));
    }
    for _ in 0..rng.below(150) {
        match rng.below(12) {
            0..=2 => {
                let (mark, call) = calls.one(rng);
                calls.begun.insert(trio.call(call), mark);
            }
            3 => {
                if let Some(call) = calls.any(rng) {
                    trio.front.client.cancel(call, "by chance");
                    calls.taken_back.push(call);
                }
            }
            4 => service.go_on(rng.pick::<&str>(&TOOLS), &mut trio.back.server),
            5 => {
                trio.front.clock.advance(Duration::from_secs(rng.number() % 40));
                trio.front.client.expire(trio.front.clock.now());
                trio.back.client.expire(trio.back.clock.now());
            }
            6 => service.change(&change(rng), &mut trio.back.server),
            7 => host.answer(&mut trio.front.client, trio.front.clock.now()),
            8 if rng.chance(100) && caller.has(Feature::Stateless) => {
                trio.call(Call::new(Method::Listen, Some(Filter::resource("mem:a").write())));
            }
            9 => {
                trio.bridge.carry(&mut trio.front, &mut trio.back);
            }
            10 => {
                service.serve(&mut trio.back.server);
            }
            _ => {
                host.hear(&mut trio.front.client, trio.front.clock.now());
            }
        }
        for _ in 0..rng.below(3) {
            trio.front.step();
            trio.back.step();
        }
    }
    for wire in [&mut trio.front.up, &mut trio.front.down, &mut trio.back.up, &mut trio.back.down] {
        wire.mend();
    }
    trio.play(&mut host, &mut service);
    for _ in 0..8 {
        host.answer(&mut trio.front.client, trio.front.clock.now());
        service.finish(&mut trio.back.server);
        trio.wait(Duration::from_secs(700), &mut host, &mut service);
        trio.bridge.sweep();
    }
    trio.assert_clean(&mut host, &mut service);
    calls.judge(&host, seed)
}

/// The same line with some bytes changed, moved, lost or doubled.
fn mangled(line: &str, rng: &mut Rng) -> Vec<u8> {
    let mut text = line.as_bytes().to_vec();
    for _ in 0..=rng.below(4) {
        let (from, to) = (rng.below(text.len()), rng.below(text.len()));
        match rng.below(5) {
            0 if !text.is_empty() => text[from] = *rng.pick(b"0123456789\"{}[],:\\ntf-.\xff\x00"),
            1 if !text.is_empty() => drop(text.remove(from)),
            2 => text.insert(from, *rng.pick(b"{}[],:\"0")),
            3 if from < to => drop(text.drain(from..to)),
            _ if from < to => text.extend_from_within(from..to),
            _ => text.truncate(from.max(1)),
        }
    }
    text
}

/// What may mean anything may end anything; but it panics nobody, and nobody remembers it for ever.
fn run_bytes(seed: u64) -> (usize, usize) {
    let rng = &mut Rng::new(seed);
    let revision = *rng.pick(&Revision::ALL);
    let mut pair = Pair::open(Speaks::Only(revision), Speaks::Every).expect("they meet");
    let (mut host, mut service, mut calls) = (Host::new(mood(rng)), service(), Calls::default());
    for _ in 0..rng.below(40) {
        let (mark, call) = calls.one(rng);
        calls.begun.insert(pair.call(call), mark);
        pair.play(&mut host, &mut service);
        for wire in [&mut pair.up, &mut pair.down] {
            let line = rng.pick(wire.log()).clone();
            wire.put(mangled(&line, rng).into());
        }
        pair.play(&mut host, &mut service);
    }
    for _ in 0..8 {
        host.answer(&mut pair.client, pair.clock.now());
        service.finish(&mut pair.server);
        pair.play(&mut host, &mut service);
        pair.wait(Duration::from_secs(700));
        pair.play(&mut host, &mut service);
    }
    assert!(pair.client.is_idle() && pair.server.is_idle(), "{:?} {:?}", pair.client, pair.server);
    let ends = calls.begun.keys().map(|call| host.outcomes(*call));
    ends.fold((0, 0), |(good, bad), ends| {
        assert_eq!(ends.len(), 1, "{ends:?}");
        if ends[0].is_ok() { (good + 1, bad) } else { (good, bad + 1) }
    })
}

fn run(seeds: std::ops::Range<u64>, one: fn(u64) -> (usize, usize)) {
    let (mut good, mut bad) = (0, 0);
    for seed in seeds {
        let ends = std::panic::catch_unwind(|| one(seed)).unwrap_or_else(|_| panic!("seed {seed}"));
        (good, bad) = (good + ends.0, bad + ends.1);
    }
    assert!(good > 100 && bad > 100, "{good} good ends and {bad} bad ones are too few to show anything");
}

#[test]
fn two_peers_survive_whatever_befalls_their_link() {
    run(0..300, run_pair);
}

#[test]
fn three_parties_survive_whatever_befalls_their_links() {
    run(1000..1220, run_trio);
}

#[test]
fn bytes_of_any_kind_are_survived() {
    run(2000..2120, run_bytes);
}
