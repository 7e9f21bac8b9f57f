//! One task that is kept: where it stands, what it asked of whom, and what it came to.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::FutureExt;
use sha2::{Digest, Sha256};
use tokio::{
    sync::{Notify, mpsc},
    task::JoinHandle,
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{
    Raw,
    exchange::{Answers, Ask, Asks, Outcome},
    peer::Presence,
    raw::Object,
    types::TaskStatus,
};
use toolbay_transport::Connection;

use super::{view::View, wording};

/// How many questions one task may put in its life.
const QUESTIONS: usize = 1_000;
/// How many of them may wait at once: its connection has places for 64, which others want as well.
const AT_ONCE: usize = 16;
/// How many bytes are kept of how a task is shown; where that is more, its longest members go.
const SHOWN: usize = 4_096;
const MEMBER: usize = 256;
/// What a task takes beside all that it says.
const ITSELF: usize = 256;

/// One of them.
pub(crate) struct KeptTask {
    pub(crate) server: Arc<str>,
    /// Under which name it is kept: servers may call tasks of several connections the same.
    pub(crate) name: String,
    /// What the server calls it; where its server knows nothing of it, what we do.
    pub(crate) id: String,
    /// The connection that it began on, where nothing follows it there.
    home: Option<Connection>,
    facts: Mutex<Facts>,
    /// Told when it was taken back here: it stays so, whatever its server says.
    pub(crate) cancelled: CancellationToken,
    /// Told when something about it is not as it was.
    pub(crate) moved: Notify,
}

/// What is known of it.
struct Facts {
    until: Instant,
    /// How it was last shown, in the words of the core.
    task: Raw,
    outcome: Option<Outcome>,
    told: bool,
    /// What its server asked by name, where that is put to the caller while it waits.
    keys: HashMap<Digested, Key>,
    last_put: u64,
    /// What its server asks at the moment, where the caller comes to see.
    open: BTreeMap<u64, (String, Ask)>,
    last_open: u64,
    follower: Option<Follower>,
}

/// A key, however long it is.
type Digested = [u8; 32];

enum Key {
    /// It is put at this moment: for the how manieth time, to whom, and what ends that.
    Open(u64, Presence, CancellationToken),
    /// It was answered, and is never put again.
    Answered,
}

/// What waits at a server with a session for the end of the task, and hears its questions; ended with the task.
pub(crate) struct Follower {
    pub(crate) connection: Connection,
    pub(crate) answers: mpsc::Sender<Answers>,
    /// How its caller sees it.
    pub(crate) view: View,
    pub(crate) job: JoinHandle<()>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.job.abort();
    }
}

/// A question that is put at this moment; dropped before it was answered, it may be put again.
pub(crate) struct Put<'t> {
    task: &'t KeptTask,
    key: Digested,
    number: u64,
    over: CancellationToken,
}

impl KeptTask {
    /// A task as it begins, in the words of the core.
    pub(crate) fn new(server: &Arc<str>, id: &str, task: &Raw, life: Duration) -> Self {
        let facts = Facts {
            until: Instant::now() + life,
            task: bounded(task),
            outcome: None,
            told: false,
            keys: HashMap::new(),
            last_put: 0,
            open: BTreeMap::new(),
            last_open: 0,
            follower: None,
        };
        Self {
            server: Arc::clone(server),
            name: id.to_owned(),
            id: id.to_owned(),
            home: None,
            facts: Mutex::new(facts),
            cancelled: CancellationToken::new(),
            moved: Notify::new(),
        }
    }

