//! How a service talks back to its caller while it works: a [`Cx`] on its side, a [`Talk`] on the transport's.
//!
//! Nothing is allocated but the shared cell, until something is said.

use std::{
    collections::VecDeque,
    fmt,
    future::{Future, poll_fn},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::sync::{Notify, oneshot};
use toolbay_protocol::{
    Raw,
    exchange::{Answers, Asks, Note},
    peer::Presence,
};

/// How many notes may wait for a slow caller before their writer must wait too.
const NOTES: usize = 64;

/// What to expect of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It answers while the request is open (handshake).
    Stays,
    /// It answers by a request of its own (stateless).
    Returns,
}

/// Said by the service, to be carried to the caller.
#[derive(Debug)]
pub enum Said {
    /// A note.
    Note(Note),
    /// Questions to a caller that stays, and where the answers go.
    Ask(Asks, oneshot::Sender<Answers>),
    /// What was asked and not answered yet is not asked any more: nobody waits at that end.
    Withdrawn,
    /// The connection may go; the caller is to come back for the rest after this long.
    HangUp(Duration),
}

/// What came of a question.
#[derive(Debug, PartialEq)]
pub enum Reply {
    /// The answers.
    Answers(Answers),
    /// The caller will bring them with a request of its own; this one is over.
    WillReturn,
}

/// The caller is no longer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the caller is gone")
    }
}

impl std::error::Error for Gone {}

#[derive(Default)]
struct State {
    said: VecDeque<Said>,
    parting: Option<(Asks, Option<Raw>)>,
    /// The transport that waits for something to be said.
    waiting: Option<Waker>,
}

struct Shared {
    manner: Manner,
    wants_progress: bool,
    presence: Presence,
    gone: AtomicBool,
    state: Mutex<State>,
    room: Notify,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, mut state: MutexGuard<'_, State>, said: Said) {
        state.said.push_back(said);
        let waiting = state.waiting.take();
        drop(state);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }
}

/// Whether a caller wants progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It gave a token.
    Wanted,
    /// It did not.
    Unwanted,
}

/// The two ends of what is said during one request.
pub fn talk(manner: Manner, progress: Progress) -> (Cx, Talk) {
    talk_with(manner, progress, Presence::default())
}

/// The same with a caller that may hang up without taking its request back.
pub fn talk_with(manner: Manner, progress: Progress, presence: Presence) -> (Cx, Talk) {
    let shared = Arc::new(Shared {
        manner,
        wants_progress: progress == Progress::Wanted,
        presence,
        gone: AtomicBool::new(false),
        state: Mutex::default(),
        room: Notify::new(),
    });
    (Cx(Arc::clone(&shared)), Talk(shared))
}

/// A service's line to its caller.
#[derive(Clone)]
pub struct Cx(Arc<Shared>);

impl Cx {
    /// Tells the caller something; waits while too much is waiting already.
    pub async fn note(&self, note: Note) -> Result<(), Gone> {
        loop {
            let room = self.0.room.notified();
            if self.is_gone() {
                return Err(Gone);
            }
            {
                let state = self.0.state();
                if state.said.len() < NOTES {
                    self.0.say(state, Said::Note(note));
                    return Ok(());
                }
            }
            room.await;
        }
    }

    /// Tells the caller something, or nothing where too much is waiting already.
    pub fn note_now(&self, note: Note) {
        let state = self.0.state();
        if state.said.len() < NOTES && !self.is_gone() {
            self.0.say(state, Said::Note(note));
        }
    }

    /// Puts questions to the caller. One that stays is waited for. One that returns is told to do so with `state`, and
    /// whoever serves the request should come to its end.
    pub async fn ask(&self, asks: Asks, state: Option<Raw>) -> Result<Reply, Gone> {
        if self.is_gone() {
            return Err(Gone);
        }
        if self.0.manner == Manner::Returns {
            self.0.state().parting = Some((asks, state));
            return Ok(Reply::WillReturn);
        }
        // Before the receiver, so that it outlives it.
        let mut asking = Asking { shared: &self.0, answered: false };
        let (answer, answers) = oneshot::channel();
        self.0.say(self.0.state(), Said::Ask(asks, answer));
        let answered = answers.await;
        asking.answered = true;
        answered.map(Reply::Answers).map_err(|_| Gone)
    }

    /// Lets go of the connection on which a long answer is awaited, where the caller can come back for the rest (2025-11-25
    /// over HTTP); it is told to wait for `pause` first. Elsewhere nothing happens.
    pub fn hang_up(&self, pause: Duration) {
        let state = self.0.state();
        if state.said.len() < NOTES {
            self.0.say(state, Said::HangUp(pause));
        }
    }

    /// Whether the caller answers while its request is open, or by another one.
    pub fn manner(&self) -> Manner {
        self.0.manner
    }

    /// Whether the caller is there, which may change.
    pub fn presence(&self) -> Presence {
        self.0.presence.clone()
    }

    /// Whether the caller wants progress.
    pub fn wants_progress(&self) -> bool {
        self.0.wants_progress
    }

    /// Whether the caller is gone, or took its request back.
    pub fn is_gone(&self) -> bool {
        self.0.gone.load(Ordering::Acquire)
    }

    /// Waits until the caller is gone; for work that outlives the future that serves the request.
    pub fn gone(&self) -> impl Future<Output = ()> + Send + 'static {
        let shared = Arc::clone(&self.0);
        async move {
            loop {
                let room = shared.room.notified();
                if shared.gone.load(Ordering::Acquire) {
                    return;
                }
                room.await;
            }
        }
    }
}

/// A question that is waited for. Dropped before it is answered, it is taken back.
struct Asking<'c> {
    shared: &'c Shared,
    answered: bool,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let mut state = self.shared.state();
        let before = state.said.len();
        state.said.retain(|said| !matches!(said, Said::Ask(_, answer) if answer.is_closed()));
        // One that was not taken up yet was never put.
        if state.said.len() == before {
            self.shared.say(state, Said::Withdrawn);
        }
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("manner", &self.0.manner).field("gone", &self.is_gone()).finish_non_exhaustive()
    }
}

/// A transport's end of what a service says. Dropping it tells the service that the caller is gone.
pub struct Talk(Arc<Shared>);

impl Talk {
    /// What was said next; waits for it, and never ends by itself.
    pub async fn next(&mut self) -> Said {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// What was said next; has `cx` woken where nothing was.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Said> {
        let said = self.next_or(|state| match &mut state.waiting {
            Some(waiting) => waiting.clone_from(cx.waker()),
            waiting @ None => *waiting = Some(cx.waker().clone()),
        });
        said.map_or(Poll::Pending, Poll::Ready)
    }

    /// What was said next, if anything was.
    pub fn try_next(&mut self) -> Option<Said> {
        self.next_or(|_| {})
    }

    /// What was said next; where nothing was, what is to be done before anything can be.
    fn next_or(&mut self, nothing: impl FnOnce(&mut State)) -> Option<Said> {
        let mut state = self.0.state();
        let full = state.said.len() >= NOTES;
        let said = state.said.pop_front();
        if said.is_none() {
            nothing(&mut state);
        }
        drop(state);
        if full {
            self.0.room.notify_waiters();
        }
        said
    }

    /// The questions that end this request, where the service asked a caller that returns.
    pub fn parting(&mut self) -> Option<(Asks, Option<Raw>)> {
        self.0.state().parting.take()
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.0.gone.store(true, Ordering::Release);
        self.0.state().said.clear();
        self.0.room.notify_waiters();
    }
}

impl fmt::Debug for Talk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Talk")
    }
}
