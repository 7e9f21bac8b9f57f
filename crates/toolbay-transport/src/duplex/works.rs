//! The requests that a link serves at the moment. Each is polled when it was woken and at no other time; its place, and
//! what wakes it, are used again for later ones, so that a request costs no allocation here.

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::task::AtomicWaker;
use toolbay_protocol::{exchange::Outcome, peer::ServeId};

use super::serving::Did;
use crate::{service::Answering, talk::Talk};

/// All of them.
pub(super) struct Works {
    rows: Vec<Row>,
    free: Vec<usize>,
    ready: Arc<Ready>,
}

struct Row {
    work: Option<Work>,
    flag: Arc<Flag>,
    waker: Waker,
}

struct Work {
    key: ServeId,
    talk: Talk,
    going: Going,
}

enum Going {
    Working(Answering),
    /// Its service has finished; what it said before may still be on its way.
    Finished(Outcome),
}

/// The places that were woken.
struct Ready {
    woken: Mutex<VecDeque<usize>>,
    task: Arc<AtomicWaker>,
}

struct Flag {
    ready: Arc<Ready>,
    place: usize,
    raised: AtomicBool,
}

impl Ready {
    fn woken(&self) -> MutexGuard<'_, VecDeque<usize>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flag {
    fn raise(&self) {
        if !self.raised.swap(true, Ordering::AcqRel) {
            self.ready.woken().push_back(self.place);
        }
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.raise();
        self.ready.task.wake();
    }
}

impl Works {
    /// None yet, for the task whose waker is put there each time that it is polled.
    pub(super) fn of(task: &Arc<AtomicWaker>) -> Self {
        let ready = Arc::new(Ready { woken: Mutex::default(), task: Arc::clone(task) });
        Self { rows: vec![], free: vec![], ready }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.rows.len()
    }

    /// Adds one; [`Works::poll_next`] begins it.
    pub(super) fn push(&mut self, key: ServeId, work: Answering, talk: Talk) {
        let work = Some(Work { key, talk, going: Going::Working(work) });
        let place = self.free.pop().unwrap_or_else(|| {
            let place = self.rows.len();
            let flag = Arc::new(Flag { ready: Arc::clone(&self.ready), place, raised: AtomicBool::new(false) });
            self.rows.push(Row { work: None, waker: Waker::from(Arc::clone(&flag)), flag });
            place
        });
        self.rows[place].work = work;
        self.rows[place].flag.raise();
    }

    /// Takes one back, where it is here.
    pub(super) fn abort(&mut self, key: ServeId) {
        let mine = |row: &Row| row.work.as_ref().is_some_and(|work| work.key == key);
        if let Some(place) = self.rows.iter().position(mine) {
            self.vacate(place);
        }
    }

    fn vacate(&mut self, place: usize) -> Option<Work> {
        let work = self.rows[place].work.take()?;
        self.free.push(place);
        Some(work)
    }

    /// What one of them did next.
    pub(super) fn poll_next(&mut self) -> Poll<(ServeId, Did)> {
        // Each once: what wakes itself while it is asked has its turn when others had theirs.
        let mut left = self.ready.woken().len();
        while left > 0 {
            left -= 1;
            let Some(place) = self.ready.woken().pop_front() else { break };
            let row = &mut self.rows[place];
            row.flag.raised.swap(false, Ordering::AcqRel);
            let Some(work) = &mut row.work else { continue };
            // The work first: most of it is done at once and says nothing.
            let said = match work.goes_on(&mut Context::from_waker(&row.waker)) {
                Poll::Ready(said) => said,
                Poll::Pending => continue,
            };
            if let Some(did) = said {
                row.flag.raise();
                return Poll::Ready((work.key, did));
            }
            if let Some(Work { key, mut talk, going: Going::Finished(outcome) }) = self.vacate(place) {
                let did = match talk.parting() {
                    Some((asks, state)) => Did::Parted(asks, state),
                    None => Did::Done(outcome),
                };
                return Poll::Ready((key, did));
            }
        }
        Poll::Pending
    }
}

impl Work {
    /// What it said; nothing where it is finished and has nothing left to say.
    fn goes_on(&mut self, cx: &mut Context<'_>) -> Poll<Option<Did>> {
        if let Going::Working(work) = &mut self.going {
            match work.as_mut().poll(cx) {
                Poll::Ready(outcome) => self.going = Going::Finished(outcome),
                Poll::Pending => return self.talk.poll_next(cx).map(|said| Some(Did::Said(said))),
            }
        }
        Poll::Ready(self.talk.try_next().map(Did::Said))
    }
}

impl fmt::Debug for Works {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Works").field("rows", &self.rows.len()).field("free", &self.free.len()).finish()
    }
}
