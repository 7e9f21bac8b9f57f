//! A child and everything it starts, as one process group. Where there are no groups, only the child itself can be ended.
//!
//! A descendant that makes itself the leader of another group or session leaves ours, and is on its own.
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
    /// Before a child is started.
    pub(super) fn expected() {
        crate::stdio::guard::prepare();
    }

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

    /// Whether nobody is left alive, or nobody we may signal.
    pub(super) fn is_empty(&self) -> bool {
        // The dead belong to their group until they are reaped, and where the first process of the system is slow at that,
        // a look at each of them is quicker.
        test_kill_process_group(self.pid).is_err() || !has_living(self.pid)
    }

    fn signal(&self, signal: Signal) {
        // It fails only when the group is gone already, or out of our reach; both leave nothing to do.
        let _ = kill_process_group(self.pid, signal);
    }
}

/// Whether a process of the group is neither dead nor a zombie; where that cannot be seen, yes.
#[cfg(unix)]
fn has_living(group: Pid) -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let mut stats = processes.flatten().map(|process| std::fs::read_to_string(process.path().join("stat")));
    stats.any(|stat| stat.is_ok_and(|stat| is_living_member(&stat, group)))
}

/// Reads `PID (NAME) STATE PARENT GROUP …`, where the name may hold anything.
#[cfg(unix)]
fn is_living_member(stat: &str, group: Pid) -> bool {
    let mut fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace();
    let living = !matches!(fields.next(), Some("Z" | "X" | "x") | None);
    living && fields.nth(1).and_then(|field| field.parse().ok()) == Some(group.as_raw_nonzero().get())
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
    pub(super) fn expected() {}

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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn zombies_are_not_alive() {
        let group = Pid::from_raw(42).unwrap();
        assert!(is_living_member("7 (a) b) (c) S 1 42 42 0", group));
        assert!(!is_living_member("7 (a) Z 1 42 42 0", group));
        assert!(!is_living_member("42 (a) S 1 7 42 0", group));
        assert!(!is_living_member("", group));
    }
}
