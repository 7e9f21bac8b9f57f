//! One session: who, and what is under way. The lock is held for a moment at a time, never while anything is waited for.

use std::{
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};
use toolbay_protocol::{Feature, Frame, exchange::Level, peer::Allowance, watch::Change};

use super::{
    super::{options::Replay, respond},
    calls::{Attendance, Calls},
    log::{Log, Next, STANDING},
    watches::Watches,
};
use crate::Caller;

/// How many events may wait for a reader before their writer must wait too.
const UNREAD: usize = 16;

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) caller: Arc<Caller>,
    state: Mutex<State>,
    /// Something was said, or someone must look again.
    pub(super) news: Notify,
    /// Something was read.
    room: Notify,
    attached: AtomicUsize,
    opened: Instant,
    /// When it was last heard of, in milliseconds after it was opened.
    heard: AtomicU64,
}

/// What is under way in a session.
#[derive(Debug)]
pub(super) struct State {
    pub(super) ended: bool,
    pub(super) level: Option<Level>,
    pub(super) calls: Calls,
    pub(super) log: Log,
    pub(super) watches: Watches,
}

impl Session {
    pub(super) fn new(caller: Arc<Caller>, replay: Replay, allowance: Allowance) -> Self {
        let (level, log) = (None, Log::new(replay));
        let (calls, watches) = (Calls::within(allowance), Watches::within(allowance));
        Self {
            caller,
            state: Mutex::new(State { ended: false, level, calls, log, watches }),
            news: Notify::new(),
            room: Notify::new(),
            attached: AtomicUsize::new(0),
            opened: Instant::now(),
            heard: AtomicU64::new(0),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has(&self, feature: Feature) -> bool {
        self.caller.introduction.revision.has(feature)
    }

    /// Whether nothing of its client was heard for so long, and no stream or request of it is open.
    pub(super) fn is_idle(&self, limit: Duration) -> bool {
        let heard = Duration::from_millis(self.heard.load(Ordering::Acquire));
        self.attached.load(Ordering::Acquire) == 0 && self.opened.elapsed().saturating_sub(heard) >= limit
    }

    /// Takes back all calls and ends all streams.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        state.calls.end();
        state.watches = Watches::default();
        drop(state);
        self.news.notify_waiters();
        self.room.notify_waiters();
    }

    /// Says something on a stream.
    pub(super) fn say(&self, stream: u64, frame: &Frame) {
        self.state().log.push(stream, |id| respond::event(Some(id), frame));
        self.news.notify_waiters();
    }

    /// What a reader finds next.
    pub(super) fn read(&self, stream: u64, generation: u64) -> Next {
        let mut state = self.state();
        if state.ended && stream == STANDING {
            return Next::Over;
        }
        let next = state.log.next(stream, generation);
        drop(state);
        self.room.notify_waiters();
        next
    }

    /// Stops reading.
    pub(super) fn leave(&self, stream: u64, generation: u64) {
        let mut state = self.state();
        state.log.detach(stream, generation);
        if !state.log.is_attached(stream) {
            state.calls.attend(stream, Attendance::Unread);
        }
        drop(state);
        self.room.notify_waiters();
    }

    /// Waits until a stream's reader, if it has one, is not far behind.
    pub(super) async fn room(&self, stream: u64) {
        loop {
            let read = self.room.notified();
            {
                let state = self.state();
                if state.ended || state.log.unread(stream) < UNREAD {
                    return;
                }
            }
            read.await;
        }
    }

    /// The next change that the session is to be told of.
    pub(super) fn poll_change(&self, cx: &mut Context<'_>) -> Poll<Change> {
        self.state().watches.poll_next(cx)
    }
}

/// A session with which its client is in touch.
#[derive(Debug)]
pub(super) struct Attached(Arc<Session>);

impl Attached {
    pub(super) fn new(session: &Arc<Session>) -> Self {
        session.attached.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(session))
    }

    /// The session alone, for what goes on without its client.
    pub(super) fn session(&self) -> &Arc<Session> {
        &self.0
    }
}

impl Deref for Attached {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl Clone for Attached {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.heard.store(now, Ordering::Release);
        self.0.attached.fetch_sub(1, Ordering::AcqRel);
    }
}
