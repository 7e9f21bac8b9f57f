//! The slots of the corpora: how many of the labelled values are found, by the default and by the prescribed scheme.

mod labelled;
mod own;
mod score;

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use toolbay_retrieval::slots::{self, Day, Kind, Slot};

use super::report::{Figure, Goal, Group};
use labelled::Labelled;
use score::Score;

/// What each kind of slot is to reach.
const GOALS: [(Kind, f64); 6] = [
    (Kind::City, 90.0),
    (Kind::Origin, 97.0),
    (Kind::Destination, 96.0),
    (Kind::Location, 88.0),
    (Kind::Query, 96.0),
    (Kind::Date, 94.0),
];

/// Measures the slots.
pub(crate) fn measure(corpora: &Path) -> Result<Vec<Group>> {
    let rows = labelled::corpus(&corpora.join("zh-params/utterances.jsonl"))?;
    let own = own::rows()?;
    Ok(vec![
        by_kind("slots: labelled utterances", &rows, &Score::of(&rows, default), Goals::Wanted),
        by_kind(
            "slots: our own sentences, English among them, kept from getting worse",
            &own,
            &Score::of(&own, default),
            Goals::Shown,
        ),
        by_kind("slots: prescribed scheme", &rows, &Score::of(&rows, slots::prescribed::read), Goals::Shown),
        negatives(&rows),
        speed(&rows),
    ])
}

/// Whether figures are held to the goals.
#[derive(Clone, Copy)]
enum Goals {
    Wanted,
    Shown,
}

fn default(text: &str) -> Vec<Slot> {
    slots::read(text, Day::new(2026, 3, 12))
}

fn by_kind(name: &str, rows: &[Labelled], score: &Score, goals: Goals) -> Group {
    let goal = |least: f64| match goals {
        Goals::Wanted => Goal::AtLeast(least),
        Goals::Shown => Goal::None,
    };
    let mut figures = Vec::new();
    for (kind, least) in GOALS {
        let tally = score.kind(kind);
        figures.push(Figure::shown(format!("{} precision %", kind.name()), tally.precision()));
        figures.push(Figure::shown(format!("{} recall %", kind.name()), tally.recall()));
        figures.push(Figure { name: format!("{} F1 %", kind.name()), value: tally.f1(), goal: goal(least) });
    }
    let all = score.all();
    figures.push(Figure::shown("micro precision %", all.precision()));
    figures.push(Figure::shown("micro recall %", all.recall()));
    figures.push(Figure { name: "micro F1 %".to_owned(), value: all.f1(), goal: goal(95.0) });
    Group { name: format!("{name} ({})", rows.len()), figures }
}

fn negatives(rows: &[Labelled]) -> Group {
    let said = |texts: &[&str], read: fn(&str) -> Vec<Slot>| {
        let hits = texts.iter().filter(|text| !read(text).is_empty()).count();
        f64::from(u32::try_from(hits).unwrap_or(u32::MAX))
    };
    let corpus: Vec<&str> = rows.iter().filter(|row| row.is_negative()).map(|row| row.text.as_str()).collect();
    let own = own::negatives();
    let figures = vec![
        Figure {
            name: format!("of {} labelled, in which a slot is found", corpus.len()),
            value: said(&corpus, default),
            goal: Goal::AtMost(1.0),
        },
        Figure { name: format!("of {} of our own", own.len()), value: said(&own, default), goal: Goal::AtMost(2.0) },
        Figure::shown("prescribed scheme, labelled", said(&corpus, slots::prescribed::read)),
        Figure::shown("prescribed scheme, our own", said(&own, slots::prescribed::read)),
    ];
    Group { name: "slots: sentences that say nothing of the kind".to_owned(), figures }
}

/// The time of one reading, of the fastest of several rounds over all utterances.
fn speed(rows: &[Labelled]) -> Group {
    let round = || {
        let start = Instant::now();
        let found: usize = rows.iter().map(|row| default(&row.text).len()).sum();
        (start.elapsed().as_secs_f64(), found)
    };
    let fastest = (0..20).map(|_| round().0).fold(f64::INFINITY, f64::min);
    let each = fastest * 1e6 / f64::from(u32::try_from(rows.len().max(1)).unwrap_or(u32::MAX));
    let figures = vec![Figure { name: "us per utterance".to_owned(), value: each, goal: Goal::AtMost(50.0) }];
    Group { name: "slots: time".to_owned(), figures }
}
