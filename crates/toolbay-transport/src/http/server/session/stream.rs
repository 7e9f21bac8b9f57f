//! A request that needs more than one message: its answer becomes a stream. The work goes on in a task of its own, which
//! writes the session's log; whoever is connected reads from there, so that the client may come and go.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, stream};
use http::Response;
use toolbay_protocol::{Feature, Frame, sse};

use super::{
    super::{body::Body, endpoint::Shared, respond},
    call::Out,
    log::Next,
    record::{Attached, Session},
    talker::Talker,
};
use crate::Service;

/// Answers by a stream that begins with `said`; the work goes on whoever listens.
pub(super) fn begin<S: Service>(
    shared: &Arc<Shared<S>>,
    session: Attached,
    talker: Talker,
    said: Vec<Frame>,
    pause: Option<Duration>,
) -> Response<Body> {
    let (stream, generation) = {
        let mut state = session.state();
        let stream = state.log.open();
        state.calls.stream(talker.keys().1, stream);
        // Before anything is said: what waits for a reader is kept.
        let generation = state.log.attach(stream, 0).expect("the stream was opened just now");
        if session.has(Feature::Polling) {
            prime(&mut state.log, stream, shared.options.retry);
        }
        for frame in &said {
            state.log.push(stream, |id| respond::event(Some(id), frame));
        }
        if let Some(pause) = pause {
            state.log.hang_up(stream, pause);
        }
        (stream, generation)
    };
    let session_alone = Arc::clone(session.session());
    let abandon = shared.abandon.clone();
    shared.calls.spawn(async move {
        let _finish = Finish(&session_alone, stream);
        let mut talker = talker;
        tokio::select! {
            biased;
            () = drive(&session_alone, stream, &mut talker) => {}
            () = abandon.cancelled() => {
                for frame in talker.give_up(&super::super::modern::shutting_down()) {
                    session_alone.say(stream, &frame);
                }
            }
        }
    });
    response(shared, session, stream, generation)
}

/// Gives a client an id to come back with before there is anything to say. spec: 2025-11-25 basic/transports
pub(super) fn prime(log: &mut super::log::Log, stream: u64, retry: Duration) {
    log.push(stream, |id| {
        let mut out = BytesMut::new();
        sse::priming(id, Some(retry), &mut out);
        out.freeze()
    });
}

/// Ends the stream, also where the service's work is lost.
struct Finish<'a>(&'a Session, u64);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.state().log.finish(self.1);
        self.0.news.notify_waiters();
    }
}

async fn drive(session: &Session, stream: u64, talker: &mut Talker) {
    loop {
        session.room(stream).await;
        match talker.next().await {
            Out::Said(frame) | Out::Answer(frame) => session.say(stream, &frame),
            Out::HangUp(pause) => {
                session.state().log.hang_up(stream, pause);
                session.news.notify_waiters();
            }
            Out::Over => return,
        }
    }
}

/// Goes on with what nobody is connected to any more, and could not come back for: no event had named a stream.
pub(super) fn run_out<S: Service>(shared: &Arc<Shared<S>>, mut talker: Talker) {
    if tokio::runtime::Handle::try_current().is_err() {
        return;
    }
    talker.deafen();
    let abandon = shared.abandon.clone();
    shared.calls.spawn(async move {
        let to_the_end = async { while !matches!(talker.next().await, Out::Over) {} };
        tokio::select! {
            biased;
            () = to_the_end => {}
            () = abandon.cancelled() => {}
        }
    });
}

/// The stream as far as it was said, and on.
pub(super) fn response<S: Service>(
    shared: &Shared<S>,
    session: Attached,
    stream: u64,
    generation: u64,
) -> Response<Body> {
    let events = events(Reader { session, stream, generation });
    respond::events(Body::live(events, shared.options.keep_alive, shared.calls.token()))
}

/// Somebody who reads a stream; whoever wrote may go on without.
pub(super) struct Reader {
    pub(super) session: Attached,
    pub(super) stream: u64,
    pub(super) generation: u64,
}

impl Reader {
    pub(super) fn read(&self) -> Next {
        self.session.read(self.stream, self.generation)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.session.leave(self.stream, self.generation);
    }
}

fn events(reader: Reader) -> impl Stream<Item = Bytes> + Send {
    stream::unfold(Some(reader), |reader| async move {
        let reader = reader?;
        loop {
            let news = reader.session.news.notified();
            match reader.read() {
                Next::Event(event) => {
                    drop(news);
                    return Some((event, Some(reader)));
                }
                Next::HangUp(pause) => return Some((retry(pause), None)),
                Next::Wait => news.await,
                Next::Over => return None,
            }
        }
    })
}

/// Only says when to come back; no event comes of it.
fn retry(pause: Duration) -> Bytes {
    format!("retry: {}\n\n", pause.as_millis()).into()
}
