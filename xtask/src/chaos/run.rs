//! Reads the command line, and runs calm, storm and aftermath.

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::acts::{Act, Manner};
use super::books::{Books, Ending};
use super::client::Client;
use super::dice::Dice;
use super::measure::{self, Figures};
use super::meeting::{Era, Link};
use super::rig::Rig;
use super::storm::{self, Deed, Done};
use crate::args::Args;
use crate::child;
use crate::procs;
use crate::table::Table;
use crate::tally::Tally;

const CLIENTS: u64 = 10;
/// A run of the checks: half a minute.
const SHORT: f64 = 0.5;
const LONGEST: f64 = 120.0;
/// Servers that are lost again and again are tried once a minute.
const RECOVERY: Duration = Duration::from_secs(100);
const CALM_AGAIN: Duration = Duration::from_secs(30);
/// How much more the bay may hold afterwards: handles of connections that are kept to be used again; memory that an
/// allocator keeps, and lines of log. A call whose client left with a question waits ten minutes, with its connection.
const MORE_HANDLES: usize = 12;
const MORE_MEMORY: u64 = 16 << 10;
const EACH_WAITING: u64 = 320;

/// Runs it.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let minutes: f64 = match args.values("--minutes")?.pop() {
        Some(text) => text.parse().with_context(|| format!("--minutes needs a number, not `{text}`"))?,
        None => SHORT,
    };
    let seed = args.number("--seed", 1)?;
    args.finish()?;
    if !(0.1..=LONGEST).contains(&minutes) {
        bail!("--minutes is from 0.1 to {LONGEST}");
    }
    if !procs::readable() {
        println!("  skipped: counting processes needs /proc");
        return Ok(Tally::skip());
    }
    let (seed, lasts) = (seed as u64, Duration::from_secs_f64(minutes * 60.0));
    println!("  seed {seed}, {:.0} s of storm", lasts.as_secs_f64());
    Chaos { rig: Rig::set()?, books: Books::default(), seed }.run(lasts)
}

struct Chaos {
    rig: Rig,
    books: Books,
    seed: u64,
}

impl Chaos {
    fn run(&self, lasts: Duration) -> Result<Tally> {
        self.calm()?;
        let before = self.figures(None)?;
        let (calm, plan) = (self.books.calls(), storm::plan(self.seed, lasts, &self.rig.peers));
        println!("  calm: {calm} calls, each server once in every way");
        let done = self.storm(&plan, lasts)?;
        let recovery = self.recover();
        let after = self.figures(Some(before))?;
        self.counters();
        let left = self.rig.end_bay();
        left.iter().for_each(|one| self.books.complain(format!("outlived the bay: {} {}", one.pid, one.command)));
        let ran = self.ran()?;
        self.report(&done, (before, after), recovery, ran)
    }

