//! How good an order of tools is.

use super::corpus::Wanted;
use crate::report::{Figure, Goal};

/// Shares of the right tools among the first, in percent.
#[derive(Clone, Copy, Default)]
pub(super) struct Recall {
    pub(super) one: f64,
    pub(super) five: f64,
    pub(super) ten: f64,
    /// Normalised discounted gain of the first five.
    pub(super) gain: f64,
}

impl Recall {
    /// Of one answer.
    pub(super) fn of(wanted: &Wanted, found: &[&str]) -> Self {
        let right: Vec<bool> = found.iter().map(|id| wanted.relevant.iter().any(|right| right == id)).collect();
        let all = wanted.relevant.len();
        let among = |first: usize| {
            let hit = right.iter().take(first).filter(|right| **right).count();
            if wanted.any { if hit > 0 { 100.0 } else { 0.0 } } else { 100.0 * hit as f64 / all as f64 }
        };
        Self { one: among(1), five: among(5), ten: among(10), gain: gain(&right, if wanted.any { 1 } else { all }) }
    }

    /// As figures under a name; the goal is for the first five.
    pub(super) fn figures(&self, name: &str, goal: Goal) -> Vec<Figure> {
        vec![
            Figure { name: format!("{name}: R@5 %"), value: self.five, goal },
            Figure::shown(format!("{name}: R@1 %"), self.one),
            Figure::shown(format!("{name}: R@10 %"), self.ten),
            Figure::shown(format!("{name}: nDCG@5 %"), self.gain),
        ]
    }
}

fn gain(right: &[bool], all: usize) -> f64 {
    let worth = |at: usize| 1.0 / (at as f64 + 2.0).log2();
    let found = right.iter().take(5).enumerate().filter(|(_, right)| **right).map(|(at, _)| at);
    let found: Vec<usize> = found.take(all).collect();
    let ideal: f64 = (0..all.min(5)).map(worth).sum();
    100.0 * found.into_iter().map(worth).sum::<f64>() / ideal
}

/// The mean over sets, or over queries: each counts the same.
pub(super) fn macro_mean(all: impl Iterator<Item = Recall>) -> Recall {
    let (mut sum, mut count) = (Recall::default(), 0.0);
    for found in all {
        count += 1.0;
        sum.one += found.one;
        sum.five += found.five;
        sum.ten += found.ten;
        sum.gain += found.gain;
    }
    let count = f64::max(count, 1.0);
    Recall { one: sum.one / count, five: sum.five / count, ten: sum.ten / count, gain: sum.gain / count }
}
