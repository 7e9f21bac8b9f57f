//! Finding tools: by words and what they are about, or by the prescribed rule.

use crate::asks::{Written, asks};
use crate::bm25::{Ask, Bm25};
use crate::fuse::{self, Voice, Voices};
use crate::meaning;
use crate::query::{Fit, Found, Hit, Matched, Parts, Query, Scorer};
use crate::tokens::{self, Language, Word};
use crate::vectors::Space;
use crate::weighted::{Weights, Words};

use super::tools::Index;

impl Index {
    /// The tools that answer the query best.
    pub fn search(&self, query: &Query<'_>) -> Found {
        match &query.scorer {
            Scorer::Weighted(weights) => self.weighted(query, weights),
            Scorer::Best | Scorer::Words => self.by_words(query),
        }
    }

    fn by_words(&self, query: &Query<'_>) -> Found {
        let words = tokens::words(query.text);
        let tools = match self.about.written(Language::Chinese) {
            0 => Written::English,
            _ => Written::Chinese,
        };
        let asks = asks(query.text, &words, tools);
        let voices = self.voices(query, &words, &asks);
        let fused = fuse::fuse(&voices, Language::of(query.text));
        let best = self.best(query, |place| fused.total(place).map(f64::from));
        let fit = match best.first() {
            Some(&(place, _)) if fused.fits(place) => Fit::Good,
            Some(_) | None => Fit::Nothing,
        };
        let hits = best.into_iter().map(|(place, score)| {
            let matched = self.matched(&asks, place);
            let parts = Parts::Best {
                words: f64::from(fused.words(place)),
                about: f64::from(fused.about(place)),
                model: f64::from(fused.model(place)),
                matched,
            };
            self.hit(place, score, parts)
        });
        Found { hits: hits.collect(), fit }
    }

    fn voices(&self, query: &Query<'_>, words: &[Word], asks: &[Ask]) -> Voices {
        let words_voice = Bm25::MEASURED.scores(&self.postings, asks);
        let mut voices = Voices { words: words_voice, about: None, model: None, tools: self.len() };
        if query.scorer == Scorer::Best {
            let language = Language::of(query.text);
            voices.about = meaning::of_request(words, language).and_then(|point| voice(&self.about, &point));
            if let (Some((encoder, space)), Some(vector)) = (&self.model, query.vector) {
                voices.model = encoder.request(vector, language).and_then(|point| voice(space, &point));
            }
        }
        voices
    }

    fn matched(&self, asks: &[Ask], place: u32) -> Vec<Matched> {
        let mut matched: Vec<Matched> = asks
            .iter()
            .filter_map(|ask| {
                let (term, score) = Bm25::MEASURED.explain(&self.postings, ask, place)?;
                Some(Matched { word: ask.written.clone(), term: term.to_owned(), score: f64::from(score) })
            })
            .collect();
        matched.sort_by(|left, right| right.score.total_cmp(&left.score));
        matched
    }

    fn weighted(&self, query: &Query<'_>, weights: &Weights) -> Found {
        let request = Words::of(query.text);
        let score = |place: u32| {
            let held = self.tools[place as usize].as_ref()?;
            Some(weights.of_words(&request, &held.plain).score)
        };
        let best = self.best(query, score);
        let hits: Vec<Hit> = best
            .into_iter()
            .filter_map(|(place, _)| {
                let held = self.tools[place as usize].as_ref()?;
                let breakdown = weights.of_words(&request, &held.plain);
                Some(self.hit(place, breakdown.score, Parts::Weighted(breakdown)))
            })
            .collect();
        let matches = |hit: &Hit| matches!(hit.parts, Parts::Weighted(parts) if parts.name + parts.description > 0.0);
        let fit = if hits.iter().any(matches) { Fit::Good } else { Fit::Nothing };
        Found { hits, fit }
    }

    /// The places with the highest scores, the best first; equal ones by id, whatever place they happen to have.
    fn best(&self, query: &Query<'_>, score: impl Fn(u32) -> Option<f64>) -> Vec<(u32, f64)> {
        let mut found: Vec<(u32, f64)> = Vec::with_capacity(query.limit.min(self.len()) + 1);
        let by_rank = |left: &(u32, f64), right: &(u32, f64)| {
            right.1.total_cmp(&left.1).then_with(|| self.id(left.0).cmp(self.id(right.0)))
        };
        for place in 0..self.tools.len() {
            let place = u32::try_from(place).expect("places are numbered by u32");
            let Some(score) = score(place) else { continue };
            if found.len() >= query.limit && found.last().is_none_or(|last| score < last.1) {
                continue;
            }
            if !self.asked(place, query) {
                continue;
            }
            let new = (place, score);
            let at = found.partition_point(|kept| by_rank(kept, &new).is_lt());
            found.insert(at, new);
            found.truncate(query.limit);
        }
        found
    }

    /// Whether there is a tool at that place, and one that may be found.
    fn asked(&self, place: u32, query: &Query<'_>) -> bool {
        self.tools[place as usize].as_ref().is_some_and(|held| {
            query.server.is_none_or(|server| *held.server == *server)
                && query.only.as_ref().is_none_or(|only| only.admits(&held.id))
        })
    }

    fn id(&self, place: u32) -> &str {
        self.tools[place as usize].as_ref().map_or("", |held| &held.id)
    }

    fn hit(&self, place: u32, score: f64, parts: Parts) -> Hit {
        Hit { id: self.id(place).into(), score, parts }
    }
}

fn voice(space: &Space, point: &[f32]) -> Option<Voice> {
    Some(Voice { scores: space.nearness(point)?, count: space.count() as usize })
}
