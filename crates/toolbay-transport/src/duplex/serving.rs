//! One request while it is served: what the service says, then its outcome, as a stream.

use std::{future::Future, pin::Pin};

use futures_util::{Stream, stream};
use toolbay_protocol::{
    Id, Raw,
    exchange::{Asks, Note, Outcome},
    peer::ServeId,
    watch::modern,
};

use crate::{
    talk::{Said, Talk},
    watch::Watch,
};

/// What a request's service did.
#[derive(Debug)]
pub(crate) enum Did {
    /// It said something.
    Said(Said),
    /// It came to its end.
    Done(Outcome),
    /// It asked a caller that returns; the request is over.
    Parted(Asks, Option<Raw>),
}

type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;

enum State {
    Working(Work, Talk),
    Finished(Outcome, Talk),
    Over,
}

/// The service's work on `key`, and all it says.
pub(crate) fn serving(key: ServeId, work: Work, talk: Talk) -> impl Stream<Item = (ServeId, Did)> + Send {
    stream::unfold(State::Working(work, talk), move |state| async move {
        let (outcome, mut talk) = match state {
            State::Over => return None,
            State::Finished(outcome, talk) => (outcome, talk),
            State::Working(mut work, mut talk) => {
                // The work first: most of it is done at once and says nothing.
                let outcome = tokio::select! {
                    biased;
                    outcome = &mut work => outcome,
                    said = talk.next() => return Some(((key, Did::Said(said)), State::Working(work, talk))),
                };
                (outcome, talk)
            }
        };
        if let Some(said) = talk.try_next() {
            return Some(((key, Did::Said(said)), State::Finished(outcome, talk)));
        }
        let did = match talk.parting() {
            Some((asks, state)) => Did::Parted(asks, state),
            None => Did::Done(outcome),
        };
        Some(((key, did), State::Over))
    })
}

/// A subscription of the modern era: acknowledgement, changes, end.
pub(crate) fn listening(key: ServeId, id: Id, watch: Watch) -> impl Stream<Item = (ServeId, Did)> + Send {
    let first = modern::acknowledge(&id, watch.filter());
    let say = move |note: Note| (key, Did::Said(Said::Note(note)));
    stream::unfold((Some(first), Some(watch)), move |(first, watch)| {
        let id = id.clone();
        async move {
            if let Some(first) = first {
                return Some((say(first), (None, watch)));
            }
            let mut watch = watch?;
            match watch.next().await {
                Some(change) => Some((say(modern::note(&id, &change)), (None, Some(watch)))),
                None => Some(((key, Did::Done(Ok(modern::end(&id)))), (None, None))),
            }
        }
    })
}
