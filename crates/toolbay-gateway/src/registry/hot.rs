//! Keeps a bay to its file: entries that are added, changed, turned off or taken out are so a moment later, and those whose
//! time is over go by themselves. Servers, and calls in flight, are left alone.

use std::{
    fmt, io,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use tokio::{
    sync::{mpsc, oneshot},
    task::{self, JoinHandle},
    time,
};

use super::{
    error::Error,
    file::Registry,
    look::{Seen, look},
};
use crate::{Bay, Change, config, servers::Spec};

/// How often it is looked whether the file changed.
pub const LOOK: Duration = Duration::from_millis(250);
/// How long somebody who wants a change to be taken on waits for it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many may wait so.
const WAITING: usize = 64;

/// Makes of a file's text the servers and entries in it.
pub type Reader = Arc<dyn Fn(&str) -> Result<Vec<Spec>, config::Error> + Send + Sync>;
/// What time it is.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;
/// Hears what happens.
pub type Hearer = Arc<dyn Fn(&News) + Send + Sync>;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Entries changed, and how.
    Changed(Vec<Change>),
    /// The time of these entries is over; they were taken out of the file.
    Expired(Vec<String>),
    /// The file cannot be used; everything goes on as it was. Where, and what is wrong.
    Broken(String),
    /// It can be used again.
    Mended,
    /// Entries whose time is over could not be taken out of the file; why.
    Stuck(String),
}

/// A file that is followed until this is dropped.
pub struct Hot {
    registry: Registry,
    fault: Arc<Mutex<Option<String>>>,
    asked: mpsc::Sender<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Hot {
    /// Follows the entries of `registry` for `bay`, from the first look on, which is at once.
    pub fn follow(bay: Bay, registry: Registry, reader: Reader, clock: Clock, hearer: Hearer) -> Self {
        let fault = Arc::new(Mutex::new(None));
        let (asked, asks) = mpsc::channel(WAITING);
        let follower = Follower {
            bay,
            registry: registry.clone(),
            reader,
            clock,
            hearer,
            fault: Arc::clone(&fault),
            seen: Seen::default(),
            doubted: false,
            entries: vec![],
            given_up: false,
        };
        Self { registry, fault, asked, task: tokio::spawn(follower.run(asks)) }
    }

    /// What is wrong with the file as it stands, where it cannot be used.
    pub fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the registry, and waits until the change is taken on. It is on the disk by then, whatever becomes of whoever
    /// waits.
    pub async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Registry) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let registry = self.registry.clone();
        let failed = |why: task::JoinError| Error::Disk {
            file: self.registry.file().to_path_buf(),
            doing: "the change",
            why: io::Error::other(why),
        };
        let answer = task::spawn_blocking(move || change(&registry)).await.map_err(failed)??;
        if !self.caught_up().await {
            let why = format!("it was not taken on within {} s", PATIENCE.as_secs());
            return Err(Error::NotLive { why });
        }
        // Somebody who turned a tool off must not believe that it is off while it is not.
        match self.fault() {
            None => Ok(answer),
            Some(why) => Err(Error::NotLive { why }),
        }
    }

    /// Waits, within bounds, until the file as it stands now is taken on; whether that was so. Where it takes longer, it is
    /// taken on all the same.
    pub async fn caught_up(&self) -> bool {
        let (done, when) = oneshot::channel();
        self.asked.send(done).await.is_ok() && time::timeout(PATIENCE, when).await.is_ok()
    }
}

impl Drop for Hot {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for Hot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hot").field("fault", &self.fault()).finish_non_exhaustive()
    }
}

struct Follower {
    bay: Bay,
    registry: Registry,
    reader: Reader,
    clock: Clock,
    hearer: Hearer,
    fault: Arc<Mutex<Option<String>>>,
    seen: Seen,
    /// The text cannot be used, and may be half of what somebody writes this moment.
    doubted: bool,
    /// The entries as they were read last, those left out whose time is over.
    entries: Vec<Spec>,
    /// The file cannot be written.
    given_up: bool,
}

