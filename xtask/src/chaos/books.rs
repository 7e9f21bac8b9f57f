//! Every call and its end.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::acts::Act;
use crate::table::Table;

/// How a call ended for its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With its own answer.
    Own,
    /// With its own answer, though its question was refused.
    Refused,
    /// With an error in the protocol's words.
    Error(i64, String),
    /// The bay was down, or went down meanwhile.
    Away,
    /// The client left.
    Left,
    /// Without a word.
    Lost(String),
    /// With something of another's, or twice.
    Wrong(String),
}

const COLUMNS: [&str; 7] = ["own answer", "refused", "error", "bay away", "client left", "lost", "wrong"];

impl Ending {
    fn column(&self) -> usize {
        match self {
            Self::Own => 0,
            Self::Refused => 1,
            Self::Error(..) => 2,
            Self::Away => 3,
            Self::Left => 4,
            Self::Lost(_) => 5,
            Self::Wrong(_) => 6,
        }
    }
}

/// The books.
#[derive(Default)]
pub(super) struct Books(Mutex<Pages>);

#[derive(Default)]
struct Pages {
    acts: BTreeMap<Act, ([usize; COLUMNS.len()], Duration)>,
    errors: BTreeMap<String, usize>,
    complaints: Vec<String>,
    broken: usize,
    /// Questions that nobody came back for.
    unanswered: u64,
}

/// How many complaints are kept.
const MOST: usize = 30;

impl Books {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an end.
    pub(super) fn close(&self, act: Act, whose: &str, took: Duration, ending: &Ending) {
        let mut pages = self.pages();
        let (counts, slowest) = pages.acts.entry(act).or_default();
        counts[ending.column()] += 1;
        *slowest = took.max(*slowest);
        match ending {
            Ending::Error(code, words) => *pages.errors.entry(format!("{code} {}", kind(words))).or_default() += 1,
            Ending::Lost(why) => pages.complain(format!("lost: {} of {whose}: {why}", act.word())),
            Ending::Wrong(why) => pages.complain(format!("wrong: {} of {whose}: {why}", act.word())),
            Ending::Own | Ending::Refused | Ending::Away | Ending::Left => {}
        }
    }

    /// Notes something else that must not be.
    pub(super) fn complain(&self, what: String) {
        self.pages().complain(what);
    }

    /// Notes that a client left with a question.
    pub(super) fn leave_unanswered(&self) {
        self.pages().unanswered += 1;
    }

    /// How many clients left with a question.
    pub(super) fn unanswered(&self) -> u64 {
        self.pages().unanswered
    }

    /// How many calls ended so far.
    pub(super) fn calls(&self) -> usize {
        self.pages().acts.values().flat_map(|(counts, _)| counts).sum()
    }

    /// Prints everything; how much is broken.
    pub(super) fn print(&self) -> usize {
        let pages = self.pages();
        let mut table = Table::new(&[["what the server does"].as_slice(), &COLUMNS, &["slowest"]].concat());
        let mut all = [0; COLUMNS.len()];
        for (act, (counts, slowest)) in &pages.acts {
            all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
            table.row(row(act.story(), counts, &format!("{:.1} s", slowest.as_secs_f32())));
        }
        table.row(row("all", &all, ""));
        table.print();
        println!("\n  errors, by their words:");
        let mut errors: Vec<_> = pages.errors.iter().collect();
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        errors.iter().take(MOST).for_each(|(words, count)| println!("  {count:>7}  {words}"));
        pages.complaints.iter().for_each(|what| println!("  ✗ {what}"));
        if pages.broken > pages.complaints.len() {
            println!("  ✗ … and {} more", pages.broken - pages.complaints.len());
        }
        pages.broken
    }
}

impl Pages {
    fn complain(&mut self, what: String) {
        self.broken += 1;
        if self.complaints.len() < MOST {
            self.complaints.push(what);
        }
    }
}

fn row(name: &str, counts: &[usize], slowest: &str) -> Vec<String> {
    let counts = counts.iter().map(|count| if *count == 0 { "·".to_owned() } else { count.to_string() });
    [name.to_owned()].into_iter().chain(counts).chain([slowest.to_owned()]).collect()
}

/// An error's words without what differs from call to call.
fn kind(words: &str) -> String {
    let mut plain = String::new();
    for word in words.split_whitespace().take(24) {
        let differs = word.contains("tok-") || word.contains("pipe-") || word.contains("web-");
        let digits = word.chars().any(|c| c.is_ascii_digit());
        plain.push_str(if differs || digits { "…" } else { word });
        plain.push(' ');
    }
    plain.trim_end().to_owned()
}
