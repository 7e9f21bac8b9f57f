//! How long operations took: a histogram for each kind of them. Bounded: kinds beyond the limit are counted together.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::{
    attribute::{Attribute, Value},
    labels::Labels,
    span::Side,
};

/// The upper ends of the buckets, in seconds: those that the conventions advise.
pub(super) const BOUNDS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// How many kinds are told apart; the limit of OpenTelemetry's own libraries.
const KINDS: usize = 2000;

/// What is counted of operations.
#[derive(Debug, Default)]
pub(super) struct Durations(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    kinds: HashMap<(Side, Labels), Spread>,
    others: [Option<Spread>; 2],
}

/// What was counted together.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    One(Box<Labels>),
    /// Those beyond the limit.
    Others,
}

impl Kind {
    pub(super) fn attributes(&self) -> Vec<Attribute<'_>> {
        match self {
            Self::One(labels) => labels.attributes(),
            Self::Others => vec![("otel.metric.overflow", Value::Flag(true))],
        }
    }
}

/// A histogram.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) count: u64,
    pub(super) sum: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) buckets: [u64; BOUNDS.len() + 1],
}

impl Default for Spread {
    fn default() -> Self {
        Self { count: 0, sum: 0.0, least: f64::INFINITY, most: 0.0, buckets: Default::default() }
    }
}

impl Spread {
    fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.sum += seconds;
        self.least = self.least.min(seconds);
        self.most = self.most.max(seconds);
        self.buckets[BOUNDS.iter().position(|most| seconds <= *most).unwrap_or(BOUNDS.len())] += 1;
    }
}

impl Durations {
    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one.
    pub(super) fn count(&self, side: Side, labels: Labels, took: Duration) {
        let mut table = self.table();
        let (known, key) = (table.kinds.len(), (side, labels));
        let spread = match table.kinds.get_mut(&key) {
            Some(spread) => spread,
            None if known < KINDS => table.kinds.entry(key).or_default(),
            None => table.others[usize::from(side == Side::Client)].get_or_insert_default(),
        };
        spread.add(took.as_secs_f64());
    }

    /// All that was counted of one side so far.
    pub(super) fn read(&self, side: Side) -> Vec<(Kind, Spread)> {
        let table = self.table();
        let kinds = table.kinds.iter().filter(|((of, _), _)| *of == side);
        let mut all: Vec<_> =
            kinds.map(|((_, labels), spread)| (Kind::One(Box::new(labels.clone())), spread.clone())).collect();
        if let Some(others) = &table.others[usize::from(side == Side::Client)] {
            all.push((Kind::Others, others.clone()));
        }
        all
    }
}
