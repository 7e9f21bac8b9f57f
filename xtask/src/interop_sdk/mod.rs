//! SDK against SDK: our reference server with foreign clients, our client with foreign servers, feature by feature.
//!
//! Not here: the gateway between them (`interop`), nor the scripts themselves (`interop/sdk`).

mod clients;
mod plan;
mod report;
mod servers;
mod stage;

use anyhow::Result;

use self::report::{FEATURES, Mark, Report};
pub(crate) use self::stage::Stage;
use crate::args::Args;
use crate::gateway;
use crate::table::Table;
use crate::tally::Tally;

/// Runs every pair; `--pair TEXT` only those whose name contains it.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let only = args.values("--pair")?;
    args.finish()?;
    let wanted = |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part.as_str()));
    let binary = gateway::binary()?;
    let stage = Stage::set("interop-sdk")?;
    let mut reports = clients::run(&stage, &binary, &wanted)?;
    reports.extend(servers::run(&stage, &wanted)?);

    let mut tally = Tally::default();
    let mut head = vec!["pair", "revision"];
    head.extend(FEATURES);
    let mut table = Table::new(&head);
    for report in &reports {
        let mut row = vec![report.pair.clone(), report.revision.clone()];
        for feature in FEATURES {
            let mark = report.mark(feature);
            tally += match mark {
                Mark::Pass => Tally::one(true),
                Mark::NotApplicable(_) => Tally::skip(),
                Mark::Fail(_) => Tally::one(false),
            };
            row.push(mark.word().to_owned());
        }
        table.row(row);
    }
    println!();
    table.print();
    reports.iter().for_each(Report::explain);
    println!("  interop sdk: {} (a skipped one is not there to be tried, for the reason given)", tally.line());
    Ok(tally)
}
