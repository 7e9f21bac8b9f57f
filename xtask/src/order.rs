//! `cargo xtask order`: which functions of the program run at its start and in calls, written down for the linker
//! (`crates/toolbay-cli/link/order.txt`). The kernel maps a file in pieces of 16 pages, so that one function in use keeps 64 KiB
//! resident: those in use belong together. To be run again when much has changed; an old list is a little worse, never wrong.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::args::Args;
use crate::child::{self, Guard};
use crate::gateway::{self, Gateway, Ready};
use crate::places::{self, Scratch};
use crate::tally::Tally;

/// Under valgrind everything takes some fifty times as long.
const LONG: Duration = Duration::from_secs(120);
const SERVERS: usize = 10;
const CALLS: usize = 20;

/// Watches the program at work and renews the list.
pub(crate) fn run(args: Args) -> Result<Tally> {
    args.finish()?;
    let binary = gateway::binary()?;
    if Command::new("valgrind").arg("--version").output().is_err() {
        bail!("valgrind is missing: install it (Debian: `apt-get install valgrind`)");
    }
    let scratch = Scratch::new("order")?;
    let config = scratch.path().join("toolbay.json");
    let servers: serde_json::Map<_, _> =
        (0..SERVERS).map(|at| (format!("u{at}"), json!({"command": binary, "args": ["serve", "time"]}))).collect();
    fs::write(&config, json!({ "mcpServers": servers }).to_string())?;
    let (http, stdio) = (scratch.path().join("http"), scratch.path().join("stdio"));
    over_http(&binary, &config, &http)?;
    over_stdio(&binary, &config, &stdio)?;
    let mut seen = functions(&http)?;
    seen.append(&mut functions(&stdio)?);
    let order = in_order(&binary, &seen)?;
    if order.len() < 500 {
        bail!("only {} functions were seen at work: that is not the whole program", order.len());
    }
    let place = places::root().join("crates/toolbay-cli/link/order.txt");
    fs::write(&place, order.join("\n") + "\n")?;
    println!("  {} functions written to {}; build again to have them laid out", order.len(), place.display());
    Ok(Tally::one(true))
}

/// The words that have valgrind note every function that `toolbay` runs.
fn watched(note: &Path, binary: &Path) -> [String; 5] {
    [
        "--tool=callgrind".into(),
        "--demangle=no".into(),
        format!("--callgrind-out-file={}", note.display()),
        "--quiet".into(),
        binary.to_string_lossy().into_owned(),
    ]
}

fn over_http(binary: &Path, config: &Path, note: &Path) -> Result<()> {
    let words = watched(note, binary);
    let config = config.to_string_lossy();
    let args: Vec<_> = words.iter().map(String::as_str).chain(["up", "--config", &*config]).collect();
    let gateway = Gateway::start(Path::new("valgrind"), &args, Ready::Announced, LONG)?;
    let url = gateway.url("/mcp");
    for at in 0..CALLS {
        let tool = format!("u{}__get_current_time", at % SERVERS);
        let mut client = Command::new(binary);
        client.args(["call", &tool, "timezone=Asia/Shanghai", "--url", &url]);
        let called = child::capture("toolbay call", &mut client, LONG)?;
        if !called.status.success() {
            bail!("{tool} cannot be called: {}", called.stderr.trim());
        }
    }
    gateway.end();
    Ok(())
}

fn over_stdio(binary: &Path, config: &Path, note: &Path) -> Result<()> {
    let mut command = Command::new("valgrind");
    command.args(watched(note, binary)).args(["up", "--stdio", "--config"]).arg(config);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut guard = Guard::spawn("toolbay up --stdio", &mut command)?;
    let mut input = guard.child().stdin.take().expect("stdin is piped");
    let client = json!({"name": "order", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let mut said = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
    ];
    said.extend((0..CALLS).map(|at| {
        let tool = format!("u{}__get_current_time", at % SERVERS);
        let params = json!({"name": tool, "arguments": {"timezone": "Asia/Shanghai"}});
        json!({"jsonrpc": "2.0", "id": at + 2, "method": "tools/call", "params": params})
    }));
    for message in said {
        writeln!(input, "{message}")?;
    }
    // The end of its input ends it, once everything is answered.
    drop(input);
    guard.wait(LONG)?;
    Ok(())
}

/// The functions that a note names.
fn functions(note: &Path) -> Result<BTreeSet<String>> {
    let text = fs::read(note).with_context(|| format!("valgrind wrote no {}", note.display()))?;
    let text = String::from_utf8_lossy(&text);
    let named = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn="))?;
        rest.split_once(") ").map(|(_, name)| name)
    });
    // Those called within themselves are counted apart.
    Ok(named.map(|name| name.split('\'').next().unwrap_or(name).to_owned()).collect())
}

/// Those that are the program's own, as they lie now.
fn in_order(binary: &Path, seen: &BTreeSet<String>) -> Result<Vec<String>> {
    let mut nm = Command::new("nm");
    nm.args(["--defined-only", "--numeric-sort"]).arg(binary);
    let symbols = child::capture("nm", &mut nm, LONG)?.stdout;
    let own = symbols.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (kind, name) = (words.next()?, words.next()?);
        matches!(kind, "t" | "T").then_some(name)
    });
    Ok(own.filter(|name| seen.contains(*name)).map(str::to_owned).collect())
}
