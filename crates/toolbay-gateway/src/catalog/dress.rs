//! What a model makes of the tools of a catalog, put into its index as it becomes known. Never on the path of a search: those
//! without a vector yet are found by words.

use std::sync::{Arc, PoisonError, Weak};

use tokio::{sync::watch, task};
use toolbay_retrieval::Query;

use super::{
    merge::{Catalog, Listed},
    pick::{Picks, read},
};
use crate::embeddings::{Embedder, Vectored};

/// How many tools are looked at in one go.
const CHUNK: usize = 256;

impl Picks {
    /// Hears when a search brought an index to a catalog that it did not have before.
    pub(crate) fn follows(&self) -> watch::Receiver<u64> {
        self.followed.subscribe()
    }

    /// Has every tool of `catalog`, and of those that were searched, encoded, and puts into their indexes what comes of it.
    pub(crate) async fn dressed(self: Arc<Self>, catalog: Arc<Catalog>, embedder: &Embedder) {
        let picks = Arc::clone(&self);
        let made = task::spawn_blocking(move || {
            let pick = picks.of(&catalog);
            pick.write().unwrap_or_else(PoisonError::into_inner).follow(&catalog);
        });
        if made.await.is_err() {
            return;
        }
        for catalog in self.catalogs() {
            self.dress(&catalog, embedder).await;
        }
    }

    /// The same of one catalog; over when that is gone. It is not held while somebody is waited for: who is offered another
    /// one takes its index on.
    async fn dress(self: &Arc<Self>, catalog: &Weak<Catalog>, embedder: &Embedder) {
        while let Some(catalog) = catalog.upgrade() {
            let (picks, asked) = (Arc::clone(self), embedder.clone());
            let step = task::spawn_blocking(move || picks.step(&catalog, &asked)).await;
            match step {
                Ok(Step::Encode(texts)) => embedder.encode(texts).await,
                Ok(Step::More) => {}
                Ok(Step::Done) | Err(_) => return,
            }
        }
    }

    /// Some of the tools that have no vector yet.
    fn step(&self, catalog: &Arc<Catalog>, embedder: &Embedder) -> Step {
        let Some(pick) = self.known(catalog) else { return Step::Done };
        let (stamp, encoder) = embedder.encoder().unzip();
        let stamp = stamp.unwrap_or_default();
        let names: Vec<String> = {
            let mut pick = pick.write().unwrap_or_else(PoisonError::into_inner);
            pick.follow(catalog);
            if pick.stamp != stamp {
                pick.undress(stamp);
                encoder.into_iter().for_each(|encoder| pick.index.set_encoder((*encoder).clone()));
            }
            pick.bare.iter().take(CHUNK).cloned().collect()
        };
        if names.is_empty() {
            return Step::Done;
        }
        let (mut known, mut texts) = (vec![], vec![]);
        for name in names {
            let Some(found) = catalog.find(Listed::Tools, &name) else { continue };
            let text = read(&name, found).text();
            match embedder.vector(stamp, &text) {
                Vectored::Yes(vector) => known.push((name, Some(vector))),
                Vectored::Never => known.push((name, None)),
                Vectored::NotYet => texts.push(text),
            }
        }
        if known.is_empty() && texts.is_empty() {
            // It is another catalog's index this moment, and that one's turn comes.
            return Step::Done;
        }
        let warm = known.iter().find_map(|(_, vector)| vector.clone());
        {
            let mut pick = pick.write().unwrap_or_else(PoisonError::into_inner);
            // A search may have brought it to another catalog meanwhile: then it begins again there.
            if pick.is_of(catalog) && pick.stamp == stamp {
                for (name, vector) in known {
                    pick.bare.remove(&name);
                    if let Some(vector) = vector {
                        pick.index.set_vector(&name, &vector);
                    }
                }
            }
        }
        // What the index works out anew after a change, it works out here and not while somebody waits.
        if let Some(vector) = warm {
            let pick = pick.read().unwrap_or_else(PoisonError::into_inner);
            pick.index.search(&Query::new("a").limit(1).vector(&vector));
        }
        if texts.is_empty() { Step::More } else { Step::Encode(texts) }
    }
}

/// What comes next.
enum Step {
    /// These texts have to be encoded first.
    Encode(Vec<String>),
    /// Others.
    More,
    /// Nothing.
    Done,
}
