//! What a plan brought, told with where it comes from; and how the command ends.

use serde_json::{Value, json};
use toolbay_agent::planner::{Answered, Blame, Plan, Ran, Tried};
use toolbay_protocol::Raw;

use super::{carry, shown};
use crate::{exact, exit::Exit, show};

/// Tells it.
pub(super) fn tell(plan: &Plan, ran: &[Ran<Raw>], json: bool) -> Result<(), Exit> {
    if json {
        let results: Vec<_> = ran.iter().map(as_json).collect();
        show::line(&json!({"plan": shown::as_json(plan), "results": results}).to_string());
    } else {
        for (at, ran) in ran.iter().enumerate() {
            if at > 0 {
                show::line("");
            }
            one(ran);
        }
    }
    for part in &plan.unanswered {
        eprintln!("toolbay: no tool fits {:?}", show::safe(part));
    }
    end(plan, ran)
}

/// How the command ends: well where every part was answered, of several categories by one at least.
fn end(plan: &Plan, ran: &[Ran<Raw>]) -> Result<(), Exit> {
    let answers = |ran: &Ran<Raw>| ran.answered != Answered::Not;
    let elsewhere =
        |lost: &Ran<Raw>| ran.iter().any(|ran| answers(ran) && ran.part == lost.part && ran.category != lost.category);
    let lost = || ran.iter().filter(|ran| !answers(ran) && !elsewhere(ran));
    let blames = |blame: Blame| lost().flat_map(|ran| &ran.tried).all(|tried| tried.failure.blame == blame);
    if lost().next().is_none() {
        if plan.unanswered.is_empty() { Ok(()) } else { Err(Exit::unknown("")) }
    } else if blames(Blame::Request) {
        Err(Exit::refused(2, ""))
    } else if blames(Blame::Server) {
        Err(Exit::refused(4, ""))
    } else {
        Err(Exit::shown())
    }
}

fn one(ran: &Ran<Raw>) {
    match &ran.answered {
        Answered::By { tool, server, answer } => {
            ran.tried.iter().for_each(|tried| eprintln!("{}", show::dim(&fault(tried))));
            show::line(&format!("{}:", exact::line(&origin(tool, server))));
            show::line(&carry::text(answer));
        }
        Answered::Not => {
            let category = if ran.category.is_empty() { String::new() } else { format!(" ({})", ran.category) };
            eprintln!("toolbay: nothing answered {:?}{}", show::safe(&ran.part), exact::line(&category));
            ran.tried.iter().for_each(|tried| eprintln!("  {}", fault(tried)));
        }
    }
}

fn origin(tool: &str, server: &str) -> String {
    if server.is_empty() || server == tool { tool.to_owned() } else { format!("{tool} on {server}") }
}

fn fault(tried: &Tried) -> String {
    let whose = match tried.failure.blame {
        Blame::Request => "not called",
        Blame::Tool => "the tool failed",
        Blame::Server => "its server failed",
        Blame::Deadline => "too late",
    };
    let Tried { tool, server, failure } = tried;
    format!("{}: {whose}: {}", exact::line(&origin(tool, server)), show::safe(&failure.what))
}

fn as_json(ran: &Ran<Raw>) -> Value {
    let tried = ran.tried.iter().map(|Tried { tool, server, failure }| {
        json!({"tool": tool, "server": server, "blame": failure.blame.to_string(), "reason": failure.what})
    });
    let mut told = json!({"part": ran.part, "category": ran.category, "tried": tried.collect::<Vec<_>>()});
    if let Answered::By { tool, server, answer } = &ran.answered {
        told["tool"] = json!(tool);
        told["server"] = json!(server);
        told["result"] = answer.read().unwrap_or(Value::Null);
    }
    told
}
