//! Other people's servers, direct and behind `toolbay up`: the same conversation, and everything that a client hears of it
//! compared in meaning, for each transport on either side.
//!
//! Every pair of eras over every pair of carriers, with a server of our own, is compared by a test of the gateway
//! (`toolbay-gateway/tests/differential`); `--write` puts what both found into one note.

mod meaning;
mod note;
mod play;
mod scripts;
mod servers;

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Result, bail};

use self::play::{Mark, Played};
use self::servers::SERVERS;
use crate::args::Args;
use crate::interop_sdk::Stage;
use crate::table::Table;
use crate::tally::Tally;
use crate::{example, gateway};

/// How many servers are played with at once.
const AT_ONCE: usize = 3;

/// Plays with every server; `--server TEXT` only with those whose name contains it; `--write` renews the note.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let only = args.values("--server")?;
    let write = args.flag("--write");
    args.finish()?;
    if write && !only.is_empty() {
        bail!("--write writes down what was found with all servers: leave --server out");
    }
    let binary = gateway::binary()?;
    let client = example::built("differential-client")?;
    let stage = Stage::set("differential")?;
    let wanted = |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part.as_str()));
    let servers: Vec<_> = SERVERS.iter().filter(|server| wanted(&server.title())).collect();

    let next = AtomicUsize::new(0);
    let played: Mutex<Vec<(usize, Result<Played>)>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(server) = servers.get(place) else { return };
                    let one = play::all(&stage, &binary, &client, server);
                    println!("  {}: {}", server.title(), one.as_ref().map_or("FAILED", |_| "played"));
                    played.lock().unwrap_or_else(PoisonError::into_inner).push((place, one));
                }
            });
        }
    });
    let mut played = played.into_inner().unwrap_or_else(PoisonError::into_inner);
    played.sort_by_key(|(place, _)| *place);

    let mut tally = Tally::default();
    let mut whole = vec![];
    for (place, one) in played {
        match one {
            Ok(one) => whole.push(one),
            Err(error) => {
                println!("  {}: {error:#}", servers[place].title());
                tally += Tally::one(false);
            }
        }
    }
    tally += report(&whole);
    if write && whole.len() == servers.len() {
        note::write(&whole)?;
    }
    println!("  differential: {} (a skipped one is not there to be tried, for the reason given)", tally.line());
    Ok(tally)
}

fn report(played: &[Played]) -> Tally {
    let mut tally = Tally::default();
    let mut head = vec!["server", "caller"];
    head.extend(scripts::FEATURES);
    let mut table = Table::new(&head);
    for one in played {
        for way in &one.ways {
            let mut row = vec![one.title.clone(), way.caller.clone()];
            for mark in &way.marks {
                tally += match mark {
                    Mark::Same | Mark::Instead(_) => Tally::one(true),
                    Mark::NotApplicable(_) => Tally::skip(),
                    Mark::Different(_) => Tally::one(false),
                };
                row.push(mark.word().to_owned());
            }
            table.row(row);
        }
    }
    println!();
    table.print();
    for one in played {
        for way in &one.ways {
            for (feature, mark) in scripts::FEATURES.iter().zip(&way.marks) {
                if let Mark::Different(what) = mark {
                    println!("  {} ← {}: {feature}:\n{what}", one.title, way.caller);
                }
            }
        }
    }
    tally
}
