//! The numbered rules of the protocol's fact sheet, and what holds each of them: `docs/rules.txt`, checked against the
//! tests that are really there.
//!
//! Not here: the rules' own text. The sheet lies beside the clone; without it only our side is checked.

mod cited;
mod list;
mod sheet;

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use self::cited::Citations;
use self::list::{Entry, Hold};
use self::sheet::Asked;
use crate::args::Args;
use crate::places;
use crate::tally::Tally;

/// Prints what covers each rule; fails where a rule of a shipped part is open, or a named test does not exist.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let all = args.flag("--all");
    args.finish()?;
    let root = places::root();
    let entries = list::read(&root.join("docs/rules.txt"))?;
    let cited = Citations::find(&root)?;
    let asked = sheet::read(&root.join("../shared/protocol.md"))?;
    if asked.is_empty() {
        println!("  skipped: the sheet of rules is not beside this clone; only `docs/rules.txt` itself is checked");
    }
    let mut tally = Tally::default();
    for number in asked.keys().filter(|number| !entries.contains_key(*number)) {
        println!("  ✗ {number}: not in docs/rules.txt");
        tally.failed += 1;
    }
    let mut later: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, entry) in &entries {
        let flaws = flaws(entry, asked.get(number), &cited, &root);
        for part in entry.later() {
            *later.entry(part).or_default() += 1;
        }
        if all || !flaws.is_empty() {
            print(number, entry, &cited);
        }
        flaws.iter().for_each(|flaw| println!("    ✗ {flaw}"));
        tally += match (flaws.is_empty(), entry.waits()) {
            (false, _) => Tally::one(false),
            (true, true) => Tally::skip(),
            (true, false) => Tally::one(true),
        };
    }
    for number in cited.by_rule.keys().filter(|number| !entries.contains_key(*number)) {
        println!("  ✗ {number}: cited in {}, but docs/rules.txt has no such rule", cited.of(number).join(", "));
        tally.failed += 1;
    }
    if entries.is_empty() {
        bail!("docs/rules.txt names no rule");
    }
    let counts = |what: fn(&Hold) -> bool| entries.values().filter(|entry| entry.holds.iter().any(what)).count();
    println!(
        "  {} rules: {} held by tests of ours, {} by scenarios of the official suite, {} by how it is built", //
        entries.len(),
        counts(|hold| matches!(hold, Hold::Test { .. } | Hold::Transcript(_))),
        counts(|hold| matches!(hold, Hold::Scenario(_))),
        counts(|hold| matches!(hold, Hold::Built(_))),
    );
    later.iter().for_each(|(part, count)| println!("  {count} wait for {part}"));
    println!("  rules: {} (a skipped one belongs to a part that is not shipped)", tally.line());
    Ok(tally)
}

/// What is wrong with an entry.
fn flaws(entry: &Entry, asked: Option<&Asked>, cited: &Citations, root: &std::path::Path) -> Vec<String> {
    let mut flaws: Vec<String> = entry.holds.iter().filter_map(|hold| hold.flaw(cited, root)).collect();
    if entry.holds.is_empty() {
        flaws.push("nothing is said of it".to_owned());
    }
    // A scenario that leaves out part of the rule is not enough.
    let scenario_alone = !entry.waits() && entry.holds.iter().all(|hold| matches!(hold, Hold::Scenario(_)));
    if scenario_alone && asked.is_some_and(|asked| asked.beyond_scenarios) {
        flaws.push("no scenario covers all of it: a test of ours must".to_owned());
    }
    flaws
}

fn print(number: &sheet::Number, entry: &Entry, cited: &Citations) {
    println!("  {number} {}", entry.short);
    entry.holds.iter().for_each(|hold| println!("      {hold}"));
    let places = cited.of(number);
    if !places.is_empty() {
        println!("      cited in {}", places.join(", "));
    }
}
