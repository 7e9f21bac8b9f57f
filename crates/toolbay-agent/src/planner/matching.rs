//! Which tools a text means, and how strongly.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use toolbay_retrieval::{Fit, Hit, Index, Parts, Query, Scorer};

use super::{offered::Offered, plan::Near, rules::Rules};

/// How strongly a tool is meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Higher is better; comparable within one part of a request.
    pub total: f64,
    /// How it came about.
    pub parts: Parts,
    /// The words it was found by, where those of the request found nothing: what it was read to be about.
    pub by_hint: Option<&'static str>,
}

/// A tool that a text means.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub(super) tool: Arc<Offered>,
    pub(super) score: Score,
}

/// All tools, ready to be searched.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    tools: HashMap<Arc<str>, Arc<Offered>>,
    index: Index,
}

impl Shelf {
    pub(super) fn new(tools: Vec<Offered>) -> Self {
        let mut index = Index::new();
        let tools = tools.into_iter().map(|tool| {
            index.insert(&tool.searched());
            (Arc::from(tool.name.as_str()), Arc::new(tool))
        });
        Self { tools: tools.collect(), index }
    }

    /// The tools that match a text, the best first.
    pub(super) fn matches(&self, text: &str, by_hint: Option<&'static str>, rules: &Rules) -> Vec<Match> {
        let found = self.index.search(&query(text, rules).limit(rules.most.max(1)));
        if found.fit == Fit::Nothing {
            return Vec::new();
        }
        let strongest = found.hits.iter().map(strength).fold(0.0, f64::max);
        let mut near: Vec<Hit> = found.hits;
        // Where no word says anything, only the best is taken at its word.
        let kept = |at: usize, hit: &Hit| {
            let strength = strength(hit);
            (at == 0 && strength == 0.0) || (strength > 0.0 && strength >= rules.threshold * strongest)
        };
        let mut at = 0;
        near.retain(|hit| {
            at += 1;
            kept(at - 1, hit)
        });
        let fitting = self.fitting(text, &near, rules);
        near.retain(|hit| fitting.contains(&hit.id));
        let matched = near.into_iter().filter_map(|hit| {
            let tool = Arc::clone(self.tools.get(&hit.id)?);
            Some(Match { tool, score: Score { total: hit.score, parts: hit.parts, by_hint } })
        });
        matched.collect()
    }

    /// The nearest there is, whether it fits or not.
    pub(super) fn nearest(&self, text: &str, rules: &Rules) -> Vec<Near> {
        let found = self.index.search(&query(text, rules).limit(3));
        let near = found.hits.into_iter().filter_map(|hit| {
            let tool = Arc::clone(self.tools.get(&hit.id)?);
            Some(Near { tool, score: Score { total: hit.score, parts: hit.parts, by_hint: None } })
        });
        near.collect()
    }

    /// Those that fit by themselves, as though nobody better were there.
    fn fitting(&self, text: &str, near: &[Hit], rules: &Rules) -> HashSet<Arc<str>> {
        if let Scorer::Weighted(_) = rules.scorer {
            return near.iter().filter(|hit| has_word(hit)).map(|hit| Arc::clone(&hit.id)).collect();
        }
        // The best was said to fit; of each other one that is asked for when those before it are gone.
        let mut fitting: HashSet<_> = near.first().map(|hit| Arc::clone(&hit.id)).into_iter().collect();
        if near.len() < 2 {
            return fitting;
        }
        let mut rest = self.index.clone();
        let mut gone = near[0].id.to_string();
        for _ in 0..rules.most {
            rest.remove(&gone);
            let found = rest.search(&query(text, rules).limit(1));
            let Some(best) = found.hits.first().filter(|_| found.fit == Fit::Good) else { break };
            fitting.insert(Arc::clone(&best.id));
            gone = best.id.to_string();
        }
        fitting
    }
}

fn query<'q>(text: &'q str, rules: &Rules) -> Query<'q> {
    Query::new(text).by(rules.scorer.clone())
}

/// What is compared with the threshold.
fn strength(hit: &Hit) -> f64 {
    match &hit.parts {
        Parts::Best { matched, .. } => matched.iter().map(|word| word.score).sum(),
        Parts::Weighted(_) if has_word(hit) => hit.score,
        Parts::Weighted(_) => 0.0,
    }
}

/// Whether a word of the request stands in the tool: a category alone is no match.
fn has_word(hit: &Hit) -> bool {
    match &hit.parts {
        Parts::Best { matched, .. } => !matched.is_empty(),
        Parts::Weighted(breakdown) => breakdown.name + breakdown.description > 0.0,
    }
}
