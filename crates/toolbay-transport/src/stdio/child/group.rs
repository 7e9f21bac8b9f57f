//! A child and everything it starts, as one process group. Where there are no groups, only the child itself can be ended.
//!
//! Not for waiting: see `process`.

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// A process group of ours. Dropping it kills what is left of it, without waiting.
#[derive(Debug)]
pub(super) struct Group {
    #[cfg(unix)]
    pid: Pid,
    #[cfg(unix)]
    unguarded: Option<String>,
}

#[cfg(unix)]
impl Group {
    /// The group led by a child just started in it; also ended by the guard if we die first.
    pub(super) fn led_by(id: Option<u32>) -> Option<Self> {
        let pid = id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)?;
        let unguarded = crate::stdio::guard::watch(pid).err();
        Some(Self { pid, unguarded })
    }

    /// Why nobody would end this group if we were killed.
    pub(super) fn unguarded(&self) -> Option<&str> {
        self.unguarded.as_deref()
    }

    /// Asks every process in the group to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends every process in the group.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Whether nobody is left, or nobody we may signal.
    pub(super) fn is_empty(&self) -> bool {
        test_kill_process_group(self.pid).is_err()
    }

    fn signal(&self, signal: Signal) {
        // It fails only when the group is gone already, or out of our reach; both leave nothing to do.
        let _ = kill_process_group(self.pid, signal);
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        crate::stdio::guard::forget(self.pid);
    }
}

#[cfg(not(unix))]
impl Group {
    pub(super) fn led_by(id: Option<u32>) -> Option<Self> {
        id.map(|_| Self {})
    }

    pub(super) fn unguarded(&self) -> Option<&str> {
        Some("this system has no process groups")
    }

    pub(super) fn terminate(&self) {}

    pub(super) fn kill(&self) {}

    pub(super) fn is_empty(&self) -> bool {
        true
    }
}
