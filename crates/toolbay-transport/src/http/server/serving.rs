//! A service at work on one request: what it says meanwhile, then its outcome. Knows no era and no stream.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::{AbortRegistration, Abortable};
use toolbay_protocol::{
    ErrorObject, Raw,
    exchange::{Asks, Outcome},
    peer::Presence,
};

use crate::{
    service::{Answering, Request, Service},
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
    work: Option<Work>,
    outcome: Option<Outcome>,
    talk: Talk,
}

impl Serving {
    /// Begins work that ends when it is dropped.
    pub(super) fn begin<S: Service>(service: &Arc<S>, request: Request, manner: Manner, progress: Progress) -> Self {
        let (cx, talk) = talk(manner, progress);
        let work = Work::Plain(Caught(service.begin(request, cx)));
        Self { work: Some(work), outcome: None, talk }
    }

    /// Begins work that ends also by way of `abort`; what comes of it then is nobody's business.
    pub(super) fn abortable<S: Service>(
        service: &Arc<S>,
        request: Request,
        progress: Progress,
        (abort, presence): (AbortRegistration, Presence),
    ) -> Self {
        let (cx, talk) = talk_with(Manner::Stays, progress, presence);
        let work = Work::Abortable(Abortable::new(Caught(service.begin(request, cx)), abort));
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

enum Work {
    Plain(Caught),
    Abortable(Abortable<Caught>),
}

impl Future for Work {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        match self.get_mut() {
            Self::Plain(work) => Pin::new(work).poll(cx),
            Self::Abortable(work) => {
                let outcome = std::task::ready!(Pin::new(work).poll(cx));
                Poll::Ready(outcome.unwrap_or_else(|_| Err(ErrorObject::internal("taken back"))))
            }
        }
    }
}

/// Work whose panic is an outcome.
struct Caught(Answering);

impl Future for Caught {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        // It is not asked again: that is the end of it.
        catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))).unwrap_or_else(|_| Poll::Ready(Err(panicked())))
    }
}

fn panicked() -> ErrorObject {
    ErrorObject::internal("the server failed at this request; the fault is its own")
}
