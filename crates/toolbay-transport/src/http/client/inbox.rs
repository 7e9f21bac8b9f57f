//! What a legacy server says on its own stream although it belongs to a call: progress by its token, and questions, which
//! name no call and so go to the oldest that may be asked.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use toolbay_protocol::{
    ErrorObject, Frame, Id, Method, Raw,
    exchange::{Ask, Outgoing},
    fault::code,
    greeting::Introduction,
    peer::Presence,
};

/// How much may wait for one call.
const WAITING: usize = 64;

/// The calls in flight that may be spoken to.
#[derive(Debug, Default)]
pub(super) struct Inboxes(Mutex<BTreeMap<Id, Arc<Inbox>>>);

/// What waits for one call.
#[derive(Debug)]
pub(super) struct Inbox {
    id: Id,
    method: Method,
    behalf: Option<Arc<Introduction>>,
    presence: Presence,
    /// The task whose result it waits for.
    awaited: Option<Raw>,
    frames: Mutex<VecDeque<Frame>>,
    news: Notify,
}

impl Inboxes {
    fn open(&self) -> MutexGuard<'_, BTreeMap<Id, Arc<Inbox>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to take what is for a request.
    pub(super) fn add(
        &self,
        exchange: &Outgoing,
        (behalf, presence): (Option<Arc<Introduction>>, Presence),
    ) -> Arc<Inbox> {
        let (id, method, awaited) = (exchange.id().clone(), exchange.method().clone(), exchange.awaited());
        let (frames, news) = (Mutex::default(), Notify::new());
        let inbox = Arc::new(Inbox { id: id.clone(), method, behalf, presence, awaited, frames, news });
        self.open().insert(id, Arc::clone(&inbox));
        inbox
    }

    /// Ends it. What to reply to questions that nobody heard.
    pub(super) fn remove(&self, inbox: &Inbox) -> Vec<Frame> {
        self.open().remove(&inbox.id);
        let refused = || ErrorObject::new(code::REFUSED, "the call is over");
        let unheard = std::mem::take(&mut *inbox.frames()).into_iter();
        let replies = unheard.filter_map(|frame| match frame {
            Frame::Request { id, .. } => Some(Frame::reply(id, Err(refused()))),
            Frame::Notification { .. } | Frame::Result { .. } | Frame::Error { .. } => None,
        });
        replies.collect()
    }

    /// Tells every call that a question was taken back: each knows its own.
    pub(super) fn withdrawn(&self, frame: &Frame) {
        let open: Vec<_> = self.open().values().cloned().collect();
        for inbox in open {
            let mut frames = inbox.frames();
            if frames.len() < WAITING {
                frames.push_back(frame.clone());
                drop(frames);
                inbox.news.notify_one();
            }
        }
    }

    /// Hands a frame to the call it is for; it comes back where there is none, or too much waits already.
    #[expect(clippy::result_large_err, reason = "what is given back is no error, and is wanted as it is")]
    pub(super) fn put(&self, frame: Frame) -> Result<(), Frame> {
        let inbox = match &frame {
            // Ids are minted in order: the first is the oldest. One whose caller hung up is passed over while there is another.
            Frame::Request { method, params, .. } => {
                let ask = Ask { method: method.clone(), params: params.clone() };
                let open = self.open();
                let fitting = open.values().filter(|call| ask.suits(&call.method, call.behalf.as_deref()));
                fitting.min_by_key(|call| (ask.strays(call.awaited.as_ref()), !call.presence.is_there())).cloned()
            }
            Frame::Notification { method: Method::Progress, params } => {
                let token = params.as_ref().and_then(|params| params.get("progressToken"));
                token.and_then(|token| Id::read(&token)).and_then(|id| self.open().get(&id).cloned())
            }
            Frame::Notification { .. } | Frame::Result { .. } | Frame::Error { .. } => None,
        };
        let Some(inbox) = inbox else { return Err(frame) };
        let mut frames = inbox.frames();
        if frames.len() >= WAITING {
            return Err(frame);
        }
        frames.push_back(frame);
        drop(frames);
        inbox.news.notify_one();
        Ok(())
    }
}

impl Inbox {
    fn frames(&self) -> MutexGuard<'_, VecDeque<Frame>> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What came next. Losing the future loses nothing.
    async fn next(&self) -> Frame {
        loop {
            let news = self.news.notified();
            if let Some(frame) = self.frames().pop_front() {
                return frame;
            }
            news.await;
        }
    }
}

/// What comes next for a call that has an inbox; for any other nothing ever does.
pub(super) async fn heard(inbox: Option<&Inbox>) -> Frame {
    match inbox {
        Some(inbox) => inbox.next().await,
        None => std::future::pending().await,
    }
}