/// Whether a text that cannot be used may be half of one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Whole,
    Perhaps,
}

impl Follower {
    async fn run(mut self, mut asks: mpsc::Receiver<oneshot::Sender<()>>) {
        self.look(Trust::Perhaps).await;
        loop {
            tokio::select! {
                () = time::sleep(self.pause()) => {
                    self.look(Trust::Perhaps).await;
                    self.expire().await;
                }
                asked = asks.recv() => {
                    let Some(done) = asked else { return };
                    self.look(Trust::Whole).await;
                    // Whoever asked may have left.
                    let _ = done.send(());
                }
            }
        }
    }

    /// Until the next look, or until the next entry goes.
    fn pause(&self) -> Duration {
        let now = (self.clock)();
        let ends = self.entries.iter().filter_map(end);
        let next = ends.map(|end| end.duration_since(now).unwrap_or_default()).min();
        next.unwrap_or(LOOK).clamp(Duration::from_millis(1), LOOK)
    }

    async fn look(&mut self, trust: Trust) {
        // On this thread: it is one question to the system, seldom a small file; and a process that never had a second thread is
        // spared the price of locks on each call.
        let looked = look(self.registry.file(), &self.seen);
        let changed = looked.is_some();
        if let Some(seen) = looked {
            self.seen = seen;
        }
        if !changed && !self.doubted {
            return;
        }
        match self.read() {
            Ok(specs) => {
                self.doubted = false;
                if self.fault.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
                    (self.hearer)(&News::Mended);
                }
                self.take(specs).await;
            }
            // Not every editor writes in one go: what is wrong this moment may be half of a text.
            Err(_) if changed && trust == Trust::Perhaps => self.doubted = true,
            Err(why) => {
                self.doubted = false;
                *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
                (self.hearer)(&News::Broken(why));
            }
        }
    }

    fn read(&self) -> Result<Vec<Spec>, String> {
        match &self.seen.text {
            Some(Ok(text)) => (self.reader)(text).map_err(|error| error.to_string()),
            Some(Err(why)) => Err(format!("{}: it cannot be read ({why})", self.registry.file().display())),
            None => Err("it was not read yet".into()),
        }
    }

    /// Takes on what was read.
    async fn take(&mut self, specs: Vec<Spec>) {
        self.given_up = false;
        self.entries = specs.into_iter().filter(is_entry).collect();
        let over = self.leave_out();
        self.apply();
        if over {
            self.remove().await;
        }
    }

    /// Lets go of those whose time is over.
    async fn expire(&mut self) {
        if self.leave_out() {
            self.apply();
            self.remove().await;
        }
    }

    fn leave_out(&mut self) -> bool {
        let (now, before) = ((self.clock)(), self.entries.len());
        self.entries.retain(|entry| end(entry).is_none_or(|end| end > now));
        self.entries.len() < before
    }

    fn apply(&self) {
        let changes = self.bay.reload_tools(self.entries.clone());
        if !changes.is_empty() {
            (self.hearer)(&News::Changed(changes));
        }
    }

    /// Takes those whose time is over out of the file as well.
    async fn remove(&mut self) {
        if self.given_up {
            return;
        }
        let (registry, now) = (self.registry.clone(), (self.clock)());
        match task::spawn_blocking(move || registry.remove_expired(now)).await {
            Ok(Ok(names)) if names.is_empty() => {}
            Ok(Ok(names)) => (self.hearer)(&News::Expired(names)),
            Ok(Err(error)) => {
                self.given_up = true;
                (self.hearer)(&News::Stuck(error.to_string()));
            }
            // It panicked, which has been told.
            Err(_) => self.given_up = true,
        }
    }
}

fn is_entry(spec: &Spec) -> bool {
    spec.written.as_ref().is_some_and(|written| written.tool.is_some())
}

/// When an entry comes to its end.
fn end(spec: &Spec) -> Option<SystemTime> {
    Some(spec.written.as_ref()?.tool.as_ref()?.expires?.moment())
}
