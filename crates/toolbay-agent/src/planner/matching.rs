//! Which tools a text means, and how strongly.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use toolbay_retrieval::{Fit, Found, Hit, Index, Parts, Query, Scorer};

use super::{meanings::Meanings, offered::Offered, plan::Near, rules::Rules, validity::Check};

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
    pub(super) check: Arc<Check>,
    pub(super) score: Score,
}

/// All tools, ready to be searched.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    tools: HashMap<Arc<str>, (Arc<Offered>, Arc<Check>)>,
    index: Index,
    /// What a model makes of the texts that are looked for.
    texts: HashMap<String, Arc<[f32]>>,
}

impl Shelf {
    pub(super) fn new(tools: Vec<Offered>) -> Self {
        let mut index = Index::new();
        let tools = tools.into_iter().map(|tool| {
            index.insert(&tool.searched());
            (Arc::from(tool.name.as_str()), (Arc::new(tool), Arc::default()))
        });
        Self { tools: tools.collect(), index, texts: HashMap::new() }
    }

    /// The tools by name, with the text of each as a model is to read it.
    pub(super) fn texts(&self) -> Vec<(String, String)> {
        self.tools.values().map(|(tool, _)| (tool.name.clone(), tool.searched().text())).collect()
    }

    /// Takes what a model makes of tools and texts.
    pub(super) fn know(&mut self, meanings: Meanings) {
        self.index.set_encoder(meanings.encoder);
        for (name, vector) in &meanings.tools {
            self.index.set_vector(name, vector);
        }
        self.texts = meanings.texts;
    }

    fn query<'q>(&'q self, text: &'q str, rules: &Rules) -> Query<'q> {
        let query = Query::new(text).by(rules.scorer.clone());
        match self.texts.get(text) {
            Some(vector) => query.vector(vector),
            None => query,
        }
    }

    /// The tools that one of these texts finds, the best first; the first text that finds any decides.
    pub(super) fn matches(&self, texts: &[&str], by_hint: Option<&'static str>, rules: &Rules) -> Vec<Match> {
        // By the prescribed rule a category alone may weigh more than words: what has none is left out before it is cut.
        let limit = if matches!(rules.scorer, Scorer::Weighted(_)) { self.tools.len() } else { rules.most };
        let found = texts.iter().map(|text| (text, self.index.search(&self.query(text, rules).limit(limit.max(1)))));
        let good = |(text, found): &(&&str, Found)| {
            found.fit == Fit::Good || found.hits.first().is_some_and(|best| covers(best, text))
        };
        let Some((_, found)) = found.into_iter().find(good) else { return Vec::new() };
        let strongest = found.hits.iter().map(strength).fold(0.0, f64::max);
        let kept = |(at, hit): (usize, Hit)| {
            let strength = strength(&hit);
            // Where no word says anything, only the best is taken at its word.
            let near = (at == 0 && strength == 0.0) || (strength > 0.0 && strength >= rules.threshold * strongest);
            near.then_some(hit)
        };
        let near: Vec<Hit> = found.hits.into_iter().enumerate().filter_map(kept).collect();
        let fitting = self.fitting(texts, &near, rules);
        let near = near.into_iter().filter(|hit| fitting.contains(&hit.id));
        let matched = near.filter_map(|hit| {
            let (tool, check) = self.tools.get(&hit.id)?.clone();
            Some(Match { tool, check, score: Score { total: hit.score, parts: hit.parts, by_hint } })
        });
        matched.take(rules.most.max(1)).collect()
    }

    /// The nearest there is, whether it fits or not.
    pub(super) fn nearest(&self, text: &str, rules: &Rules) -> Vec<Near> {
        let found = self.index.search(&self.query(text, rules).limit(3));
        let near = found.hits.into_iter().filter_map(|hit| {
            let (tool, _) = self.tools.get(&hit.id)?.clone();
            Some(Near { tool, score: Score { total: hit.score, parts: hit.parts, by_hint: None } })
        });
        near.collect()
    }

    /// Those that fit by themselves, as though nobody better were there.
    fn fitting(&self, texts: &[&str], near: &[Hit], rules: &Rules) -> HashSet<Arc<str>> {
        if let Scorer::Weighted(_) = rules.scorer {
            return near.iter().filter(|hit| has_word(hit)).map(|hit| Arc::clone(&hit.id)).collect();
        }
        // The best was said to fit; of each other one that is asked for when those before it are gone.
        let by_words = |(at, hit): &(usize, &Hit)| *at == 0 || texts.iter().any(|text| covers(hit, text));
        let fitting = near.iter().enumerate().filter(by_words);
        let mut fitting: HashSet<_> = fitting.map(|(_, hit)| Arc::clone(&hit.id)).collect();
        if fitting.len() == near.len() {
            return fitting;
        }
        let mut rest = self.index.clone();
        let mut gone = near[0].id.to_string();
        for _ in 0..rules.most {
            rest.remove(&gone);
            let found = texts.iter().map(|text| rest.search(&self.query(text, rules).limit(1)));
            let found = found.into_iter().find(|found| found.fit == Fit::Good);
            let Some(best) = found.and_then(|found| found.hits.into_iter().next()) else { break };
            gone = best.id.to_string();
            fitting.insert(best.id);
        }
        fitting
    }
}

/// What is compared with the threshold.
fn strength(hit: &Hit) -> f64 {
    match &hit.parts {
        Parts::Best { matched, .. } => matched.iter().map(|word| word.score).sum(),
        Parts::Weighted(_) if has_word(hit) => hit.score,
        Parts::Weighted(_) => 0.0,
    }
}

/// Whether the words that a tool answers make up enough of a text. Among few tools hardly a word is rare, so that by
/// rarity alone none would count for anything.
fn covers(hit: &Hit, text: &str) -> bool {
    let Parts::Best { matched, .. } = &hit.parts else { return false };
    let small = text.to_lowercase();
    let mut covered = vec![false; small.len()];
    for word in matched.iter().map(|matched| matched.word.as_str()).filter(|word| !word.is_empty()) {
        small.match_indices(word).for_each(|(at, _)| covered[at..at + word.len()].fill(true));
    }
    let letters = || small.char_indices().filter(|(_, char)| char.is_alphanumeric());
    let of = letters().filter(|(at, _)| covered[*at]).count();
    of * 2 >= letters().count().max(1)
}

/// Whether a word of the request stands in the tool: a category alone is no match.
fn has_word(hit: &Hit) -> bool {
    match &hit.parts {
        Parts::Best { matched, .. } => !matched.is_empty(),
        Parts::Weighted(breakdown) => breakdown.name + breakdown.description > 0.0,
    }
}
