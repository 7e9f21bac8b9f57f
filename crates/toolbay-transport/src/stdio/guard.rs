//! Ends our children when we are killed and cannot do it ourselves.
//!
//! One small shell process watches for all of this program: it reads the groups to end from a pipe whose other end only we
//! hold (it is closed on exec, so no child keeps it open). However we die, the pipe ends, and the guard ends the groups.
//! Between a child's start and the line that names its group lies a moment in which it is not watched; its closed input must
//! do then. The guard is up before the first child, so that the moment is a write to a pipe and no start of a shell.
//! Not for orderly shutdown: see `child`.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::Pid;

/// Starts the guard where none is up, before the child whose group it is to watch. What goes wrong, [`watch`] tells.
pub(super) fn prepare() {
    let mut state = state();
    if state.guard.is_none() {
        state.guard = Guard::start().ok();
    }
}

/// Has the group ended if we die; the error says why that cannot be promised.
pub(super) fn watch(group: Pid) -> Result<(), String> {
    let mut state = state();
    state.groups.insert(group.as_raw_nonzero().get());
    state.tell('+', group).map_err(|error| format!("no guard could be started with /bin/sh: {error}"))
}

/// Lets go of a group that is gone.
pub(super) fn forget(group: Pid) {
    let mut state = state();
    state.groups.remove(&group.as_raw_nonzero().get());
    if state.guard.is_some() {
        // If no guard can be had any more, the next `watch` says so.
        let _ = state.tell('-', group);
    }
}

#[derive(Default)]
struct State {
    guard: Option<Guard>,
    groups: BTreeSet<i32>,
}

struct Guard {
    process: Child,
    pipe: ChildStdin,
}

static STATE: Mutex<State> = Mutex::new(State { guard: None, groups: BTreeSet::new() });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn tell(&mut self, sign: char, group: Pid) -> io::Result<()> {
        let line = format!("{sign} {}\n", group.as_raw_nonzero());
        if let Some(guard) = &mut self.guard {
            if guard.pipe.write_all(line.as_bytes()).is_ok() {
                return Ok(());
            }
            // It died or hangs. It must not act on the end of its pipe, which would end children that are well.
            let _ = guard.process.kill();
            let _ = guard.process.wait();
            self.guard = None;
        }
        let mut guard = Guard::start()?;
        let all: String = self.groups.iter().map(|group| format!("+ {group}\n")).collect();
        guard.pipe.write_all(all.as_bytes())?;
        self.guard = Some(guard);
        Ok(())
    }
}

impl Guard {
    fn start() -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "toolbay-guard"]).env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
        // In a group of its own, no signal from the terminal reaches it before it has done its work.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut process = command.spawn()?;
        let pipe = process.stdin.take().expect("stdin was asked to be a pipe");
        // A guard that hangs must not hang us.
        fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        Ok(Self { process, pipe })
    }
}

/// Reads `+ GROUP` and `- GROUP`; at the end of input, SIGTERM to all, SIGKILL a second later to who is left.
const SCRIPT: &str = r#"
trap '' HUP INT TERM QUIT PIPE
groups=' '
while read -r sign group; do
    case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;; esac ;;
    esac
done
for group in $groups; do kill -s TERM -- "-$group"; done
for pause in 1 2 3 4 5; do
    left=''
    for group in $groups; do kill -s 0 -- "-$group" && left="$left $group"; done
    test -n "$left" || exit 0
    sleep 0.2 || sleep 1
done
for group in $left; do kill -s KILL -- "-$group"; done
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_that_died_is_replaced_and_told_everything() {
        let children = ["first", "second"].map(|_| {
            use std::os::unix::process::CommandExt as _;
            Command::new("/bin/sh").args(["-c", "cat"]).stdin(Stdio::piped()).process_group(0).spawn().unwrap()
        });
        let [first, second] = children.each_ref().map(Pid::from_child);
        watch(first).unwrap();
        let died = {
            let mut state = state();
            let guard = state.guard.as_mut().unwrap();
            guard.process.kill().unwrap();
            guard.process.wait().unwrap();
            guard.process.id()
        };
        watch(second).unwrap();
        {
            let state = state();
            assert_ne!(state.guard.as_ref().unwrap().process.id(), died);
            assert!([first, second].iter().all(|group| state.groups.contains(&group.as_raw_nonzero().get())));
        }
        for mut child in children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        forget(first);
        forget(second);
    }
}
