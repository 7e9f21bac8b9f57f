//! The suite against `toolbay serve everything` behind `toolbay up`, compared scenario by scenario with the same server
//! asked directly: the same result is what counts, not whether it is a good one.
//!
//! The server keeps its own names (`"names": "own"`), since the suite calls its tools by them.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::report::{Report, Side};
use super::results::{Mark, Scenario};
use super::suite::Suite;
use crate::gateway::{self, Gateway, Ready};
use crate::places::Scratch;
use crate::table::Table;
use crate::tally::Tally;

const UP: Duration = Duration::from_secs(60);
/// What is asked for, oldest first.
pub(super) const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// How the bay reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Streamable HTTP, in 2026-07-28.
    Http,
    /// Standard input and output, in 2026-07-28.
    Stdio,
    /// HTTP+SSE, which has a handshake: in 2025-11-25.
    Sse,
    /// Streamable HTTP, held to 2025-11-25.
    Held,
}

impl Way {
    const ALL: [Self; 4] = [Self::Http, Self::Stdio, Self::Sse, Self::Held];

    /// For a table.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Http => "HTTP, 2026-07-28",
            Self::Stdio => "stdio, 2026-07-28",
            Self::Sse => "HTTP+SSE, 2025-11-25",
            Self::Held => "HTTP, 2025-11-25",
        }
    }

    /// The server in a configuration.
    fn entry(self, binary: &Path, server: &Gateway) -> Value {
        match self {
            Self::Http => json!({ "url": server.url("/mcp"), "names": "own" }),
            Self::Stdio => json!({ "command": binary, "args": ["serve", "everything"], "names": "own" }),
            Self::Sse => json!({ "type": "sse", "url": server.url("/sse"), "names": "own" }),
            Self::Held => json!({ "url": server.url("/mcp"), "names": "own", "revision": "2025-11-25" }),
        }
    }

    /// Whether the suite is run this way at a revision: across eras one way in each direction says all.
    fn is_for(self, revision: &str) -> bool {
        self != Self::Sse || revision != "2026-07-28"
    }
}

/// Why a scenario says something else behind the bay, where that is as it should be.
fn excuse(way: Way, scenario: &str) -> Option<&'static str> {
    let polling = "a server that is reached so has no way to say that it lets go of a connection; over HTTP in 2025-11-25 it \
                   has, and it is passed on";
    match scenario {
        "server-sse-polling" if way != Way::Held => Some(polling),
        "input-required-result-basic-elicitation" if way == Way::Held => {
            Some("a question of 2025-11-25 has no key, so it comes under one of the bay's")
        }
        "server-stateless" if way == Way::Held => {
            Some("a tool of 2025-11-25 runs before it asks what its client did not declare, and is refused the answer")
        }
        "tasks-required-task-error" if way == Way::Held => {
            Some("whoever knows of no tasks is answered in place by a tool of 2025-11-25 that runs as a task alone")
        }
        _ => None,
    }
}

/// How a scenario ended behind the bay, beside how it ended without.
#[derive(Debug)]
pub(super) struct Pair {
    /// Its name in the suite.
    pub(super) name: String,
    /// Without the bay.
    pub(super) direct: Mark,
    /// Behind it.
    pub(super) through: Mark,
    /// Why the two may differ.
    pub(super) excuse: Option<&'static str>,
    complaints: String,
}

/// One way at one revision.
#[derive(Debug)]
pub(super) struct Compared {
    /// How the bay reaches the server.
    pub(super) way: Way,
    /// What the suite asks for.
    pub(super) revision: String,
    /// Every scenario, in the order of the suite.
    pub(super) pairs: Vec<Pair>,
}

impl Compared {
    /// How many ended alike.
    pub(super) fn alike(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.direct == pair.through).count()
    }

    fn of(way: Way, direct: &Report, through: Report) -> Self {
        let find = |name: &str| through.scenarios.iter().find(|one| one.name == name);
        let pair = |one: &Scenario| Pair {
            name: one.name.clone(),
            direct: one.mark,
            through: find(&one.name).map_or(Mark::Failed, |behind| behind.mark),
            excuse: excuse(way, &one.name),
            complaints: find(&one.name)
                .map_or_else(|| "\n        it was not run".to_owned(), |behind| behind.complaints("\n        ")),
        };
        Self { way, revision: through.revision.clone(), pairs: direct.scenarios.iter().map(pair).collect() }
    }
}

/// Runs the suite behind the bay; `direct` holds what it says without one, and is asked for what is missing.
pub(super) fn run(suite: &Suite, direct: &[Report], only: Option<&str>, named: &[String]) -> Result<Vec<Compared>> {
    let binary = gateway::binary()?;
    let server = Gateway::start(&binary, &["serve", "everything"], Ready::Accepting, UP)?;
    let scratch = Scratch::new("conformance-through")?;
    let mut all = Vec::new();
    let wanted = |revision: &&&str| named.is_empty() || named.iter().any(|name| name == **revision);
    for revision in REVISIONS.iter().filter(wanted) {
        if let Some(only) = only
            && named.is_empty()
            && !suite.scenarios(Side::Server, revision)?.iter().any(|name| name == only)
        {
            continue;
        }
        let known = direct.iter().find(|report| report.side == Side::Server && report.revision == *revision);
        let asked = if known.is_none() { Some(suite.server(&server.url("/mcp"), revision, only)?) } else { None };
        let direct = known.or(asked.as_ref()).context("one of both is there")?;
        for way in Way::ALL.into_iter().filter(|way| way.is_for(revision)) {
            let config = scratch.path().join("toolbay.json");
            let servers = json!({ "mcpServers": { "everything": way.entry(&binary, &server) } });
            fs::write(&config, servers.to_string())?;
            let config = config.to_string_lossy();
            let bay = Gateway::start(&binary, &["up", "--config", &config], Ready::Announced, UP)?;
            let through = suite.server(&bay.url("/mcp"), revision, only)?;
            all.push(Compared::of(way, direct, through));
        }
    }
    Ok(all)
}

/// Says what differs, and counts.
pub(super) fn judge(all: &[Compared]) -> Tally {
    let mut tally = Tally::default();
    for one in all {
        println!("\n  through `toolbay up` at {}, the server over {}:", one.revision, one.way.word());
        for pair in one.pairs.iter().filter(|pair| pair.direct != pair.through) {
            let (direct, through) = (pair.direct.word(), pair.through.word());
            match pair.excuse {
                Some(why) => println!("    ~ {}: {through}, directly {direct}: {why}", pair.name),
                None => println!("    ✗ {}: {through}, directly {direct}:{}", pair.name, pair.complaints),
            }
        }
        for pair in &one.pairs {
            tally += match (pair.direct == pair.through, pair.excuse) {
                (true, None) => Tally::one(true),
                (true, Some(_)) => {
                    println!("    ✗ {}: ends as directly; take away its excuse", pair.name);
                    Tally::one(false)
                }
                (false, Some(_)) => Tally::skip(),
                (false, None) => Tally::one(false),
            };
        }
    }
    println!();
    let mut table = Table::new(&["through the bay at", "server over", "scenarios", "as directly"]);
    for one in all {
        let counts = [one.pairs.len().to_string(), one.alike().to_string()];
        table.row([vec![one.revision.clone(), one.way.word().to_owned()], counts.to_vec()].concat());
    }
    table.print();
    tally
}
