//! Any sequence of doings of a client, a server, the wires between them and the clock: nobody panics, each call ends
//! once, and when all is over nobody remembers anything.

use std::{collections::BTreeMap, time::Duration};

use arbitrary::{Arbitrary, Unstructured};
use serde_json::json;
use toolbay_protocol::{
    Method, Raw, Revision,
    exchange::{Note, Wishes},
    peer::{Call, CallId, Patience},
    watch::{Change, Filter, legacy},
};
use toolbay_testkit::{Act, Faults, Host, Mood, Pair, Rng, Service, Speaks};

/// As many doings as one input may hold.
const MOST: usize = 200;

const TOOLS: [&str; 13] = [
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
    "fail",
    "lost",
    "none",
];

#[derive(Arbitrary, Debug)]
enum Op<'a> {
    Call {
        tool: u8,
        silence: u8,
        total: Option<u8>,
        progress: bool,
        log: bool,
    },
    Ask(Other),
    Cancel(u8),
    GoOn(u8),
    Pass(u8),
    Tell(u8),
    Change(u8),
    Answer,
    Serve,
    Hear,
    Carry(u8),
    /// A line comes once more.
    Echo {
        up: bool,
        which: u8,
    },
    /// A line comes once more, changed.
    Garble {
        up: bool,
        which: u8,
        at: u8,
        with: &'a [u8],
    },
    /// A line that nobody sent.
    Raw {
        up: bool,
        line: &'a [u8],
    },
    /// The wires turn bad, or good.
    Spoil {
        lost: u8,
        doubled: u8,
        overtaken: u8,
        seed: u8,
    },
    Mend,
    Cut {
        up: bool,
    },
}

/// Requests beside the calls of tools.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Other {
    Tools,
    Prompt,
    Read,
    Subscribe,
    Listen,
    Ping,
    Level,
    Unheard,
}

impl Other {
    fn call(self) -> Call {
        let named = |method, params| Call::new(method, Some(Raw::of(&params)));
        match self {
            Self::Tools => Call::new(Method::ToolsList, None),
            Self::Prompt => named(Method::PromptsGet, json!({"name": "echo"})),
            Self::Read => named(Method::ResourcesRead, json!({"uri": "mem:ask"})),
            Self::Subscribe => Call::new(Method::Subscribe, Some(legacy::about("mem:a"))),
            Self::Listen => Call::new(Method::Listen, Some(Filter::resource("mem:a").write())),
            Self::Ping => Call::new(Method::Ping, None),
            Self::Level => named(Method::SetLevel, json!({"level": "info"})),
            Self::Unheard => named(Method::parse("no/such"), json!({})),
        }
    }
}

/// Two peers, the people behind them, and what the caller remembers.
struct Play {
    pair: Pair,
    host: Host,
    service: Service,
    /// Calls with what tells their outcome from others'.
    begun: BTreeMap<CallId, Option<u64>>,
    taken_back: Vec<CallId>,
    /// Whether anything came that neither side sent: then outcomes may be anybody's.
    foreign: bool,
}

/// A revision, a mood, and doings.
pub fn peer_ops(data: &[u8]) {
    let mut source = Unstructured::new(data);
    let Ok(mut play) = begin(&mut source) else { return };
    for _ in 0..MOST {
        let Ok(op) = Op::arbitrary(&mut source) else { break };
        play.act(op);
        if source.is_empty() {
            break;
        }
    }
    play.end();
}

fn begin(source: &mut Unstructured<'_>) -> arbitrary::Result<Play> {
    let revision = *source.choose(&Revision::ALL)?;
    let mood = *source.choose(&[Mood::Answers, Mood::Refuses, Mood::Waits])?;
    let pair = Pair::open(Speaks::Only(revision), Speaks::Every).expect("they meet");
    let plan =
        vec![Act::elicit("x", "X?"), Act::Progress(1.0, "asked"), Act::Wait, Act::Log("error"), Act::elicit("y", "Y?")];
    let service = Service::default().with("asks_and_waits", plan);
    Ok(Play { pair, host: Host::new(mood), service, begun: BTreeMap::new(), taken_back: vec![], foreign: false })
}

