//! Something that a task waits for beside other things, asked again only when it called.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::task::AtomicWaker;

/// One source of several that a task waits for.
pub(super) struct Gate {
    bell: Arc<Bell>,
    waker: Waker,
}

struct Bell {
    rung: AtomicBool,
    task: Arc<AtomicWaker>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.task.wake();
    }
}

impl Gate {
    /// A gate of the task whose waker is put there each time that it is polled. It is open at first.
    pub(super) fn of(task: &Arc<AtomicWaker>) -> Self {
        let bell = Arc::new(Bell { rung: AtomicBool::new(true), task: Arc::clone(task) });
        Self { waker: Waker::from(Arc::clone(&bell)), bell }
    }

    /// Has it asked again: it is another one now.
    pub(super) fn open(&self) {
        self.bell.rung.store(true, Ordering::Release);
    }

    /// Asks the source, where it called since it was asked last, or gave something then.
    pub(super) fn poll<T>(&self, ask: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        if !self.bell.rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let given = ask(&mut Context::from_waker(&self.waker));
        if given.is_ready() {
            self.open();
        }
        given
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_asked_when_it_called_and_while_it_gives() {
        let task = Arc::new(AtomicWaker::new());
        let gate = Gate::of(&task);
        assert_eq!(gate.poll(|_| Poll::Ready(1)), Poll::Ready(1));
        let mut kept = None;
        let asked = gate.poll(|cx| {
            kept = Some(cx.waker().clone());
            Poll::<u8>::Pending
        });
        assert_eq!(asked, Poll::Pending);
        assert_eq!(gate.poll(|_| Poll::Ready(2)), Poll::Pending, "it has not called");
        kept.into_iter().for_each(Waker::wake);
        assert_eq!(gate.poll(|_| Poll::Ready(3)), Poll::Ready(3));
    }
}
