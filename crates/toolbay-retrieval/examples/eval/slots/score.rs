//! How much of what was to be found was found.

use std::collections::{BTreeMap, BTreeSet};

use toolbay_retrieval::slots::{Kind, Slot};

use super::labelled::Labelled;

/// Right, superfluous and missing values.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    right: u32,
    extra: u32,
    missing: u32,
}

/// A tally for each kind.
#[derive(Default)]
pub(super) struct Score(BTreeMap<Kind, Tally>);

impl Score {
    /// Reads all utterances and counts.
    pub(super) fn of(rows: &[Labelled], read: fn(&str) -> Vec<Slot>) -> Self {
        let mut score = Self::default();
        for row in rows {
            let slots = read(&row.text);
            for (kind, wanted) in &row.wanted {
                score.0.entry(*kind).or_default().count(*kind, wanted, &slots);
            }
        }
        score
    }

    pub(super) fn kind(&self, kind: Kind) -> Tally {
        self.0.get(&kind).copied().unwrap_or_default()
    }

    pub(super) fn all(&self) -> Tally {
        self.0.values().fold(Tally::default(), |all, one| Tally {
            right: all.right + one.right,
            extra: all.extra + one.extra,
            missing: all.missing + one.missing,
        })
    }
}

impl Tally {
    fn count(&mut self, kind: Kind, wanted: &[String], slots: &[Slot]) {
        let wanted: BTreeSet<String> = wanted.iter().map(|value| plain(kind, value)).collect();
        let found: BTreeSet<String> =
            slots.iter().filter(|slot| slot.kind == kind).map(|slot| plain(kind, &slot.value)).collect();
        // Several ends of ways are all to be found; several values of another kind are ways to say the same.
        let needed = match kind {
            Kind::Origin | Kind::Destination => wanted.len(),
            _ => wanted.len().min(1),
        };
        let right = found.intersection(&wanted).count().min(needed);
        self.right += number(right);
        self.missing += number(needed - right);
        self.extra += number(found.difference(&wanted).count());
    }

    pub(super) fn precision(self) -> f64 {
        share(self.right, self.right + self.extra)
    }

    pub(super) fn recall(self) -> f64 {
        share(self.right, self.right + self.missing)
    }

    pub(super) fn f1(self) -> f64 {
        share(2 * self.right, 2 * self.right + self.extra + self.missing)
    }
}

/// A value as it is compared: without punctuation, without the rank of a place, without 的 in a date.
fn plain(kind: Kind, value: &str) -> String {
    let kept: String = value.chars().filter(|char| char.is_alphanumeric()).collect();
    match kind {
        Kind::Date => kept.replace('的', ""),
        Kind::City | Kind::Origin | Kind::Destination | Kind::Location => {
            kept.strip_suffix(['市', '省']).map(str::to_owned).unwrap_or(kept)
        }
        Kind::Query | Kind::Repeat | Kind::Count => kept,
    }
}

fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 { 100.0 } else { 100.0 * f64::from(part) / f64::from(whole) }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
