//! Who is asked what tools and requests mean, as the owner of a bay sees it.

use std::sync::{Arc, Weak};

use super::{Bay, Inner};
use crate::{
    catalog::Catalog,
    embeddings::{Embedded, Embedder},
};

impl Bay {
    /// Has this one asked what tools and requests mean, from here on; with nothing, they are found by words alone. Tools are
    /// encoded in the background as they come, and until they are they are found by words. Inside a tokio runtime.
    pub fn embed_by(&self, embedder: Option<Embedder>) {
        let dressing = embedder.clone().map(|embedder| tokio::spawn(keep_up(Arc::downgrade(&self.0), embedder)));
        self.0.desk.embed_by(embedder, dressing);
    }

    /// Waits until every tool that is offered now was encoded, or cannot be: for as long as the endpoint is away, and for ever
    /// where there is none.
    pub async fn encoded(&self) {
        let mut dressed = self.0.desk.dressed.subscribe();
        let is_now = |done: &Weak<Catalog>| std::ptr::eq(done.as_ptr(), Arc::as_ptr(&self.0.catalog()));
        // The other end lives as long as the bay.
        let _ = dressed.wait_for(is_now).await;
    }

    /// How it does, where there is one.
    pub fn embedded(&self) -> Option<Embedded> {
        self.0.desk.embedder().map(|embedder| embedder.embedded())
    }
}

/// Has the tools encoded whenever there may be new ones.
async fn keep_up(bay: Weak<Inner>, embedder: Embedder) {
    let Some((mut moved, mut follows)) = bay.upgrade().map(|bay| (bay.moved.subscribe(), bay.desk.picks.follows()))
    else {
        return;
    };
    let mut renewed = embedder.renewals();
    loop {
        moved.mark_unchanged();
        follows.mark_unchanged();
        renewed.mark_unchanged();
        let Some((picks, catalog)) = bay.upgrade().map(|bay| (Arc::clone(&bay.desk.picks), bay.catalog())) else {
            return;
        };
        let done = Arc::downgrade(&catalog);
        picks.dressed(catalog, &embedder).await;
        bay.upgrade().iter().for_each(|bay| drop(bay.desk.dressed.send_replace(done.clone())));
        let gone = tokio::select! {
            gone = moved.changed() => gone.is_err(),
            gone = follows.changed() => gone.is_err(),
            gone = renewed.changed() => gone.is_err(),
        };
        if gone {
            return;
        }
    }
}
