//! `toolbay get`.

use std::{
    io::{BufRead as _, IsTerminal as _, Write as _},
    time::SystemTime,
};

use serde_json::json;
use toolbay_gateway::registry::{
    Added, Existing,
    acquire::{Offer, Outcome},
    plan::{Means, Plan},
};

use super::{
    args::Get,
    told::{self, Search},
};
use crate::{exit::Exit, show};

/// Runs it.
pub(crate) async fn run(get: Get) -> Result<(), Exit> {
    let searching = Search::by(&get.sources)?;
    let found = searching.acquirer.named(&get.name).await;
    told::remark(&found.remarks);
    let offer = match &*found.offers {
        [offer] => offer,
        [] if found.remarks.is_empty() => {
            return Err(Exit::unknown(format!(
                "no server is named {:?}; `toolbay find WORDS` looks for one",
                get.name
            )));
        }
        [] => return Err(Exit::unreachable("no registry could be asked")),
        several => {
            let names: Vec<_> = several.iter().map(|offer| offer.listing.name.as_str()).collect();
            return Err(Exit::usage(format!("{:?} may be any of these: {}", get.name, names.join(", "))));
        }
    };
    let plan = match &offer.outcome {
        Outcome::Planned(plan) => plan,
        Outcome::Known { name } | Outcome::Added { name, .. } => {
            say(&get, offer, name, "unchanged");
            return Ok(());
        }
        Outcome::Unreachable(why) => return Err(Exit::failed(format!("{}: {why}", offer.listing.name))),
    };
    if get.plan {
        let shown = if get.sources.json { told::as_json(offer).to_string() } else { told::plan_text(offer, plan) };
        show::line(&shown);
        return Ok(());
    }
    agreed(&get, offer, plan)?;
    let entry = plan.entry.clone();
    let entry = match get.ttl {
        Some(ttl) => entry.until(SystemTime::now() + ttl),
        None => entry,
    };
    let added = searching.registry.add_tool(&entry, Existing::Refuse);
    let change = match added.map_err(|error| Exit::failed(error.to_string()))? {
        Added::New => "added",
        Added::Same => "unchanged",
        Added::Replaced => "replaced",
    };
    say(&get, offer, &entry.name, change);
    for wanted in &plan.wanted {
        eprintln!(
            "{}",
            show::dim(&show::safe(&format!("set {} before it is called: {}", wanted.variable, wanted.description)))
        );
    }
    Ok(())
}

/// A program runs on this machine only after somebody said yes, having seen what it is.
fn agreed(get: &Get, offer: &Offer, plan: &Plan) -> Result<(), Exit> {
    if get.yes || matches!(plan.means, Means::Remote { .. }) {
        return Ok(());
    }
    eprintln!("{}", told::plan_text(offer, plan));
    if !std::io::stdin().is_terminal() {
        return Err(Exit::usage("a program would run on this machine: add --yes if that is meant"));
    }
    eprint!("Add it? [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match (read, answer.trim().to_ascii_lowercase().as_str()) {
        (Ok(_), "y" | "yes") => Ok(()),
        _ => Err(Exit::failed("not added")),
    }
}

fn say(get: &Get, offer: &Offer, name: &str, change: &str) {
    let said = match get.sources.json {
        true => json!({"tool": name, "change": change, "server": offer.listing.name}).to_string(),
        false => show::safe(&format!("{name}: {change}")),
    };
    show::line(&said);
}