    fn client(&self, name: String, at: u64) -> Client<'_> {
        let era = if at.is_multiple_of(2) { Era::Legacy } else { Era::Modern };
        let dice = Dice::new(self.seed, at);
        Client::new(name, (era, !at.is_multiple_of(5)), dice, self.rig.port, (&self.rig.weather, &self.books))
    }

    /// Each act once at each server, from clients of both eras: all must end as they should, since nothing breaks.
    fn calm(&self) -> Result<()> {
        thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS).map(|at| scope.spawn(move || self.calm_client(at))).collect();
            clients.into_iter().try_for_each(|one| one.join().map_err(|_| anyhow!("a client panicked")))
        })
    }

    fn calm_client(&self, at: u64) {
        let mut client = self.client(format!("calm{at}"), at);
        for (place, peer) in self.rig.peers.iter().enumerate() {
            // Each server is tried by one client of each era.
            if place as u64 != at / 2 && place as u64 != at / 2 + CLIENTS / 2 {
                client.call(peer, Act::Plain, Manner::Stays);
                continue;
            }
            for act in Act::ALL {
                let shared =
                    act == Act::Ask && peer.link == Link::Stdio && peer.era == Era::Legacy && client.era == Era::Modern;
                let ends = peer.link == Link::Stdio && act == Act::Cut || act == Act::Die;
                if ends || shared || act == Act::Ask && !client.asks {
                    continue;
                }
                let ending = client.call(peer, act, Manner::Stays);
                let good = match act {
                    Act::Overdue | Act::Silent | Act::Cut => matches!(ending, Ending::Error(..)),
                    _ => ending == Ending::Own,
                };
                if !good {
                    let who = format!("{} client, {}", client.era.word(), peer.name);
                    self.books.complain(format!("calm: {} ({who}) ended with {ending:?}", act.word()));
                }
            }
        }
        client.leave();
    }

    fn storm(&self, plan: &[(u64, Deed)], lasts: Duration) -> Result<Done> {
        let (over, end) = (AtomicBool::new(false), Instant::now() + lasts);
        let is_over = || over.load(Ordering::Relaxed) || Instant::now() >= end;
        let play = |at| self.client(format!("c{at}"), at).play(&self.rig.peers, is_over);
        let play = &play;
        thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS).map(|at| scope.spawn(move || play(at))).collect();
            let mut client = self.client("storm".to_owned(), 1_000_005);
            let mut dice = Dice::new(self.seed, 1_000_004);
            let done = storm::rage(&self.rig, plan, &self.books, &mut client, &mut dice);
            // Where the storm failed, nothing is left to be shown.
            over.fetch_or(done.is_err(), Ordering::Relaxed);
            clients.into_iter().try_for_each(|one| one.join().map_err(|_| anyhow!("a client panicked")))?;
            done
        })
    }

    /// Every server must come back, for clients of both eras; how long that took.
    fn recover(&self) -> Duration {
        let begun = Instant::now();
        let mut clients = [self.client("after0".to_owned(), 0), self.client("after1".to_owned(), 1)];
        let mut away: Vec<usize> = (0..self.rig.peers.len()).collect();
        while !away.is_empty() && begun.elapsed() < RECOVERY {
            away.retain(|at| {
                let peer = &self.rig.peers[*at];
                !clients.iter_mut().all(|client| client.call(peer, Act::Plain, Manner::Stays) == Ending::Own)
            });
            thread::sleep(Duration::from_millis(250));
        }
        clients.iter_mut().for_each(Client::leave);
        away.iter().for_each(|at| self.books.complain(format!("{} never came back", self.rig.peers[*at].name)));
        begun.elapsed()
    }

    /// What the bay holds once nothing is going on: near `before`, where that is given.
    fn figures(&self, before: Option<Figures>) -> Result<Figures> {
        let pid = self.rig.pid().context("the bay runs")?;
        let Some(before) = before else {
            thread::sleep(Duration::from_secs(2));
            return Ok(Figures::of(pid));
        };
        let mut now = Figures::of(pid);
        child::wait_until(CALM_AGAIN, || {
            now = Figures::of(pid);
            self.left(&before, &now).iter().all(|(_, held)| *held)
        });
        Ok(now)
    }

    /// Whether the bay holds no more than before, but for calls that wait.
    fn left(&self, before: &Figures, after: &Figures) -> [(&'static str, bool); 3] {
        let waiting = self.books.unanswered();
        let handles = before.handles + MORE_HANDLES + usize::try_from(waiting).unwrap_or_default();
        let memory = before.memory + MORE_MEMORY + waiting * EACH_WAITING;
        [
            ("no process more than before", after.children <= before.children && after.dead == 0),
            ("handles as before, and one for each call that waits", after.handles <= handles),
            ("memory near that of before", after.memory <= memory),
        ]
    }

    /// The bay's own counts: no session is left, and no call waits but for those who left with a question.
    fn counters(&self) {
        let Some((sessions, parked)) = measure::counted(self.rig.port) else {
            return println!("\n  the bay tells no counts of its own");
        };
        let unanswered = self.books.unanswered();
        println!(
            "\n  the bay counts {sessions} sessions and {parked} waiting calls; {unanswered} clients left with a question"
        );
        if sessions > 0 || parked > unanswered {
            self.books.complain("sessions or waiting calls are left in the bay".to_owned());
        }
    }

    /// How many calls the servers ran; none of them twice.
    fn ran(&self) -> Result<usize> {
        let mut all = 0;
        for peer in &self.rig.peers {
            let text = fs::read_to_string(self.rig.ran(peer)).unwrap_or_default();
            let mut times: HashMap<&str, usize> = HashMap::new();
            text.lines().for_each(|token| *times.entry(token).or_default() += 1);
            all += times.len();
            times.iter().filter(|(_, times)| **times > 1).for_each(|(token, times)| {
                self.books.complain(format!("{} ran {token} {times} times", peer.name));
            });
        }
        Ok(all)
    }

    fn report(
        &self,
        done: &Done,
        (before, after): (Figures, Figures),
        recovery: Duration,
        ran: usize,
    ) -> Result<Tally> {
        println!("\n  what was done:");
        done.iter().for_each(|(what, times)| println!("  {times:>7}  {what}"));
        println!("\n  how the calls ended:");
        let broken = self.books.print();
        println!(
            "\n  {} calls, {ran} of them run by a server, none of those twice unless said above",
            self.books.calls()
        );
        println!("  every server answered again {:.1} s after the storm", recovery.as_secs_f32());
        let mut table = Table::new(&["the bay", "memory", "handles", "processes below", "not waited for"]);
        table.row(before.row("before"));
        table.row(after.row("after"));
        table.print();
        let (left, mut tally) = (self.left(&before, &after), Tally::one(broken == 0));
        for (what, held) in left {
            println!("  {} {what}", if held { "✓" } else { "✗" });
            tally += Tally::one(held);
        }
        println!(
            "  {} nothing lost without an error, nothing misrouted, nothing run twice, nothing left over",
            if broken == 0 { "✓" } else { "✗" }
        );
        println!("  chaos: {}", tally.line());
        Ok(tally)
    }
}
