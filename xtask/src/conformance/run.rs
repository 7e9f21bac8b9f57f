//! Reads the command line, runs the chosen sides at the chosen revisions, and adds up.

use anyhow::{Result, bail};

use super::expected::Expected;
use super::judge;
use super::note;
use super::older::{self, Older};
use super::report::{Report, Side};
use super::suite::Suite;
use super::through;
use crate::args::Args;
use crate::example;
use crate::gateway::{self, Gateway, Ready};
use crate::places;
use crate::tally::Tally;

const REVISIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const UP: std::time::Duration = std::time::Duration::from_secs(60);

/// What was asked for on the command line.
struct Wish {
    sides: Vec<Side>,
    /// Whether the server is also tried behind the bay.
    through: bool,
    /// Named there; all otherwise.
    revisions: Vec<String>,
    scenario: Option<String>,
}

impl Wish {
    fn revisions(&self) -> Vec<String> {
        if self.revisions.is_empty() { REVISIONS.map(str::to_owned).to_vec() } else { self.revisions.clone() }
    }

    fn is_whole(&self) -> bool {
        self.sides.len() == 2 && self.through && self.revisions.is_empty() && self.scenario.is_none()
    }
}

/// Runs the suite.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let chosen = [args.flag("--server"), args.flag("--client"), args.flag("--through")];
    let [server, client, through] = if chosen.contains(&true) { chosen } else { [true; 3] };
    let sides = [(server, Side::Server), (client, Side::Client)];
    let sides = sides.into_iter().filter_map(|(wanted, side)| wanted.then_some(side)).collect();
    let (revisions, scenario) = (args.values("--revision")?, args.values("--scenario")?.pop());
    let wish = Wish { sides, through, revisions, scenario };
    let write = args.flag("--write");
    args.finish()?;
    if write && !wish.is_whole() {
        bail!("--write notes a whole run; leave out --server, --client, --through, --revision and --scenario");
    }
    let expected = Expected::read(&places::root().join("conformance/expected-failures.txt"))?;
    let suite = Suite::fetched()?;
    let mut reports = Vec::new();
    for side in &wish.sides {
        reports.extend(match side {
            Side::Server => servers(&suite, &wish)?,
            Side::Client => clients(&suite, &wish)?,
        });
    }
    let compared = match wish.through {
        true => through::run(&suite, &reports, wish.scenario.as_deref(), &wish.revisions)?,
        false => Vec::new(),
    };
    if reports.is_empty() && compared.is_empty() {
        bail!("the suite has no such scenario at {}; --revision runs one all the same", wish.revisions().join(", "));
    }
    let whole = wish.scenario.is_none();
    let mut tally = judge::all(&reports, &expected, whole);
    tally += through::judge(&compared);
    judge::print_counts(&reports);
    if write {
        note::write(&reports, &compared, &expected, &suite.version()?)?;
    }
    println!("  conformance: {} (a skipped one is known to fail, or skipped by the suite)", tally.line());
    Ok(tally)
}

/// The revisions at which there is something to run: with --scenario those that know it, or those that were named.
fn revisions(suite: &Suite, wish: &Wish, side: Side) -> Result<Vec<String>> {
    let mut chosen = wish.revisions();
    if let (Some(scenario), true) = (&wish.scenario, wish.revisions.is_empty()) {
        let mut knowing = Vec::new();
        for revision in chosen {
            if suite.scenarios(side, &revision)?.contains(scenario) {
                knowing.push(revision);
            }
        }
        chosen = knowing;
    }
    Ok(chosen)
}

fn servers(suite: &Suite, wish: &Wish) -> Result<Vec<Report>> {
    let revisions = revisions(suite, wish, Side::Server)?;
    let mut reports = Vec::new();
    if revisions.is_empty() {
        return Ok(reports);
    }
    let only = wish.scenario.as_deref();
    if let Ok(url) = std::env::var("TOOLBAY_CONFORMANCE_URL") {
        for revision in revisions {
            reports.push(suite.server(&url, &revision, only)?);
        }
        return Ok(reports);
    }
    let server = Gateway::start(&gateway::binary()?, &["serve", "everything"], Ready::Accepting, UP)?;
    for revision in revisions {
        // Strings of dates: older ones sort first.
        let older = (revision.as_str() < older::OFFERED).then(|| Older::than_offered(&revision, server.port));
        let older = older.transpose()?;
        let url =
            older.as_ref().map_or_else(|| server.url("/mcp"), |older| format!("http://127.0.0.1:{}/mcp", older.port));
        reports.push(suite.server(&url, &revision, only)?);
    }
    Ok(reports)
}

fn clients(suite: &Suite, wish: &Wish) -> Result<Vec<Report>> {
    let revisions = revisions(suite, wish, Side::Client)?;
    let mut reports = Vec::new();
    if revisions.is_empty() {
        return Ok(reports);
    }
    // The suite hands the command to a shell; with `exec` a late client is ended itself, not the shell alone.
    let command = match std::env::var("TOOLBAY_CONFORMANCE_COMMAND") {
        Ok(command) => command,
        Err(_) => format!("exec '{}'", example::built("conformance-client")?.display()),
    };
    for revision in revisions {
        reports.push(suite.client(&command, &revision, wish.scenario.as_deref())?);
    }
    Ok(reports)
}
