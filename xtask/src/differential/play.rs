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
type Caller = (&'static str, &'static str);

/// Those who start a bay each, and those who share one.
const STARTING: [Caller; 2] = [("stdio", "2025-11-25"), ("stdio", "2026-07-28")];
const SHARING: [Caller; 3] = [("sse", "2025-11-25"), ("http", "2025-11-25"), ("http", "2026-07-28")];

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

/// Plays it all.
pub(super) fn all(stage: &Stage, binary: &Path, client: &Path, server: &Server) -> Result<Played> {
    let title = server.title();
    let reached = server.start(stage)?;
    let scene = Scene { stage, binary, client, server, title: &title };
    let (direct, heard) = thread::scope(|scope| {
        let (scene, entry) = (&scene, &reached.entry);
        let direct = scope.spawn(|| scene.listen(&title, reached.plan.clone()));
        let starting = STARTING.map(|caller| scope.spawn(move || scene.starting(caller, entry)));
        let sharing = scope.spawn(move || scene.sharing(entry));
        let mut heard: Vec<(Caller, Result<Heard>)> = STARTING.into_iter().zip(starting.map(joined)).collect();
        joined(sharing).map(|shared| {
            heard.extend(SHARING.into_iter().zip(shared));
            (joined(direct), heard)
        })
    })?;
    let direct = direct.context("without the bay")?;
    let revision = direct.get("connect").and_then(Value::as_str).unwrap_or_default().to_owned();
    // HTTP+SSE belongs to the oldest revision; any that begins with a handshake may be agreed on there.
    if revision != server.revision && !server.is_over("sse") {
        bail!("agreed on {revision} where both know {}", server.revision);
    }
    let mut ways = vec![];
    for ((transport, spoken), heard) in heard {
        let caller = format!("{transport}, {spoken}");
        let heard = heard.with_context(|| format!("behind the bay, from {caller}"))?;
        let marks = FEATURES.iter().map(|feature| {
            if let Some(why) = server.lacks(feature) {
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

/// As a file is named.
fn named(name: &str) -> String {
    name.replace(", ", "-").replace(' ', "-")
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
    /// Configures a bay.
    fn configured(&self, name: &str, entry: &Value) -> Result<String> {
        let config = self.stage.path().join(format!("{}.toolbay.json", named(name)));
        fs::write(&config, serde_json::to_string_pretty(&json!({ "mcpServers": { NAME: entry } }))?)?;
        Ok(config.to_str().context("the scratch folder has a name that is no text")?.to_owned())
    }

    fn plan(transport: &str, spoken: &str) -> Value {
        json!({"transport": transport, "revision": spoken, "prefix": format!("{NAME}__")})
    }

    fn starting(&self, (transport, spoken): Caller, entry: &Value) -> Result<Heard> {
        let name = format!("{} {transport} {spoken}", self.title);
        let mut plan = Self::plan(transport, spoken);
        plan["command"] = json!([self.binary, "up", "--config", self.configured(&name, entry)?, "--stdio"]);
        self.listen(&name, plan)
    }

    fn sharing(&self, entry: &Value) -> Result<Vec<Result<Heard>>> {
        let config = self.configured(self.title, entry)?;
        let gateway = Gateway::start(self.binary, &["up", "--config", &config], Ready::Announced, UP)?;
        let heard = SHARING.map(|(transport, spoken)| {
            let mut plan = Self::plan(transport, spoken);
            plan["url"] = json!(gateway.url(if transport == "sse" { "/sse" } else { "/mcp" }));
            self.listen(&format!("{} {transport} {spoken}", self.title), plan)
        });
        match gateway.end().first() {
            Some(left) => bail!("left behind: {} {}", left.pid, left.command),
            None => Ok(heard.into()),
        }
    }

    /// Lets the client follow a plan; what it heard, feature by feature.
    fn listen(&self, name: &str, mut plan: Value) -> Result<Heard> {
        plan["script"] = json!(self.server.script());
        plan["level"] = json!(self.server.level());
        let path = self.stage.plan(&named(name), &plan)?;
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
