//! A client's link as those see it who call over it: what they say goes into the backlog at once, under a lock that nobody
//! holds for longer than that takes, and the task that owns the link sends it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use futures_util::task::AtomicWaker;
use tokio::time;
use toolbay_protocol::{
    Frame,
    exchange::{Answers, Note, Step},
    frame::Rejected,
    greeting::Introduction,
    peer::{self, Call, CallId, ClientEvent},
};

use super::{link::WriteFrames, steps::StepsIn};
use crate::{Error, Kind, connect::Limits};

/// How many bytes of answers may wait to be sent before nothing more is taken in.
const BACKLOG: usize = 8 << 20;
/// How many bytes are written out ahead; a call that waits behind them can still be taken back without a word.
const AHEAD: usize = 256 << 10;

/// What can be said over a link, whatever it is made of.
pub(super) trait Port: Send + Sync {
    /// Begins a call.
    fn call(&self, call: Call, steps: StepsIn) -> Result<CallId, Unsaid>;
    /// Says something else.
    fn say(&self, saying: Saying) -> Result<(), Unsaid>;
    /// Ends the link at once.
    fn cut(&self);
}

/// Why nothing was said.
pub(super) enum Unsaid {
    /// The link has ended.
    Over,
    /// Too much waits already.
    Full(Error),
}

/// What can be said beside calls.
pub(super) enum Saying {
    Introduce(Arc<Introduction>),
    Answer(CallId, Answers),
    Cancel(CallId),
    Tell(Note),
    Close,
}

/// A link, shared by those who call and the task that owns it.
pub(super) struct Shared<W> {
    link: Mutex<Link<W>>,
    pub(super) owner: Arc<AtomicWaker>,
}

/// What the lock guards.
pub(super) struct Link<W> {
    pub(super) peer: peer::Client,
    /// Gone when the link comes to its end.
    pub(super) writer: Option<W>,
    /// Whose steps go where; keys only grow.
    calls: Vec<(CallId, StepsIn)>,
    minted: u64,
    /// What happened that belongs to no call.
    told: VecDeque<ClientEvent>,
    /// Whether the link is to be closed once what was said is sent.
    pub(super) closing: bool,
    /// When the first call may be overdue; never later than that.
    pub(super) due: Option<Instant>,
    over: bool,
    /// How much may wait to be sent.
    limits: Limits,
}

impl<W: WriteFrames> Shared<W> {
    pub(super) fn new(peer: peer::Client, writer: W, limits: Limits) -> Self {
        let link = Link {
            peer,
            writer: Some(writer),
            calls: vec![],
            minted: 0,
            told: VecDeque::new(),
            closing: false,
            due: None,
            over: false,
            limits,
        };
        Self { link: Mutex::new(link), owner: Arc::new(AtomicWaker::new()) }
    }

    pub(super) fn link(&self) -> MutexGuard<'_, Link<W>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something, unless the link has ended, and has the owner send what is due.
    fn change<T>(&self, change: impl FnOnce(&mut Link<W>) -> Result<T, Unsaid>) -> Result<T, Unsaid> {
        let changed = {
            let mut link = self.link();
            if link.over {
                return Err(Unsaid::Over);
            }
            let changed = change(&mut link)?;
            link.settle();
            changed
        };
        self.owner.wake();
        Ok(changed)
    }
}

impl<W: WriteFrames> Port for Shared<W> {
    fn call(&self, call: Call, steps: StepsIn) -> Result<CallId, Unsaid> {
        let now = time::Instant::now().into_std();
        self.change(|link| {
            link.has_room()?;
            link.minted += 1;
            let key = CallId(link.minted);
            link.calls.push((key, steps));
            let due = link.peer.call(key, call, now);
            link.due = Some(link.due.map_or(due, |first| first.min(due)));
            Ok(key)
        })
    }

