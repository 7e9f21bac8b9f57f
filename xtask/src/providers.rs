//! Our questions to models, judged by the types of the providers' own Python libraries; and our scripted model, asked by
//! their clients. Not here: what is asked (an example of the agent), nor the scripts (`interop/models`).

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::args::Args;
use crate::peers::{self, Peer};
use crate::table::Table;
use crate::tally::Tally;
use crate::{child, example, places};

const LIMIT: Duration = Duration::from_secs(5 * 60);

/// Holds both sides against the libraries; `--json` prints each check as a line.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let lines = args.flag("--json");
    args.finish()?;
    let python = peers::python(Peer::Models)?;
    let ours = example::built_of("toolbay-agent", "providers")?;
    let script = |name: &str| places::root().join("interop/models").join(name);
    let mut checks = shapes(&ours, Command::new(&python).arg("-B").arg(script("shapes.py")))?;
    checks.extend(clients(&ours, Command::new(&python).arg("-B").arg(script("clients.py")))?);

    let mut tally = Tally::default();
    let mut counts: BTreeMap<(String, String), Tally> = BTreeMap::new();
    for check in &checks {
        if lines {
            println!("{check}");
        }
        if check.get("versions").is_some() {
            continue;
        }
        let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
        let held = check["ok"] == true;
        tally += Tally::one(held);
        *counts.entry((text("wire"), text("side"))).or_default() += Tally::one(held);
        if !held && !lines {
            println!("  {} {} ({}): {}", text("wire"), text("check"), text("side"), text("detail"));
        }
    }
    if !lines {
        print(&checks, counts, tally);
    }
    Ok(tally)
}

fn print(checks: &[Value], counts: BTreeMap<(String, String), Tally>, tally: Tally) {
    let mut table = Table::new(&["wire", "side", "passed", "failed"]);
    for ((wire, side), count) in counts {
        table.row(vec![wire, side, count.passed.to_string(), count.failed.to_string()]);
    }
    table.print();
    for versions in checks.iter().filter_map(|check| check["versions"].as_object()) {
        let named = versions.iter().map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or_default()));
        println!("  {}", named.collect::<Vec<_>>().join(", "));
    }
    println!("  providers: {}", tally.line());
}

/// Our questions, judged by their types.
fn shapes(ours: &Path, judge: &mut Command) -> Result<Vec<Value>> {
    let questions = child::capture("questions", Command::new(ours).arg("questions"), LIMIT)?;
    let asked = questions.stdout.lines().count();
    let scratch = places::Scratch::new("providers")?;
    let file = scratch.path().join("questions.jsonl");
    std::fs::write(&file, &questions.stdout)?;
    let judged = child::capture("shapes.py", judge.arg(&file), LIMIT)?;
    let checks = read(&judged)?;
    // One line beside the checks tells the versions.
    if asked == 0 || checks.len() != asked + 1 {
        bail!("{asked} questions were written, {} lines came back", checks.len());
    }
    Ok(checks)
}

/// Our scripted model, asked by their clients.
fn clients(ours: &Path, client: &mut Command) -> Result<Vec<Value>> {
    let mut model = Running(
        Command::new(ours)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the scripted model")?,
    );
    let mut said = BufReader::new(model.0.stdout.take().context("its output")?);
    let mut places = String::new();
    said.read_line(&mut places)?;
    let asked = child::capture("clients.py", client.arg(places.trim()), LIMIT)?;
    let mut checks = read(&asked)?;
    // It ends with its input, and then tells what it did not like.
    drop(model.0.stdin.take().map(|mut input| input.flush()));
    for complaint in said.lines() {
        checks
            .push(json!({"wire": "all", "side": "clients", "check": "complaints", "ok": false, "detail": complaint?}));
    }
    if checks.is_empty() {
        bail!("the clients checked nothing");
    }
    Ok(checks)
}

fn read(run: &child::Captured) -> Result<Vec<Value>> {
    if !run.status.success() {
        bail!("a script broke off: {}", run.stderr.trim());
    }
    run.stdout.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

/// A process that ends with us.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
