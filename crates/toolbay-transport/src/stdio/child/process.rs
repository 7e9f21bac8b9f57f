//! A running server and its end. Not for its messages.

use std::time::Duration;

use tokio::process::Child;
use tokio::time::{sleep, timeout};

use super::group::Group;
use super::stderr::Stderr;
use super::{Exit, Grace, How, Needed, Shutdown};

/// A running server. Dropping it kills its whole process group at once; [`shutdown`](Self::shutdown) is kinder.
#[derive(Debug)]
pub struct ServerProcess {
    /// Gone once the child has been reaped: its number may belong to somebody else then. The first to be dropped.
    group: Option<Group>,
    child: Child,
    id: Option<u32>,
    stderr: Stderr,
    grace: Grace,
    ended: Option<How>,
}

impl ServerProcess {
    pub(super) fn new(child: Child, group: Option<Group>, stderr: Stderr, grace: Grace) -> Self {
        Self { id: child.id(), child, group, stderr, grace, ended: None }
    }

    /// The process id it was started with, also the number of its group.
    pub fn id(&self) -> Option<u32> {
        self.id
    }

    /// The last lines it wrote to stderr, 64 KiB at most.
    pub fn stderr(&self) -> Vec<String> {
        self.stderr.lines()
    }

    /// Why nobody would end this server if we were killed; nothing while the guard watches it.
    pub fn unguarded(&self) -> Option<&str> {
        self.group.as_ref().and_then(Group::unguarded)
    }

    /// Waits until the server ends by itself, then ends what it left behind. The future may be dropped and asked for again.
    pub async fn exited(&mut self) -> Exit {
        self.reap().await;
        self.group = None;
        self.exit().await
    }

    /// Ends the server and its whole tree, in the order of the spec: wait for it to follow the end of its input, SIGTERM,
    /// SIGKILL. The caller drops its `stdin` first, or the first wait is in vain. Never takes longer than the grace and 5 s.
    pub async fn shutdown(&mut self) -> Shutdown {
        let needed = self.end().await;
        self.group = None;
        Shutdown { needed, exit: self.exit().await }
    }

    async fn end(&mut self) -> Needed {
        if self.ended.is_some() {
            return Needed::Nothing;
        }
        if self.gone_within(self.grace.after_close).await {
            return Needed::ClosedInput;
        }
        self.group.iter().for_each(Group::terminate);
        if self.gone_within(self.grace.after_terminate).await {
            return Needed::Terminate;
        }
        self.group.iter().for_each(Group::kill);
        // Does nothing but where there are no groups; reaping follows.
        let _ = self.child.start_kill();
        self.gone_within(KILL).await;
        Needed::Kill
    }

    /// Whether the child and everything in its group ends in time: a wrapper often goes before what it wraps.
    async fn gone_within(&mut self, wait: Duration) -> bool {
        let gone = async {
            self.reap().await;
            let mut pause = FIRST_PAUSE;
            while self.group.as_ref().is_some_and(|group| !group.is_empty()) {
                sleep(pause).await;
                pause = (pause * 2).min(LAST_PAUSE);
            }
        };
        timeout(wait, gone).await.is_ok()
    }

    async fn reap(&mut self) {
        if self.ended.is_none() {
            self.ended = Some(How::of(self.child.wait().await));
        }
    }

    async fn exit(&mut self) -> Exit {
        self.stderr.drained().await;
        let how = self.ended.clone().unwrap_or_else(|| How::Unknown("still running after SIGKILL".to_owned()));
        Exit { how, stderr: self.stderr() }
    }
}

/// Nothing tells when a process group empties, so it is asked, less and less often.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LAST_PAUSE: Duration = Duration::from_millis(100);
/// The kernel may take a while to tear a large process down.
const KILL: Duration = Duration::from_secs(5);
