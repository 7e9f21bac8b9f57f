//! The same conversation direct and through the bay: for each pair of eras, whatever carries the messages on either side,
//! a client hears the same from a server as if nothing stood between them, but for what the protocol cannot carry.
//! Run with `--nocapture` it prints the tables.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]
#![expect(clippy::print_stdout, reason = "a test without a harness speaks for itself")]

mod job;
mod play;
mod say;
mod table;
mod talk;
mod way;
mod web;

use std::process::ExitCode;

use futures_util::{StreamExt, stream};
use serde_json::Value;
use table::Cell;
use toolbay_protocol::{Feature, Revision};
use way::{Carrier, Place, Side};

const NAME: &str = "each_pair_of_eras_says_the_same_through_the_bay_as_without_it";
const ERAS: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Some(role) = way::role() {
        runtime.block_on(role.play());
        // A read of standard input may still keep a thread.
        std::process::exit(0);
    }
    let given = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if given("--list") {
        if !given("--ignored") {
            println!("{NAME}: test");
        }
        return ExitCode::SUCCESS;
    }
    let filters: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    if given("--ignored") || (!filters.is_empty() && !filters.iter().any(|filter| NAME.contains(filter.as_str()))) {
        return ExitCode::SUCCESS;
    }
    let ways = runtime.block_on(compare());
    table::print(&ways);
    let same = ways.iter().flat_map(|way| &way.cells).all(|cell| *cell != Cell::Different);
    if same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A way between a client and a server, and what came of each feature on it.
struct Way {
    down: Side,
    /// None where nothing stands between them.
    up: Option<Side>,
    cells: Vec<Cell>,
}

/// How many conversations are held at once.
const AT_ONCE: usize = 16;

fn sides() -> Vec<Side> {
    ERAS.into_iter().flat_map(|revision| Carrier::of(revision).map(move |carrier| Side { carrier, revision })).collect()
}

async fn compare() -> Vec<Way> {
    let mut model = vec![];
    for revision in ERAS {
        model.push((revision, heard(&Place::direct(Side { carrier: Carrier::Memory, revision }).await).await));
    }
    let ways = sides().into_iter().flat_map(|down| {
        let ups = sides().into_iter().map(Some);
        std::iter::once(None).chain(ups).map(move |up| (down, up))
    });
    let held = ways.map(|(down, up)| {
        let (_, model) = model.iter().find(|(revision, _)| *revision == down.revision).unwrap();
        async move {
            let place = match up {
                Some(up) => Place::through(down, up).await,
                None => Place::direct(down).await,
            };
            let heard = heard(&place).await;
            let cells = say::FEATURES.iter().zip(model.iter().zip(&heard));
            let cells = cells.map(|((feature, _), (model, heard))| judge(feature, (down, up), model, heard)).collect();
            Way { down, up, cells }
        }
    });
    let held: Vec<_> = held.collect();
    stream::iter(held).buffered(AT_ONCE).collect().await
}

async fn heard(place: &Place) -> Vec<Value> {
    let mut all = vec![];
    for (feature, say) in say::FEATURES {
        let said = tokio::time::timeout(std::time::Duration::from_secs(30), say(place)).await;
        all.push(said.unwrap_or_else(|_| Value::from(format!("{feature} never ends"))));
    }
    place.close().await;
    all
}

/// Whether both are the same; or else what the protocol says in place of it.
fn judge(feature: &str, (down, up): (Side, Option<Side>), model: &Value, heard: &Value) -> Cell {
    if model == heard {
        return Cell::Same;
    }
    let crosses = up.is_some_and(|up| up.revision != down.revision);
    let legacy = down.revision.has(Feature::Handshake);
    let instead =
        table::INSTEAD.iter().filter(|instead| crosses && instead.features.contains(&feature)).find(|instead| {
            let sign = if legacy { instead.legacy } else { instead.modern };
            sign.is_some_and(|sign| sign(heard))
        });
    if let Some(instead) = instead {
        return Cell::Instead(instead.word);
    }
    eprintln!("{feature}, client {down:?}, server {up:?}:\n  direct  {model}\n  heard {heard}\n");
    Cell::Different
}
