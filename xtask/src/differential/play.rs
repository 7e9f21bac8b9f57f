//! One server: the conversation direct, and behind the bay with every kind of caller.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::meaning;
use super::scripts::FEATURES;
use super::servers::Server;
use crate::child;
use crate::gateway::{Gateway, Ready};
use crate::interop_sdk::Stage;

const UP: Duration = Duration::from_secs(60);
/// A client gives each feature 20 seconds; this is for one that hangs in all of them.
const LIMIT: Duration = Duration::from_secs(120);
/// The name of the server in the configuration of the bay.
const NAME: &str = "s";

/// Who calls the bay: over what, in which revision.
const CALLERS: [(&str, &str); 5] = [
    ("stdio", "2025-11-25"),
    ("sse", "2025-11-25"),
    ("http", "2025-11-25"),
    ("stdio", "2026-07-28"),
    ("http", "2026-07-28"),
];

/// How a feature went on one way.
pub(super) enum Mark {
    /// The client heard the same as without the bay.
    Same,
    /// It heard what stands in its place, and why.
    Instead(&'static str),
    /// The server does not have it.
    NotApplicable(&'static str),
    /// It heard something else: what.
    Different(String),
}

impl Mark {
    /// For the table.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Same => "ok",
            Self::Instead(_) => "own",
            Self::NotApplicable(_) => "n/a",
            Self::Different(_) => "DIFF",
        }
    }
}

/// Everything that was heard of one server.
pub(super) struct Played {
    pub(super) title: String,
    pub(super) revision: String,
    pub(super) ways: Vec<Way>,
}

/// One kind of caller, and how each feature went.
pub(super) struct Way {
    pub(super) caller: String,
    pub(super) marks: Vec<Mark>,
}

type Heard = BTreeMap<String, Value>;

/// Plays it all, every caller before a bay of its own.
pub(super) fn all(stage: &Stage, binary: &Path, client: &Path, server: &Server) -> Result<Played> {
    let title = server.title();
    let reached = server.start(stage)?;
    let scene = Scene { stage, binary, client, server, title: &title };
    let (direct, heard) = thread::scope(|scope| {
        let direct = scope.spawn(|| scene.direct(&reached.plan));
        let (scene, entry) = (&scene, &reached.entry);
        let callers = CALLERS.map(|caller| scope.spawn(move || scene.behind(caller, entry)));
        (joined(direct), callers.map(joined))
    });
    let direct = direct.context("without the bay")?;
    let revision = direct.get("connect").and_then(Value::as_str).unwrap_or_default().to_owned();
    // HTTP+SSE belongs to the oldest revision; any that begins with a handshake may be agreed on there.
    if revision != server.revision && !server.is_over("sse") {
        bail!("agreed on {revision} where both know {}", server.revision);
    }
    let mut ways = vec![];
    for ((transport, spoken), heard) in CALLERS.into_iter().zip(heard) {
        let caller = format!("{transport}, {spoken}");
        let heard = heard.with_context(|| format!("behind the bay, from {caller}"))?;
        let marks = FEATURES.iter().map(|feature| {
            if let Some((_, why)) = server.missing.iter().find(|(name, _)| name == feature) {
                return Mark::NotApplicable(why);
            }
            let none = Value::Null;
            let [there, here] = [&direct, &heard].map(|heard| heard.get(*feature).unwrap_or(&none));
            meaning::compare(feature, (there, &revision), (here, spoken))
        });
        ways.push(Way { marks: marks.collect(), caller });
    }
    Ok(Played { title, revision, ways })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|_| bail!("the thread that played it panicked"))
}

/// Who plays with whom.
struct Scene<'s> {
    stage: &'s Stage,
    binary: &'s Path,
    client: &'s Path,
    server: &'s Server,
    title: &'s str,
}

impl Scene<'_> {
    fn direct(&self, plan: &Value) -> Result<Heard> {
        self.listen(self.title, plan.clone())
    }

    fn behind(&self, (transport, spoken): (&str, &str), entry: &Value) -> Result<Heard> {
        let name = format!("{} from {transport} {spoken}", self.title).replace(',', "");
        let config = self.stage.path().join(format!("{}.toolbay.json", name.replace(' ', "-")));
        fs::write(&config, serde_json::to_string_pretty(&json!({ "mcpServers": { NAME: entry } }))?)?;
        let path = config.to_str().context("the scratch folder has a name that is no text")?;
        let mut plan = json!({"transport": transport, "revision": spoken, "prefix": format!("{NAME}__")});
        if transport == "stdio" {
            plan["command"] = json!([self.binary, "up", "--config", path, "--stdio"]);
            return self.listen(&name, plan);
        }
        let gateway = Gateway::start(self.binary, &["up", "--config", path], Ready::Announced, UP)?;
        plan["url"] = json!(gateway.url(if transport == "sse" { "/sse" } else { "/mcp" }));
        let heard = self.listen(&name, plan);
        match gateway.end().first() {
            Some(left) => bail!("left behind: {} {}", left.pid, left.command),
            None => heard,
        }
    }

    /// Lets the client follow a plan; what it heard, feature by feature.
    fn listen(&self, name: &str, mut plan: Value) -> Result<Heard> {
        plan["script"] = json!(self.server.script());
        plan["level"] = json!(self.server.level());
        let path = self.stage.plan(name, &plan)?;
        let run = child::capture(name, Command::new(self.client).arg(path), LIMIT)?;
        if !run.status.success() {
            bail!("the client failed: {}", run.stderr.trim());
        }
        let lines = run.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let heard = lines.filter_map(|mut line| {
            let heard = line["heard"].take();
            Some((line["feature"].as_str()?.to_owned(), heard))
        });
        Ok(heard.collect())
    }
}
