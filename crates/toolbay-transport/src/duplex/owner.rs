//! The task that owns a client's link: it reads, sends what waits, and keeps the time.

use std::{
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures_util::{
    StreamExt,
    future::{AbortHandle, abortable},
    stream::FuturesUnordered,
};
use tokio::{task::coop::has_budget_remaining, time};
use toolbay_protocol::{
    Id,
    exchange::Outcome,
    fault::{Fault, Malformed},
    frame::Rejected,
    peer::ClientEvent,
    watch::legacy,
};

use super::{
    gate::Gate,
    link::{Came, ReadFrames, WriteFrames},
    port::{Port as _, Shared},
};
use crate::{Error, Kind, Listener};

/// How long a server that closed its link may take to say how it ended.
const EPITAPH: Duration = Duration::from_millis(500);
/// How long what was told before a link is closed here may take to be sent.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How many frames are taken at once before anything is sent.
const GULP: usize = 64;

/// Answers on their way; none comes of a question that was taken back.
type Replies = FuturesUnordered<Pin<Box<dyn Future<Output = Option<(Id, Outcome)>> + Send>>>;

/// Owns a link.
pub(super) struct Owner<R, W: WriteFrames> {
    shared: Arc<Shared<W>>,
    reader: R,
    listener: Arc<dyn Listener>,
    /// What the listener is asked at the moment.
    replies: Replies,
    /// What ends the search for an answer.
    asked: BTreeMap<Id, AbortHandle>,
    alarm: Option<Alarm>,
    /// Whether the reader is heard first next time.
    reader_first: bool,
    input: Gate,
    others: Gate,
}

/// Goes off when a call may be overdue.
struct Alarm {
    at: Instant,
    sleep: Pin<Box<time::Sleep>>,
}

/// Who ended the link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Us,
    Them,
}

enum Woken {
    Came(Result<Option<Came>, Error>),
    Flushed(Error),
    Reply(Option<(Id, Outcome)>),
    Closing,
    Late,
}

/// However the task ends, also by a panic of the listener: nobody is left waiting for what will not come.
impl<R, W: WriteFrames> Drop for Owner<R, W> {
    fn drop(&mut self) {
        self.shared.cut();
    }
}

impl<R: ReadFrames, W: WriteFrames> Owner<R, W> {
    pub(super) fn new(shared: Arc<Shared<W>>, reader: R, listener: Arc<dyn Listener>) -> Self {
        let (input, others) = (Gate::of(&shared.owner), Gate::of(&shared.owner));
        let (replies, asked) = (Replies::new(), BTreeMap::new());
        Self { shared, reader, listener, replies, asked, alarm: None, reader_first: true, input, others }
    }

    /// Serves the link to its end; says why it came.
    pub(super) async fn run(mut self) -> Error {
        let (mut error, by) = self.serve().await;
        let writer = self.shared.link().writer.take();
        let Some(mut writer) = writer else { return error };
        if by == By::Them
            && let Ok(Some(epitaph)) = time::timeout(EPITAPH, writer.epitaph()).await
        {
            error = Error::closed(format!("the server {epitaph}"));
        }
        let (_, calls) = self.shared.link().end();
        for (_, call) in calls {
            call.fail(error.clone());
        }
        self.listener.lost(&error);
        writer.close().await;
        error
    }

    async fn serve(&mut self) -> (Error, By) {
        loop {
            self.settle();
            match poll_fn(|cx| self.poll_woken(cx)).await {
                Woken::Came(Ok(Some(came))) => {
                    if let Err(error) = self.gulp(came) {
                        self.settle();
                        return (error, By::Them);
                    }
                }
                Woken::Came(Ok(None)) => return (Error::closed("the server closed the link"), By::Them),
                Woken::Came(Err(error)) | Woken::Flushed(error) => return (error, By::Them),
                Woken::Closing => {
                    // The link is being given up: what cannot be sent now is not.
                    let _ = time::timeout(LAST_WORDS, poll_fn(|cx| self.poll_flushed(cx))).await;
                    return (Error::closed("the link was closed here"), By::Us);
                }
                Woken::Reply(Some((id, outcome))) => {
                    self.asked.remove(&id);
                    self.shared.link().peer.reply(id, outcome);
                }
                Woken::Reply(None) => {}
                Woken::Late => self.shared.link().expire(time::Instant::now().into_std()),
            }
        }
    }