    /// The same under another name than its server's.
    #[must_use]
    pub(crate) fn under(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The same, begun on that connection.
    #[must_use]
    pub(crate) fn begun_on(self, connection: &Connection) -> Self {
        Self { home: Some(connection.clone()), ..self }
    }

    /// The connection that it began on, as long as that is there.
    pub(crate) fn home(&self) -> Option<&Connection> {
        self.home.as_ref().filter(|home| home.ended().now_or_never().is_none())
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until when it is kept.
    pub(crate) fn until(&self) -> Instant {
        self.facts().until
    }

    /// How it was last shown, in the words of the core.
    pub(crate) fn task(&self) -> Raw {
        self.facts().task.clone()
    }

    /// It is shown so from here on, unless it was taken back.
    pub(crate) fn shows(&self, task: &Raw) {
        let mut facts = self.facts();
        if !self.cancelled.is_cancelled() {
            facts.task = bounded(task);
        }
    }

    /// It was taken back, and is shown so from here on, whatever its server says.
    pub(crate) fn is_taken_back(&self, task: &Raw) {
        {
            // Both at once, so that nothing comes between.
            let mut facts = self.facts();
            facts.task = bounded(task);
            facts.open.clear();
            self.cancelled.cancel();
        }
        self.has_moved();
    }

    /// What it came to, where that is kept here.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.facts().outcome.clone()
    }

    /// It came to this, unless it was taken back.
    pub(super) fn holds(&self, outcome: Outcome) {
        let outcome = outcome.map(|result| owned(&result));
        let mut facts = self.facts();
        if !self.cancelled.is_cancelled() {
            facts.open.clear();
            facts.outcome = Some(outcome);
        }
    }

    /// Something about it is not as it was: whoever waits or listens is told.
    pub(super) fn has_moved(&self) {
        self.moved.notify_waiters();
        self.tell();
    }

    /// Its server says that it stands so.
    pub(crate) fn stands(&self, task: &Raw) {
        match wording::status(task) {
            Some(TaskStatus::Cancelled) => self.is_taken_back(task),
            _ => self.shows(task),
        }
    }

    /// Whether it is known what became of it.
    pub(crate) fn is_over(&self) -> bool {
        self.cancelled.is_cancelled() || self.outcome().is_some()
    }

    /// Its caller knows how it ended.
    pub(crate) fn is_told(&self) {
        self.facts().told = true;
    }

    /// Whether it does.
    pub(crate) fn was_told(&self) -> bool {
        self.facts().told
    }

    /// Whether it stands in a list of tasks: those that are followed here are of callers that know no list.
    pub(crate) fn is_listed(&self) -> bool {
        self.facts().follower.is_none()
    }

    /// How much is kept of it.
    pub(crate) fn bytes(&self) -> usize {
        let facts = self.facts();
        let open: usize = facts.open.values().map(|(key, ask)| asked(key, ask)).sum();
        let keys = facts.keys.len() * size_of::<(Digested, Key)>();
        ITSELF
            + self.name.len()
            + self.id.len()
            + facts.task.as_bytes().len()
            + facts.outcome.as_ref().map_or(0, size)
            + open
            + keys
    }

    /// Puts a question to somebody; none where it is put already to one who is there, or was answered.
    // spec: tasks extension, a key is never used again
    pub(crate) fn put(&self, key: &str, whom: Presence) -> Option<Put<'_>> {
        let (key, mut facts) = (digested(key), self.facts());
        match facts.keys.get(&key) {
            Some(Key::Answered) => return None,
            Some(Key::Open(_, before, _)) if before.is_there() => return None,
            // Nobody can answer it there.
            Some(Key::Open(_, _, over)) => over.cancel(),
            None if facts.keys.len() >= QUESTIONS => return None,
            None => {}
        }
        facts.last_put += 1;
        let (number, over) = (facts.last_put, CancellationToken::new());
        facts.keys.insert(key, Key::Open(number, whom, over.clone()));
        Some(Put { task: self, key, number, over })
    }

    /// Whether all of these were answered.
    pub(crate) fn answered(&self, asks: &Asks) -> bool {
        let facts = self.facts();
        asks.iter().all(|(key, _)| matches!(facts.keys.get(&digested(key)), Some(Key::Answered)))
    }

    /// What it asks at the moment, under names of our own.
    pub(crate) fn open(&self) -> Asks {
        self.facts().open.iter().map(|(number, (_, ask))| (name(*number), ask.clone())).collect()
    }

    /// Its server asks; false where it asked too much.
    pub(crate) fn opens(&self, key: &str, ask: &Ask) -> bool {
        {
            let mut facts = self.facts();
            if facts.last_open >= QUESTIONS as u64 || facts.open.len() >= AT_ONCE {
                return false;
            }
            facts.last_open += 1;
            let number = facts.last_open;
            facts.open.insert(number, (key.to_owned(), ask.clone()));
        }
        self.tell();
        true
    }

