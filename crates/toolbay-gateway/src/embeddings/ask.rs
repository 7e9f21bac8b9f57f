//! The vectors of requests, while somebody waits: in time, or not at all.

use std::{
    collections::VecDeque,
    sync::{Arc, PoisonError},
};

use tokio::time::{self, Instant};
use toolbay_retrieval::{Chinese, Language};

use super::{
    carry::Failed,
    embedder::{Embedder, Shared},
    row::unit,
    wire,
};

/// How many requests are remembered.
const REMEMBERED: usize = 256;
/// How many texts of one request are encoded.
const TEXTS: usize = 64;

/// What a model makes of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meaning {
    /// The stamp of the space that the vectors are of.
    pub stamp: u64,
    /// The vectors of the texts that were asked; none where the search has to do without.
    pub vectors: Vec<Arc<[f32]>>,
    /// Why it has to, where that was not told yet.
    pub note: Option<String>,
}

impl Meaning {
    /// The vector of the only text that was asked.
    pub fn vector(&self) -> Option<&[f32]> {
        self.vectors.first().map(|vector| &**vector)
    }
}

/// The requests that were asked last, the newest at the end.
#[derive(Debug, Default)]
pub(super) struct Recent(VecDeque<(u64, String, Arc<[f32]>)>);

impl Recent {
    fn get(&mut self, stamp: u64, text: &str) -> Option<Arc<[f32]>> {
        let place = self.0.iter().position(|(of, known, _)| *of == stamp && known == text)?;
        let found = self.0.remove(place)?;
        let vector = Arc::clone(&found.2);
        self.0.push_back(found);
        Some(vector)
    }

    fn put(&mut self, stamp: u64, text: String, vector: Arc<[f32]>) {
        if self.0.len() >= REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((stamp, text, vector));
    }
}

impl Embedder {
    /// What the model makes of a request, within the budget; an endpoint that fails again and again is left alone for a while.
    pub async fn request(&self, text: &str) -> Meaning {
        self.requests(&[text]).await
    }

    /// The same of several texts: of all of them, or of none.
    pub async fn requests(&self, texts: &[&str]) -> Meaning {
        let shared = self.shared();
        let without = || Meaning { note: shared.note(), ..Meaning::default() };
        let Some((stamp, encoder)) = self.encoder() else { return without() };
        let silent = |text: &&str| Language::of(text) == Language::Chinese && encoder.chinese() == Chinese::Unread;
        if texts.is_empty() || texts.len() > TEXTS || texts.iter().all(silent) {
            return Meaning::default();
        }
        let texts: Vec<String> = texts.iter().map(|text| shared.query(text)).collect();
        if let Some(vectors) = shared.remembered(stamp, &texts) {
            return Meaning { stamp, vectors, note: None };
        }
        if !shared.breaker.lock().unwrap_or_else(PoisonError::into_inner).allows(Instant::now()) {
            return without();
        }
        // Where so many wait already, one more would only wait longer.
        let Ok(_place) = shared.asking.try_acquire() else { return without() };
        match shared.asked(&texts, encoder.width()).await {
            Ok(vectors) => {
                shared.breaker.lock().unwrap_or_else(PoisonError::into_inner).succeeded();
                shared.goes_on();
                let mut recent = shared.recent.lock().unwrap_or_else(PoisonError::into_inner);
                for (text, vector) in texts.into_iter().zip(&vectors) {
                    recent.put(stamp, text, Arc::clone(vector));
                }
                Meaning { stamp, vectors, note: None }
            }
            Err(why) => {
                shared.breaker.lock().unwrap_or_else(PoisonError::into_inner).failed(Instant::now());
                shared.fails(&why);
                without()
            }
        }
    }
}

impl Shared {
    fn remembered(&self, stamp: u64, texts: &[String]) -> Option<Vec<Arc<[f32]>>> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        texts.iter().map(|text| recent.get(stamp, text)).collect()
    }

    async fn asked(&self, texts: &[String], width: usize) -> Result<Vec<Arc<[f32]>>, String> {
        let budget = self.settings.budget;
        let answer = time::timeout(budget, (self.carry)(wire::document(&self.settings, texts))).await;
        let body = answer.map_err(|_| format!("it did not answer within {budget:?} (`embeddings.budget`)"))?;
        let body = body.map_err(|why: Failed| why.why().to_owned())?;
        let rows = wire::vectors(&body, texts.len())?;
        let got = rows[0].len();
        if got != width {
            let why = format!("its vectors have {got} numbers where they had {width}: the model behind it is another");
            self.renew();
            return Err(why);
        }
        let rows = rows.iter().map(|row| unit(row).map(Arc::from)).collect::<Option<Vec<_>>>();
        rows.ok_or_else(|| "it gave a request a vector of noughts".into())
    }
}
