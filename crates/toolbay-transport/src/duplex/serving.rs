//! Subscriptions while they are served, as streams; and what a service can do with any request.

use std::{future::Future, pin::Pin};

use futures_util::{Stream, stream};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{
    ErrorObject, Id, Raw,
    exchange::{Asks, Note, Outcome},
    peer::ServeId,
    watch::modern,
};

use crate::{talk::Said, watch::Watch};

/// What a request's service did.
#[derive(Debug)]
pub(crate) enum Did {
    /// It said something.
    Said(Said),
    /// It came to its end.
    Done(Outcome),
    /// It asked a caller that returns; the request is over.
    Parted(Asks, Option<Raw>),
    /// It watches a resource for a session, or refuses to; the request is over.
    Subscribed(String, Result<Watch, ErrorObject>),
}

/// A watch that is about to begin.
pub(crate) type Beginning = Pin<Box<dyn Future<Output = Result<Watch, ErrorObject>> + Send>>;

enum Listening {
    Beginning(Beginning),
    Open(Watch),
    Over,
}

/// A subscription with a request of its own: acknowledgement, changes, end. `ending` brings the end about.
pub(crate) fn listening(
    key: ServeId,
    id: Id,
    watch: Beginning,
    ending: CancellationToken,
) -> impl Stream<Item = (ServeId, Did)> + Send {
    stream::unfold(Listening::Beginning(watch), move |state| {
        let (id, ending) = (id.clone(), ending.clone());
        let say = move |note: Note| (key, Did::Said(Said::Note(note)));
        async move {
            match state {
                Listening::Over => None,
                Listening::Beginning(watch) => {
                    let begun = tokio::select! {
                        begun = watch => begun,
                        () = ending.cancelled() => Err(ErrorObject::internal("the server comes to its end")),
                    };
                    Some(match begun {
                        Ok(watch) => (say(modern::acknowledge(&id, watch.filter())), Listening::Open(watch)),
                        Err(error) => ((key, Did::Done(Err(error))), Listening::Over),
                    })
                }
                Listening::Open(mut watch) => {
                    let change = tokio::select! {
                        biased;
                        change = watch.next() => change,
                        () = ending.cancelled() => None,
                    };
                    Some(match change {
                        Some(change) => (say(modern::note(&id, &change)), Listening::Open(watch)),
                        None => ((key, Did::Done(Ok(modern::end(&id)))), Listening::Over),
                    })
                }
            }
        }
    })
}

/// A subscription of a session: the answer is due when the watch has begun.
pub(crate) fn subscribing(key: ServeId, uri: String, watch: Beginning) -> impl Stream<Item = (ServeId, Did)> + Send {
    stream::once(async move { (key, Did::Subscribed(uri, watch.await)) })
}