impl Play {
    fn act(&mut self, op: Op<'_>) {
        let Self { pair, host, service, .. } = self;
        let now = pair.clock.now();
        match op {
            Op::Call { tool, silence, total, progress, log } => self.call(tool, silence, total, progress, log),
            Op::Ask(other) => drop(self.begun.insert(pair.call(other.call()), None)),
            Op::Cancel(which) => {
                let calls: Vec<_> = self.begun.keys().copied().collect();
                if let Some(call) = pick(&calls, which) {
                    pair.client.cancel(*call, "enough");
                    self.taken_back.push(*call);
                }
            }
            Op::GoOn(tool) => service.go_on(TOOLS[usize::from(tool) % TOOLS.len()], &mut pair.server),
            Op::Pass(seconds) => {
                pair.clock.advance(Duration::from_secs(seconds.into()));
                pair.client.expire(pair.clock.now());
            }
            Op::Tell(which) => {
                let notes = [Method::RootsChanged, Method::Initialized, Method::parse("notifications/unheard_of")];
                let method = notes[usize::from(which) % notes.len()].clone();
                pair.client.tell(Note { method, params: Some(Raw::of(&json!({"which": which}))) });
            }
            Op::Change(which) => {
                let changes = [Change::Tools, Change::Prompts, Change::Resources, Change::Updated("mem:a".into())];
                service.change(&changes[usize::from(which) % changes.len()], &mut pair.server);
            }
            Op::Answer => host.answer(&mut pair.client, now),
            Op::Serve => drop(service.serve(&mut pair.server)),
            Op::Hear => drop(host.hear(&mut pair.client, now)),
            Op::Carry(steps) => drop((0..steps % 8).map(|_| pair.step()).collect::<Vec<_>>()),
            Op::Echo { up, which } => {
                if let Some(line) = self.said(up, which) {
                    self.foist(up, line);
                }
            }
            Op::Garble { up, which, at, with } => {
                self.foreign = true;
                let mut line = self.said(up, which).unwrap_or_default();
                let at = usize::from(at).min(line.len());
                let end = (at + with.len()).min(line.len());
                drop(line.splice(at..end, with.iter().copied()));
                self.foist(up, line);
            }
            Op::Raw { up, line } => {
                self.foreign = true;
                self.foist(up, line.to_vec());
            }
            Op::Spoil { lost, doubled, overtaken, seed } => {
                let faults = Faults {
                    lost: lost.into(),
                    doubled: doubled.into(),
                    overtaken: overtaken.into(),
                    ..Faults::default()
                };
                pair.up.spoil(faults, Rng::new(seed.into()));
                pair.down.spoil(faults, Rng::new(u64::from(seed) + 256));
            }
            Op::Mend => self.mend(),
            Op::Cut { up } => {
                if up {
                    pair.up.cut()
                } else {
                    pair.down.cut()
                }
            }
        }
    }

    fn call(&mut self, tool: u8, silence: u8, total: Option<u8>, progress: bool, log: bool) {
        let mark = self.begun.len() as u64 * 1_000_003 + 7;
        let params = json!({"name": TOOLS[usize::from(tool) % TOOLS.len()], "arguments": {"mark": mark}});
        let wishes = if progress { Wishes::progress() } else { Wishes::default() };
        let wishes = Wishes { log_level: log.then(|| "info".into()), ..wishes };
        let seconds = |count: u8| Duration::from_secs(1 + u64::from(count));
        let patience = Patience { silence: seconds(silence), total: total.map(seconds) };
        let call = Call { wishes, patience, ..Call::new(Method::ToolsCall, Some(Raw::of(&params))) };
        self.begun.insert(self.pair.call(call), Some(mark));
    }

    /// Puts a line on a wire that its sender did not put there.
    fn foist(&mut self, up: bool, line: Vec<u8>) {
        let wire = if up { &mut self.pair.up } else { &mut self.pair.down };
        wire.put(line.into());
    }

    /// A line that was sent before. The opening is not repeated: another client's would be another link.
    fn said(&self, up: bool, which: u8) -> Option<Vec<u8>> {
        let log = if up { self.pair.up.log() } else { self.pair.down.log() };
        pick(log.get(4..)?, which).map(|line| line.clone().into_bytes())
    }

    fn mend(&mut self) {
        self.pair.up.mend();
        self.pair.down.mend();
    }

    fn end(mut self) {
        self.mend();
        self.settle();
        for _ in 0..8 {
            self.host.answer(&mut self.pair.client, self.pair.clock.now());
            self.service.finish(&mut self.pair.server);
            self.settle();
            self.pair.wait(Duration::from_secs(700));
            self.settle();
        }
        if self.foreign {
            assert!(self.pair.client.is_idle(), "the client keeps {:?}", self.pair.client);
            assert!(self.pair.server.is_idle(), "the server keeps {:?}", self.pair.server);
        } else {
            self.pair.assert_clean();
        }
        for (call, mark) in &self.begun {
            self.judge(*call, *mark);
        }
    }

    fn settle(&mut self) {
        self.pair.play(&mut self.host, &mut self.service);
    }

    /// A call ended once, and with its own outcome; not at all where it was taken back.
    fn judge(&self, call: CallId, mark: Option<u64>) {
        let ends = self.host.outcomes(call);
        let expected = if self.taken_back.contains(&call) { 0..=1 } else { 1..=1 };
        assert!(expected.contains(&ends.len()), "{call:?}: {ends:?} {:?}", self.host.story(call));
        if let (Some(mark), false) = (mark, self.foreign) {
            for result in ends.iter().flatten() {
                let (text, own) = (format!("{result:?}"), format!("\\\"mark\\\":{mark}}}"));
                assert!(text.contains(&own) || text.contains("isError"), "{call:?}: {text} lacks {own}");
            }
        }
    }
}

fn pick<T>(from: &[T], which: u8) -> Option<&T> {
    if from.is_empty() { None } else { from.get(usize::from(which) % from.len()) }
}
