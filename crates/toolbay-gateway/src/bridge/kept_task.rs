//! One task that is kept: where it stands, what it asked of whom, and what it came to.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc},
    task::JoinHandle,
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use toolbay_protocol::{
    Raw,
    exchange::{Answers, Ask, Asks, Outcome},
};
use toolbay_transport::Connection;

use super::view::View;

/// How many questions one task may put in its life.
const QUESTIONS: usize = 1_000;

/// One of them.
pub(crate) struct KeptTask {
    pub(crate) server: Arc<str>,
    /// What the server calls it; where it is of our own making, what we do.
    pub(crate) id: String,
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
    keys: HashMap<String, Key>,
    /// What its server asks at the moment, where the caller comes to see.
    open: BTreeMap<u64, (String, Ask)>,
    last_open: u64,
    follower: Option<Follower>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    /// It is put at this moment.
    Open,
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
    key: String,
}

impl KeptTask {
    /// A task as it begins, in the words of the core.
    pub(crate) fn new(server: &Arc<str>, id: &str, task: &Raw, life: Duration) -> Self {
        let facts = Facts {
            until: Instant::now() + life,
            task: owned(task),
            outcome: None,
            told: false,
            keys: HashMap::new(),
            open: BTreeMap::new(),
            last_open: 0,
            follower: None,
        };
        Self {
            server: Arc::clone(server),
            id: id.to_owned(),
            facts: Mutex::new(facts),
            cancelled: CancellationToken::new(),
            moved: Notify::new(),
        }
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

    /// It is shown so from here on.
    pub(crate) fn shows(&self, task: &Raw) {
        self.facts().task = owned(task);
    }

    /// What it came to, where that is kept here.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.facts().outcome.clone()
    }

    /// It came to this.
    pub(crate) fn came_to(&self, outcome: Outcome) {
        let outcome = outcome.map(|result| owned(&result));
        {
            let mut facts = self.facts();
            facts.open.clear();
            facts.outcome = Some(outcome);
        }
        self.moved.notify_waiters();
        self.tell();
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
        let outcome = facts.outcome.as_ref().map_or(0, |outcome| match outcome {
            Ok(result) => result.as_bytes().len(),
            Err(error) => error.message.len() + error.data.as_ref().map_or(0, |data| data.as_bytes().len()),
        });
        let open = facts.open.values().map(|(_, ask)| ask.params.as_ref().map_or(0, |params| params.as_bytes().len()));
        facts.task.as_bytes().len() + outcome + open.sum::<usize>() + facts.keys.keys().map(String::len).sum::<usize>()
    }

    /// Puts a question; none where it is put already, or was answered.
    // spec: tasks extension, a key is never used again
    pub(crate) fn put(&self, key: &str) -> Option<Put<'_>> {
        let mut facts = self.facts();
        if facts.keys.contains_key(key) || facts.keys.len() >= QUESTIONS {
            return None;
        }
        facts.keys.insert(key.to_owned(), Key::Open);
        Some(Put { task: self, key: key.to_owned() })
    }

    /// Whether all of these were answered.
    pub(crate) fn answered(&self, asks: &Asks) -> bool {
        let facts = self.facts();
        asks.iter().all(|(key, _)| facts.keys.get(key) == Some(&Key::Answered))
    }

    /// What it asks at the moment, under names of our own.
    pub(crate) fn open(&self) -> Asks {
        self.facts().open.iter().map(|(number, (_, ask))| (name(*number), ask.clone())).collect()
    }

    /// Its server asks; false where it asked too much.
    pub(crate) fn opens(&self, key: &str, ask: &Ask) -> bool {
        {
            let mut facts = self.facts();
            if facts.last_open >= QUESTIONS as u64 {
                return false;
            }
            facts.last_open += 1;
            let number = facts.last_open;
            facts.open.insert(number, (key.to_owned(), ask.clone()));
        }
        self.tell();
        true
    }

    /// Its server does not ask that any more.
    pub(crate) fn closes(&self, key: &str) {
        self.facts().open.retain(|_, (open, _)| open != key);
    }

    /// Whoever asked is gone, and asks again if it comes back.
    pub(crate) fn closes_all(&self) {
        self.facts().open.clear();
    }

    /// Takes a question out that was put under a name of ours: what its server calls it, and the question.
    pub(crate) fn answers(&self, public: &str) -> Option<(String, Ask)> {
        let mut facts = self.facts();
        let number = *facts.open.keys().find(|number| name(**number) == public)?;
        facts.open.remove(&number)
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

fn name(number: u64) -> String {
    format!("question-{number}")
}

impl Put<'_> {
    /// It was answered.
    pub(crate) fn answered_now(self) {
        self.task.facts().keys.insert(self.key.clone(), Key::Answered);
    }
}

impl Drop for Put<'_> {
    fn drop(&mut self) {
        let mut facts = self.task.facts();
        if facts.keys.get(&self.key) == Some(&Key::Open) {
            facts.keys.remove(&self.key);
        }
    }
}

impl fmt::Debug for KeptTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptTask").field("server", &self.server).field("id", &self.id).finish_non_exhaustive()
    }
}
