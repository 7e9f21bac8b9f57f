//! The same conversation direct and through the bay: for each pair of eras, over memory, standard input and output, and
//! HTTP, a client hears the same from a server as if nothing stood between them, but for what the protocol cannot carry.
//! Run with `--nocapture` it prints the table.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]
#![expect(clippy::print_stdout, reason = "a test without a harness speaks for itself")]

mod play;
mod say;
mod talk;
mod way;

use std::process::ExitCode;

use serde_json::Value;
use toolbay_protocol::Revision;
use way::{Carrier, Place};

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
    let rows = runtime.block_on(compare());
    print(&rows);
    if rows.iter().all(|row| row.cells.iter().all(|cell| cell.1)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One feature, and what came of it in each column.
struct Row {
    feature: &'static str,
    cells: Vec<(String, bool)>,
}

async fn compare() -> Vec<Row> {
    let mut rows: Vec<Row> = say::FEATURES.iter().map(|(feature, _)| Row { feature, cells: vec![] }).collect();
    for carrier in Carrier::ALL {
        for down in ERAS {
            let direct = heard(&Place::direct(carrier, down).await).await;
            for up in ERAS {
                let through = heard(&Place::through(carrier, down, up).await).await;
                for ((row, direct), through) in rows.iter_mut().zip(&direct).zip(through) {
                    row.cells.push(judge(row.feature, (down, up), direct, &through, carrier));
                }
            }
        }
    }
    rows
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
fn judge(
    feature: &str,
    (down, up): (Revision, Revision),
    direct: &Value,
    through: &Value,
    carrier: Carrier,
) -> (String, bool) {
    if direct == through {
        return ("=".into(), true);
    }
    // What cannot be carried is refused, and says so.
    if down != up && feature.starts_with("task") && through.to_string().contains("-32601") {
        return ("refused".into(), true);
    }
    eprintln!("{feature}, client {down}, server {up}, over {carrier:?}:\n  direct  {direct}\n  through {through}\n");
    ("≠".into(), false)
}

fn print(rows: &[Row]) {
    let era = |revision: Revision| if revision == Revision::LATEST { "modern" } else { "legacy" };
    let mut head = vec![];
    for carrier in Carrier::ALL {
        for down in ERAS {
            head.extend(ERAS.map(|up| format!("{carrier:?} {}→{}", era(down), era(up))));
        }
    }
    println!("| client→server | {} |\n|---|{}", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let cells: Vec<_> = row.cells.iter().map(|cell| cell.0.as_str()).collect();
        println!("| {} | {} |", row.feature, cells.join(" | "));
    }
}
