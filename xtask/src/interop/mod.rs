//! Foreign clients in front of `toolbay up`, foreign servers behind it: each client lists everything and calls a tool of
//! each server, over every transport it speaks.
//!
//! Not here: the clients themselves (`interop/clients`), nor how they are fetched (`peers`).

mod clients;
mod page;
mod plan;
mod stage;

use std::time::Duration;

use anyhow::{Result, bail};

use self::clients::{CLIENTS, Client, Outcome, Transport};
pub(crate) use self::stage::{Server, Stage};
use crate::args::Args;
use crate::gateway::{self, Gateway, Ready};
use crate::table::Table;
use crate::tally::Tally;

const UP: Duration = Duration::from_secs(60);

/// Runs the chosen clients over the chosen transports.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let only_clients = args.values("--client")?;
    let only_transports = args.values("--transport")?;
    args.finish()?;
    let chosen = choose(&only_clients, &only_transports)?;

    let binary = gateway::binary()?;
    let stage = Stage::set("interop")?;
    println!("  asking each server directly what it offers …");
    let offers = plan::ask_directly(&stage)?;
    let config = stage.config_path();
    let config = config.to_string_lossy();
    let mut gateway = Gateway::start(&binary, &["up", "--config", &config], Ready::Announced, UP)?;

    let mut table = Table::new(&["client", "transport", "revision", "checks", "time", "result"]);
    let mut tally = Tally::default();
    let mut explanations = Vec::new();
    for (client, transport) in chosen {
        let plan = plan::write(&stage, &offers, client, transport, &binary, &gateway)?;
        let outcome = clients::run(client, transport, &stage, &plan)?;
        println!("  {} over {}: {}", client.name, transport.name(), if outcome.passed() { "pass" } else { "FAIL" });
        tally += Tally { passed: outcome.held(), failed: outcome.failures().count(), skipped: 0 };
        explanations.extend(explain(client, transport, &outcome));
        table.row(row(client, transport, &outcome));
    }
    if tally.failed > 0 {
        explanations.push("the gateway printed:".to_owned());
        explanations.extend(gateway.printed().iter().map(|line| format!("  | {line}")));
    }
    let left = gateway.end();
    explanations.extend(left.iter().map(|one| format!("left behind after TERM: {} {}", one.pid, one.command)));
    tally += Tally::one(left.is_empty());

    println!();
    table.print();
    explanations.iter().for_each(|line| println!("  {line}"));
    println!("  interop: {}", tally.line());
    Ok(tally)
}

fn choose(clients: &[String], transports: &[String]) -> Result<Vec<(&'static Client, Transport)>> {
    let fits = |wanted: &[String], name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    let pairs = CLIENTS.iter().flat_map(|client| client.transports.iter().map(move |transport| (client, *transport)));
    let chosen: Vec<_> =
        pairs.filter(|(client, transport)| fits(clients, client.name) && fits(transports, transport.name())).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        bail!("no such client and transport; clients: {}; transports: stdio, http, sse", names.join(", "));
    }
    Ok(chosen)
}

fn row(client: &Client, transport: Transport, outcome: &Outcome) -> Vec<String> {
    vec![
        client.name.to_owned(),
        transport.name().to_owned(),
        outcome.revision(),
        format!("{}/{}", outcome.held(), outcome.checks.len()),
        format!("{:.1} s", outcome.took.as_secs_f32()),
        if outcome.passed() { "pass".to_owned() } else { "FAIL".to_owned() },
    ]
}

fn explain(client: &Client, transport: Transport, outcome: &Outcome) -> Vec<String> {
    let whose = format!("{} over {}", client.name, transport.name());
    let mut lines: Vec<String> =
        outcome.failures().map(|check| format!("{whose}: {}: {}", check.name, check.detail)).collect();
    if !lines.is_empty() {
        let tail: Vec<&str> = outcome.stderr.lines().rev().take(15).collect();
        lines.extend(tail.into_iter().rev().map(|line| format!("  | {line}")));
    }
    lines
}