    /// Its server does not ask that any more; whether it did.
    pub(crate) fn closes(&self, key: &str) -> bool {
        let closed = {
            let mut facts = self.facts();
            let before = facts.open.len();
            facts.open.retain(|_, (open, _)| open != key);
            facts.open.len() < before
        };
        if closed {
            self.tell();
        }
        closed
    }

    /// Whoever asked is gone, and asks again if it comes back.
    pub(crate) fn closes_all(&self) {
        let closed = !std::mem::take(&mut self.facts().open).is_empty();
        if closed {
            self.tell();
        }
    }

    /// Takes a question out that was put under a name of ours: what its server calls it, and the question.
    pub(crate) fn answers(&self, public: &str) -> Option<(String, Ask)> {
        let taken = {
            let mut facts = self.facts();
            let number = *facts.open.keys().find(|number| name(**number) == public)?;
            facts.open.remove(&number)
        };
        self.tell();
        taken
    }

    /// Follows it from here on.
    pub(crate) fn follow(&self, follower: Follower) {
        self.facts().follower = Some(follower);
    }

    /// Where what follows it is reached.
    pub(crate) fn follower(&self) -> Option<(Connection, mpsc::Sender<Answers>)> {
        let facts = self.facts();
        facts.follower.as_ref().map(|follower| (follower.connection.clone(), follower.answers.clone()))
    }

    /// It is reached over this connection from here on.
    pub(crate) fn moves_to(&self, connection: &Connection) {
        if let Some(follower) = &mut self.facts().follower {
            follower.connection = connection.clone();
        }
    }

    /// How the caller of one that is followed sees it.
    pub(crate) fn view(&self) -> Option<View> {
        self.facts().follower.as_ref().map(|follower| follower.view.clone())
    }

    /// Tells whoever listens where it stands.
    pub(crate) fn tell(&self) {
        if let Some(view) = self.view() {
            view.tell(self);
        }
    }
}

/// The same text, but no slice of a message that would stay in memory with it.
fn owned(raw: &Raw) -> Raw {
    raw.read().expect("it was read before")
}

/// The same of bounded length.
fn bounded(task: &Raw) -> Raw {
    if task.as_bytes().len() <= SHOWN {
        return owned(task);
    }
    let (mut short, mut left) = (Object::with_capacity(SHOWN), SHOWN);
    for member in task.members() {
        let length = member.key.len() + member.value.as_bytes().len();
        if &*member.key == "taskId" || (length <= MEMBER && length <= left) {
            left = left.saturating_sub(length);
            short.put(&member.key, &member.value);
        }
    }
    short.finish()
}

/// How much is kept of an outcome.
pub(super) fn size(outcome: &Outcome) -> usize {
    match outcome {
        Ok(result) => result.as_bytes().len(),
        Err(error) => error.message.len() + error.data.as_ref().map_or(0, |data| data.as_bytes().len()),
    }
}

/// How much is kept of a question.
pub(crate) fn asked(key: &str, ask: &Ask) -> usize {
    ITSELF + key.len() + ask.params.as_ref().map_or(0, |params| params.as_bytes().len())
}

fn digested(key: &str) -> Digested {
    Sha256::digest(key).into()
}

fn name(number: u64) -> String {
    format!("question-{number}")
}

impl Put<'_> {
    /// It was answered.
    pub(crate) fn answered_now(self) {
        self.task.facts().keys.insert(self.key, Key::Answered);
    }

    /// Told when somebody else is asked instead.
    pub(crate) fn taken_over(&self) -> CancellationToken {
        self.over.clone()
    }
}

impl Drop for Put<'_> {
    fn drop(&mut self) {
        let mut facts = self.task.facts();
        if matches!(facts.keys.get(&self.key), Some(Key::Open(number, ..)) if *number == self.number) {
            facts.keys.remove(&self.key);
        }
    }
}

impl fmt::Debug for KeptTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptTask").field("server", &self.server).field("id", &self.id).finish_non_exhaustive()
    }
}
