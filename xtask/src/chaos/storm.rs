//! What is done to servers and bay, when.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::acts::{Act, Manner};
use super::books::Books;
use super::client::Client;
use super::dice::Dice;
use super::meeting::{Link, Peer};
use super::rig::{Rig, Stop};
use crate::procs::Process;

/// One deed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// A server is killed; one of ours is started again after so many milliseconds.
    Kill(usize, u64),
    /// A server is stopped for so many milliseconds.
    Stop(usize, u64),
    /// A server ends in the middle of an answer.
    Cut(usize),
    /// A server ends instead of answering.
    Die(usize),
    /// The bay is killed and started again.
    Bay,
}

/// The longest time between two ends of the bay.
const BETWEEN_BAYS: u64 = 75_000;

/// All deeds of a time, by the millisecond: the bay ends at least once, and not in the last third.
pub(super) fn plan(seed: u64, lasts: Duration, peers: &[Peer]) -> Vec<(u64, Deed)> {
    let mut dice = Dice::new(seed, 1_000_003);
    let lasts = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
    let (mut deeds, mut at) = (Vec::new(), 1500);
    while at + 1500 < lasts {
        let peer = usize::try_from(dice.below(peers.len() as u64)).unwrap_or_default();
        let deed = match dice.below(10) {
            0..4 => Deed::Kill(peer, dice.between(0, 1500)),
            4..8 => Deed::Stop(peer, dice.between(200, 3500)),
            8 => Deed::Cut(peer),
            _ => Deed::Die(peer),
        };
        deeds.push((at, deed));
        at += dice.between(800, 4200);
    }
    let last = lasts * 2 / 3;
    let bays = (last / BETWEEN_BAYS).max(1);
    deeds.extend((1..=bays).map(|bay| (last * bay / bays - dice.below(2000).min(last / 4), Deed::Bay)));
    deeds.sort_by_key(|(at, _)| *at);
    deeds
}

/// What was done, counted.
pub(super) type Done = BTreeMap<&'static str, usize>;

/// Does it all.
pub(super) fn rage(
    rig: &Rig,
    plan: &[(u64, Deed)],
    books: &Books,
    client: &mut Client<'_>,
    dice: &mut Dice,
) -> Result<Done> {
    let begun = Instant::now();
    let mut done = Done::new();
    let mut pending: Vec<(Instant, After)> = Vec::new();
    for (at, deed) in plan {
        let due = begun + Duration::from_millis(*at);
        settle(rig, &mut pending, due)?;
        let count = &mut |what| *done.entry(what).or_default() += 1;
        match *deed {
            Deed::Kill(at, pause) => match rig.kill(at, dice.below(100)) {
                Some(_) if rig.peers[at].link == Link::Http => {
                    pending.push((Instant::now() + Duration::from_millis(pause), After::Start(at)));
                    count("server on a port killed, and started again");
                }
                Some(_) => count("server on a pipe killed"),
                None => count("server to be killed was not there"),
            },
            Deed::Stop(at, pause) => match rig.player(at, dice.below(100)) {
                Some(player) => {
                    Rig::stop(&player, Stop::Halt);
                    pending.push((Instant::now() + Duration::from_millis(pause), After::GoOn(player)));
                    count("server stopped, and let go on");
                }
                None => count("server to be stopped was not there"),
            },
            Deed::Cut(at) => {
                client.call(&rig.peers[at], Act::Cut, Manner::Stays);
                count("server cut off in its answer");
            }
            Deed::Die(at) => {
                client.call(&rig.peers[at], Act::Die, Manner::Stays);
                if rig.peers[at].link == Link::Http {
                    rig.kill(at, 0);
                    pending.push((Instant::now(), After::Start(at)));
                }
                count("server ended without an answer");
            }
            Deed::Bay => {
                for one in rig.kill_bay()? {
                    books.complain(format!("outlived the killed bay: {} {}", one.pid, one.command));
                }
                count("bay killed, and started again");
            }
        }
    }
    let last = pending.iter().map(|(due, _)| *due).max();
    settle(rig, &mut pending, last.unwrap_or(begun))?;
    client.leave();
    Ok(done)
}

enum After {
    Start(usize),
    GoOn(Process),
}

/// Does what is to be done before `until`, and waits for it.
fn settle(rig: &Rig, pending: &mut Vec<(Instant, After)>, until: Instant) -> Result<()> {
    pending.sort_by_key(|(due, _)| *due);
    while pending.first().is_some_and(|(due, _)| *due <= until) {
        let (due, after) = pending.remove(0);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        match after {
            After::Start(at) => rig.start_web(at)?,
            After::GoOn(player) => Rig::stop(&player, Stop::GoOn),
        }
    }
    thread::sleep(until.saturating_duration_since(Instant::now()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chaos::meeting::peers;

    #[test]
    fn the_same_seed_plans_the_same_and_the_bay_ends_in_time() {
        let lasts = Duration::from_secs(30);
        assert_eq!(plan(3, lasts, &peers()), plan(3, lasts, &peers()));
        assert_ne!(plan(3, lasts, &peers()), plan(4, lasts, &peers()));
        for seconds in [10, 30, 600] {
            let plan = plan(3, Duration::from_secs(seconds), &peers());
            let bays: Vec<u64> = plan.iter().filter(|(_, deed)| *deed == Deed::Bay).map(|(at, _)| *at).collect();
            assert!(!bays.is_empty() && bays.iter().all(|at| *at <= seconds * 667));
        }
    }
}