    fn poll_woken(&mut self, cx: &mut Context<'_>) -> Poll<Woken> {
        if !has_budget_remaining() {
            // Other tasks want to go on too; and a reader without a budget has nothing to tell.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.shared.owner.register(cx.waker());
        let (room, due) = match self.send(cx) {
            Ok(sent) => sent,
            Err(error) => return Poll::Ready(Woken::Flushed(error)),
        };
        if self.shared.link().closing {
            return Poll::Ready(Woken::Closing);
        }
        self.reader_first = !self.reader_first;
        for reader in [self.reader_first, !self.reader_first] {
            // In turns, so that a server that never falls silent keeps nobody else from being heard.
            let woken = match reader {
                true if room => self.input.poll(|cx| self.reader.poll_read(cx)).map(Woken::Came),
                true => Poll::Pending,
                false => self.poll_others(due),
            };
            if woken.is_ready() {
                return woken;
            }
        }
        Poll::Pending
    }

    /// Sends what waits, as far as it can be sent now; says whether there is room for more, and when a call is due.
    fn send(&mut self, cx: &mut Context<'_>) -> Result<(bool, Option<Instant>), Error> {
        let mut link = self.shared.link();
        while link.backlog() > 0 {
            let flushed = match &mut link.writer {
                Some(writer) => writer.poll_flush(cx),
                None => break,
            };
            match flushed {
                // What found no room before follows now.
                Poll::Ready(Ok(())) => link.settle(),
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => break,
            }
        }
        Ok((link.takes_in(), link.due))
    }

    fn poll_flushed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.shared.owner.register(cx.waker());
        let sent = self.send(cx);
        let waiting = self.shared.link().backlog() > 0;
        if sent.is_ok() && waiting { Poll::Pending } else { Poll::Ready(()) }
    }

    fn poll_others(&mut self, due: Option<Instant>) -> Poll<Woken> {
        let Self { replies, alarm, others, .. } = self;
        // One that is set already goes off no later; when it does, what is due by then is known.
        if let Some(due) = due
            && alarm.as_ref().is_none_or(|alarm| alarm.at > due)
        {
            *alarm = Some(Alarm { at: due, sleep: Box::pin(time::sleep_until(due.into())) });
            others.open();
        }
        others.poll(|cx| {
            if let Poll::Ready(Some(reply)) = replies.poll_next_unpin(cx) {
                return Poll::Ready(Woken::Reply(reply));
            }
            let Some(set) = alarm else { return Poll::Pending };
            set.sleep.as_mut().poll(cx).map(|()| {
                *alarm = None;
                Woken::Late
            })
        })
    }

    /// Takes what came, and at once what came with it, so that what it causes is sent at once.
    fn gulp(&mut self, came: Came) -> Result<(), Error> {
        self.take(came)?;
        for _ in 1..GULP {
            let Some(came) = self.reader.at_hand() else { break };
            self.take(came)?;
        }
        Ok(())
    }

    fn take(&mut self, came: Came) -> Result<(), Error> {
        let now = time::Instant::now().into_std();
        match came {
            // Nobody can tell whose answer it was, so nobody may be left waiting for it.
            Came::One(Err(Rejected { id: None, fault: Fault::Malformed(Malformed::TooLarge(limit)) })) => {
                let what = format!("the server sent a message of more than {limit} bytes (limit `message_bytes`)");
                return Err(Error::new(Kind::Limit, what));
            }
            Came::One(frame) => self.shared.link().receive(frame, now),
            Came::Batch(frames) => {
                let mut link = self.shared.link();
                frames.into_iter().for_each(|frame| link.receive(frame, now));
            }
            Came::Junk(what) => self.listener.stray(&format!("server writes what is no message: {what}")),
        }
        Ok(())
    }

    /// Hands out what happened. The listener hears it without the lock: it may call over this very link.
    fn settle(&mut self) {
        let quiet = {
            let mut link = self.shared.link();
            link.settle();
            link.is_quiet()
        };
        // Most of what comes belongs to a call.
        if quiet {
            return;
        }
        loop {
            let told = self.shared.link().told();
            match told {
                Some(ClientEvent::Note(note)) => match legacy::change(&note.method, note.params.as_ref()) {
                    Some(change) => self.listener.changed(change),
                    None => self.listener.noted(note),
                },
                Some(ClientEvent::Asked(id, ask)) => {
                    let (answer, abort) = abortable(self.listener.asked(ask));
                    self.asked.insert(id.clone(), abort);
                    self.replies.push(Box::pin(async move { answer.await.ok().map(|outcome| (id, outcome)) }));
                    self.others.open();
                }
                Some(ClientEvent::Withdrawn(id)) => {
                    if let Some(abort) = self.asked.remove(&id) {
                        abort.abort();
                    }
                }
                Some(ClientEvent::Stray(what)) => self.listener.stray(&what),
                // Those of calls were handed out.
                Some(ClientEvent::Step(..) | ClientEvent::Overdue(_)) => {}
                None => return,
            }
        }
    }
}
