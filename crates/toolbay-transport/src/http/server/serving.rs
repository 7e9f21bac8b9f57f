//! A service at work on one request: what it says meanwhile, then its outcome. Knows no era and no stream.

use std::{panic::AssertUnwindSafe, pin::Pin, sync::Arc};

use futures_util::{FutureExt, future::AbortRegistration, future::Abortable};
use toolbay_protocol::{
    ErrorObject, Raw,
    exchange::{Asks, Outcome},
    peer::Presence,
};

use crate::{
    service::{Request, Service},
    talk::{Manner, Progress, Said, Talk, talk, talk_with},
};

/// What a service did.
#[derive(Debug)]
pub(super) enum Did {
    /// It said something.
    Said(Said),
    /// It asked a caller that returns; the request is over.
    Parted(Asks, Option<Raw>),
    /// It came to its end.
    Done(Outcome),
}

/// A service at work. Dropping it cancels the work.
pub(super) struct Serving {
    work: Option<Pin<Box<dyn Future<Output = Outcome> + Send>>>,
    outcome: Option<Outcome>,
    talk: Talk,
}

impl Serving {
    /// Begins work that ends when it is dropped.
    pub(super) fn begin<S: Service>(service: &Arc<S>, request: Request, manner: Manner, progress: Progress) -> Self {
        let service = Arc::clone(service);
        let (cx, talk) = talk(manner, progress);
        let work = Box::pin(async move {
            let work = AssertUnwindSafe(async { service.call(request, cx).await });
            work.catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
        });
        Self { work: Some(work), outcome: None, talk }
    }

    /// Begins work that ends also by way of `abort`; what comes of it then is nobody's business.
    pub(super) fn abortable<S: Service>(
        service: &Arc<S>,
        request: Request,
        progress: Progress,
        (abort, presence): (AbortRegistration, Presence),
    ) -> Self {
        let service = Arc::clone(service);
        let (cx, talk) = talk_with(Manner::Stays, progress, presence);
        let work = Box::pin(async move {
            let work = AssertUnwindSafe(async { service.call(request, cx).await }).catch_unwind();
            match Abortable::new(work, abort).await {
                Ok(outcome) => outcome.unwrap_or_else(|_| Err(panicked())),
                Err(_) => Err(ErrorObject::internal("taken back")),
            }
        });
        Self { work: Some(work), outcome: None, talk }
    }

    /// What it does next. Losing the future loses nothing. Not to be called after [`Did::Done`] or [`Did::Parted`].
    pub(super) async fn next(&mut self) -> Did {
        if let Some(work) = &mut self.work {
            // The work first: most of it is done at once and says nothing.
            tokio::select! {
                biased;
                outcome = work => (self.outcome, self.work) = (Some(outcome), None),
                said = self.talk.next() => return Did::Said(said),
            }
        }
        if let Some(said) = self.talk.try_next() {
            return Did::Said(said);
        }
        match self.talk.parting() {
            Some((asks, state)) => Did::Parted(asks, state),
            None => Did::Done(self.outcome.take().unwrap_or_else(|| Err(ErrorObject::internal("over already")))),
        }
    }
}

fn panicked() -> ErrorObject {
    ErrorObject::internal("the server failed at this request; the fault is its own")
}
