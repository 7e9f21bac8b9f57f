//! What a search of registries came to: what was added, what needs a person, what could not be asked.

use std::time::SystemTime;

use serde_json::{Value, json};
use toolbay_protocol::Raw;

use super::found::cut;
use crate::registry::{
    acquire::{Acquired, Offer, Outcome},
    plan::{Means, Plan, Secrecy},
};

/// How long a text of somebody else's may be here.
const LONG: usize = 300;

/// As text and as an object.
pub(crate) fn acquired(query: &str, acquired: &Acquired) -> (String, Raw) {
    let mut lines: Vec<_> = acquired.offers.iter().flat_map(told).collect();
    if acquired.offers.is_empty() {
        lines.push(match acquired.remarks.is_empty() {
            true => format!("No registry lists a server that fits {query:?}; say in other words what is needed."),
            false => format!("Nothing was found that fits {query:?}, and not all could be asked."),
        });
    }
    lines.extend(acquired.remarks.iter().map(|remark| format!("Could not be asked: {}", plain(remark))));
    if let Some(earlier) = &acquired.cached {
        lines.push(format!("(This is the answer to {earlier:?}, which was asked a moment ago.)"));
    }
    let structured = json!({
        "servers": acquired.offers.iter().map(shown).collect::<Vec<_>>(),
        "unasked": acquired.remarks.iter().map(|remark| plain(remark)).collect::<Vec<_>>(),
        "cached": acquired.cached,
    });
    (lines.join("\n"), Raw::of(&structured))
}

fn told(offer: &Offer) -> Vec<String> {
    let name = plain(&offer.listing.name);
    let head = format!("{name}: {}", plain(&offer.listing.description));
    match &offer.outcome {
        Outcome::Added { name, until } => {
            let what =
                format!("  added as {name:?} until {}; its tools can be found and called in a moment", time(*until));
            vec![head, what]
        }
        Outcome::Known { name } => vec![head, format!("  here already, as {name:?}")],
        Outcome::Unreachable(why) => vec![head, format!("  cannot be used: {}", plain(why))],
        Outcome::Planned(plan) => [vec![head], planned(&name, plan)].concat(),
    }
}

fn planned(name: &str, plan: &Plan) -> Vec<String> {
    let mut lines = vec![match &plan.means {
        Means::Remote { url } => format!("  needs a person's yes: requests would go to {}", plain(url)),
        Means::Program { argv, kind, package, version } => {
            let version = if version.is_empty() { "whatever version is newest" } else { version };
            let package = format!("{} ({}), {}", plain(package), plain(kind), plain(version));
            format!("  needs a person's yes: on this machine would run `{}`, package {package}", plain(&argv.join(" ")))
        }
    }];
    lines.extend(plan.wanted.iter().map(|wanted| {
        let secret = if wanted.secrecy == Secrecy::Secret { ", a secret" } else { "" };
        format!("  wants {}{secret}: {}", wanted.variable, plain(&wanted.description))
    }));
    lines.push(format!("  a person adds it with: toolbay get {name}"));
    lines
}

fn shown(offer: &Offer) -> Value {
    let outcome = match &offer.outcome {
        Outcome::Added { name, until } => json!({"state": "added", "entry": name, "until": time(*until)}),
        Outcome::Known { name } => json!({"state": "known", "entry": name}),
        Outcome::Unreachable(why) => json!({"state": "unreachable", "reason": plain(why)}),
        Outcome::Planned(plan) => json!({"state": "needs a person's yes", "plan": shown_plan(plan)}),
    };
    let listing = &offer.listing;
    json!({
        "name": plain(&listing.name), "version": plain(&listing.version), "description": plain(&listing.description),
        "registry": offer.source, "score": offer.score, "outcome": outcome,
    })
}

fn shown_plan(plan: &Plan) -> Value {
    let wanted = plan.wanted.iter().map(|wanted| {
        let secret = wanted.secrecy == Secrecy::Secret;
        json!({"variable": wanted.variable, "description": plain(&wanted.description), "secret": secret})
    });
    let wanted: Vec<_> = wanted.collect();
    match &plan.means {
        Means::Remote { url } => json!({"kind": "remote", "url": plain(url), "wanted": wanted}),
        Means::Program { argv, kind, package, version } => {
            let argv: Vec<_> = argv.iter().map(|word| plain(word)).collect();
            let (kind, package, version) = (plain(kind), plain(package), plain(version));
            json!({"kind": kind, "command": argv, "package": package, "version": version, "wanted": wanted})
        }
    }
}

/// A text of somebody else's on one line, of bounded length.
fn plain(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut(&text, LONG)
}

fn time(at: SystemTime) -> String {
    jiff::Timestamp::try_from(at).map_or_else(|_| "then".into(), |at| format!("{at:.0}"))
}
