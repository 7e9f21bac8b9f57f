//! `subscriptions/listen`: a stream of its own, acknowledged first, ended by a result when the server goes.
// spec: 2026-07-28 basic/patterns/subscriptions

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use toolbay_protocol::{
    ErrorObject, Frame, Id, Raw,
    exchange::{Incoming, Note},
    greeting::Profile,
    watch::{Filter, modern},
};

use super::{body::Body, endpoint::Shared, respond};
use crate::{Caller, Service, Watch};

/// Begins to watch what was asked for and can be honoured.
pub(super) async fn watch<S: Service>(
    shared: &Shared<S>,
    profile: &Profile,
    caller: &Arc<Caller>,
    params: Option<&Raw>,
) -> Result<Watch, ErrorObject> {
    let filter = Filter::asked(params, &caller.introduction, profile)?;
    shared.service.watch(caller, filter).await
}

enum State {
    Opening(Watch),
    Open(Watch),
    Over,
}

/// The stream of a subscription.
pub(super) fn response<S: Service>(
    shared: &Arc<Shared<S>>,
    exchange: Incoming,
    id: Id,
    watch: Watch,
) -> Response<Body> {
    let closing = shared.closing.clone();
    let exchange = Arc::new(exchange);
    let events = stream::unfold(State::Opening(watch), move |state| {
        let (closing, exchange, id) = (closing.clone(), Arc::clone(&exchange), id.clone());
        async move {
            match state {
                State::Opening(watch) => {
                    let first = event(modern::acknowledge(&id, watch.filter()));
                    Some((first, State::Open(watch)))
                }
                State::Open(mut watch) => {
                    let change = tokio::select! {
                        biased;
                        change = watch.next() => change,
                        () = closing.cancelled() => None,
                    };
                    match change {
                        Some(change) => Some((event(modern::note(&id, &change)), State::Open(watch))),
                        None => Some((respond::event(None, &exchange.done(Ok(modern::end(&id)))), State::Over)),
                    }
                }
                State::Over => None,
            }
        }
    });
    respond::events(Body::live(events, shared.options.keep_alive, shared.calls.token()))
}

fn event(note: Note) -> Bytes {
    respond::event(None, &Frame::Notification { method: note.method, params: note.params })
}