    fn say(&self, saying: Saying) -> Result<(), Unsaid> {
        self.change(|link| {
            match saying {
                Saying::Introduce(us) => link.peer.introduce(us),
                Saying::Answer(key, answers) => {
                    link.has_room()?;
                    link.peer.answer(key, answers, time::Instant::now().into_std());
                    // Another call than the one whose clock stood still may be due first now.
                    link.due = link.peer.timeout();
                }
                // It takes something back, or says so of what was sent: never more than was in flight.
                Saying::Cancel(key) => {
                    link.remove(key);
                    link.peer.cancel(key, "the caller took it back");
                }
                Saying::Tell(note) => {
                    link.has_room()?;
                    link.peer.tell(note);
                }
                Saying::Close => link.closing = true,
            }
            Ok(())
        })
    }

    fn cut(&self) {
        // Dropped without the lock: whoever waits is woken by it.
        let ended = self.link().end();
        drop(ended);
        self.owner.wake();
    }
}

impl<W: WriteFrames> Link<W> {
    /// Takes what came.
    pub(super) fn receive(&mut self, frame: Result<Frame, Rejected>, now: Instant) {
        self.peer.receive(frame, now);
    }

    /// Ends calls that took too long.
    pub(super) fn expire(&mut self, now: Instant) {
        self.peer.expire(now);
        self.due = self.peer.timeout();
    }

    /// Hands out what happened in calls, and puts what is due into the backlog.
    pub(super) fn settle(&mut self) {
        while let Some(event) = self.peer.event() {
            match event {
                ClientEvent::Step(key, step @ Step::Done(_)) => {
                    if let Some(call) = self.remove(key) {
                        call.push(step);
                    }
                }
                ClientEvent::Step(key, step) => {
                    if matches!(step, Step::Withdrawn(_)) {
                        // The clock of its call, which stood still for the question, goes on.
                        self.due = self.peer.timeout();
                    }
                    if let Some(place) = self.place(key) {
                        self.calls[place].1.push(step);
                    }
                }
                ClientEvent::Overdue(key) => {
                    if let Some(call) = self.remove(key) {
                        call.fail(Error::new(Kind::Overdue, "the server did not answer in time"));
                    }
                }
                told @ (ClientEvent::Note(_)
                | ClientEvent::Asked(..)
                | ClientEvent::Withdrawn(_)
                | ClientEvent::Stray(_)) => {
                    self.told.push_back(told);
                }
            }
        }
        let Some(writer) = &mut self.writer else { return };
        while writer.backlog() < AHEAD
            && let Some(frame) = self.peer.transmit()
        {
            writer.push(frame);
        }
    }

    fn place(&self, key: CallId) -> Option<usize> {
        self.calls.binary_search_by_key(&key, |(key, _)| *key).ok()
    }

    fn remove(&mut self, key: CallId) -> Option<StepsIn> {
        self.place(key).map(|place| self.calls.remove(place).1)
    }

    /// Whether nothing happened but in calls.
    pub(super) fn is_quiet(&self) -> bool {
        self.told.is_empty()
    }

    /// What happened that belongs to no call, next.
    pub(super) fn told(&mut self) -> Option<ClientEvent> {
        self.told.pop_front()
    }

    /// Whether more may be said, for all that waits already.
    fn has_room(&self) -> Result<(), Unsaid> {
        let (waiting, limits) = (self.peer.waiting(), &self.limits);
        let (much, limit) = if waiting.messages >= limits.unsent_messages {
            (format!("{} messages", waiting.messages), "unsent_messages")
        } else if waiting.bytes >= limits.unsent_bytes {
            (format!("{} bytes", waiting.bytes), "unsent_bytes")
        } else {
            return Ok(());
        };
        let what = format!("the server does not read what it is sent: {much} wait for it already (limit `{limit}`)");
        Err(Unsaid::Full(Error::new(Kind::Limit, what)))
    }

    /// Whether so little waits of what the server causes that more may come of it.
    pub(super) fn takes_in(&self) -> bool {
        self.peer.waiting().replies < BACKLOG
    }

    /// How many bytes are written out and wait.
    pub(super) fn backlog(&self) -> usize {
        self.writer.as_ref().map_or(0, W::backlog)
    }

    /// Takes nothing more: gives what is left of it.
    pub(super) fn end(&mut self) -> (Option<W>, Vec<(CallId, StepsIn)>) {
        self.over = true;
        (self.writer.take(), std::mem::take(&mut self.calls))
    }
}
