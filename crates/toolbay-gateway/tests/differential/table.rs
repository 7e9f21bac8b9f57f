//! What came of it, as tables: for each pair of eras the features by what carries the messages on either side.

use serde_json::Value;
use toolbay_protocol::{Feature, Revision};

use crate::{ERAS, Way, say};

/// What came of a feature on one way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    /// The client heard the same.
    Same,
    /// It heard what the protocol has in place of it.
    Instead(&'static str),
    Different,
}

type Sign = fn(&Value) -> bool;

/// What a client hears between two eras in place of what only one of them has.
pub(crate) struct Instead {
    pub(crate) features: &'static [&'static str],
    /// The sign of it, for a client that keeps a session at a server that keeps none, and the other way round; none
    /// where it must hear the same.
    pub(crate) legacy: Option<Sign>,
    pub(crate) modern: Option<Sign>,
    pub(crate) word: &'static str,
    /// Why it is so.
    why: &'static str,
}

pub(crate) const INSTEAD: [Instead; 2] = [
    Instead {
        features: &["log messages outside of requests", "elicitation complete"],
        // A server that keeps no session says nothing. Of what another one says, lines of log may seem to belong to a call.
        legacy: Some(|heard| says(&heard[0], "nothing")),
        modern: Some(|heard| says(&heard[0], "said") && lines(&heard[1])),
        word: "never",
        why: "2026-07-28 has no notification that belongs to no request",
    },
    Instead {
        features: &["roots changed"],
        legacy: Some(|heard| says(heard, "never")),
        modern: None,
        word: "never",
        why: "a server of 2026-07-28 is told of no change: it asks for the roots when it needs them",
    },
];

fn says(heard: &Value, text: &str) -> bool {
    heard["outcome"]["content"][0]["text"] == text
}

fn lines(notes: &Value) -> bool {
    notes.as_array().into_iter().flatten().all(|note| note[0] == "notifications/message")
}

fn era(revision: Revision) -> &'static str {
    if revision.has(Feature::Handshake) { "legacy" } else { "modern" }
}

pub(crate) fn print(ways: &[Way]) {
    for down in ERAS {
        let direct: Vec<_> = ways.iter().filter(|way| way.down.revision == down && way.up.is_none()).collect();
        one(&format!("{} client at the server itself", era(down)), &direct);
        for up in ERAS {
            let between = |way: &&Way| way.down.revision == down && way.up.is_some_and(|side| side.revision == up);
            let through: Vec<_> = ways.iter().filter(between).collect();
            one(&format!("{} client → bay → {} server", era(down), era(up)), &through);
        }
    }
    for instead in &INSTEAD {
        println!("- *{}*: {}: {}.", instead.word, instead.features.join("; "), instead.why);
    }
}

fn one(title: &str, ways: &[&Way]) {
    let head = ways.iter().map(|way| match way.up {
        Some(up) => format!("{} → {}", way.down.carrier.name(), up.carrier.name()),
        None => way.down.carrier.name().to_owned(),
    });
    println!("### {title}\n\n| | {} |\n|---|{}", head.collect::<Vec<_>>().join(" | "), "---|".repeat(ways.len()));
    for (row, (feature, _)) in say::FEATURES.iter().enumerate() {
        let cells = ways.iter().map(|way| match way.cells[row] {
            Cell::Same => "=",
            Cell::Instead(word) => word,
            Cell::Different => "≠",
        });
        println!("| {feature} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    println!();
}
