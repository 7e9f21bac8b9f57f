//! An endpoint that is asked: cheap to hand around, over when the last hand lets go.

use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    task::JoinHandle,
    time::{self, Instant},
};
use toolbay_retrieval::Encoder;

use super::{
    ask::Recent,
    breaker::Breaker,
    carry::{self, Carry},
    known::Known,
    notices::Notices,
    row::digest,
    settings::Settings,
    store::Store,
    work,
};

/// How many jobs may wait for the one that is done.
const WAITING: usize = 16;
/// How many searches ask at once; another one goes by words.
const ASKING: usize = 16;
/// How much of a text is encoded: models read no more.
pub(super) const LONGEST: usize = 4096;

/// Told when the endpoint begins to fail, and when it goes on.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// An endpoint that is asked.
#[derive(Clone)]
pub struct Embedder(Arc<Owner>);

struct Owner {
    shared: Arc<Shared>,
    jobs: mpsc::Sender<Job>,
    task: JoinHandle<()>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Texts that are to be encoded.
pub(super) struct Job {
    pub(super) texts: Vec<String>,
    pub(super) patience: Patience,
    pub(super) done: oneshot::Sender<()>,
}

/// What is done where the endpoint fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// It is asked again, later and later.
    Endless,
    /// The job ends.
    None,
}

/// What those who search and the one who encodes have in common.
pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) carry: Carry,
    pub(super) store: Option<Store>,
    pub(super) known: Mutex<Known>,
    pub(super) breaker: Mutex<Breaker>,
    pub(super) recent: Mutex<Recent>,
    pub(super) asking: Semaphore,
    pub(super) notices: Notices,
    pub(super) tell: Tell,
    /// The stamp of what is known, and whether there is an encoder.
    pub(super) renewed: watch::Sender<(u64, bool)>,
}

/// How it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// The model.
    pub model: String,
    /// Where it is asked, without what may be secret in it.
    pub place: String,
    /// How many numbers a vector has; nought until one was seen.
    pub width: usize,
    /// Whether the self-test was passed, so that its vectors count.
    pub ready: bool,
    /// Whether it reads Chinese, once that is known.
    pub chinese: Option<bool>,
    /// How many texts have a vector.
    pub vectors: usize,
    /// What is wrong at the moment.
    pub fault: Option<String>,
}

impl Embedder {
    /// Asks by `settings` over HTTP; vectors are kept in `folder`. An error where the address or the key cannot be used.
    pub fn start(settings: Settings, folder: Option<&Path>, tell: Tell) -> Result<Self, String> {
        let carry = carry::over_http(&settings)?;
        Ok(Self::over(carry, settings, folder, tell))
    }

    /// The same by another way than HTTP.
    pub fn over(carry: Carry, settings: Settings, folder: Option<&Path>, tell: Tell) -> Self {
        let store = folder.map(|folder| Store::at(folder, settings.identity()));
        let known = Known::default();
        let renewed = watch::channel((known.stamp, false)).0;
        let shared = Arc::new(Shared {
            settings,
            carry,
            store,
            known: Mutex::new(known),
            breaker: Mutex::default(),
            recent: Mutex::default(),
            asking: Semaphore::new(ASKING),
            notices: Notices::default(),
            tell,
            renewed,
        });
        let (jobs, waiting) = mpsc::channel(WAITING);
        let task = tokio::spawn(work::run(Arc::clone(&shared), waiting));
        Self(Arc::new(Owner { shared, jobs, task }))
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    /// Has these texts of tools encoded that are not; over when all are that can be. It waits for as long as the endpoint is
    /// away: who cannot, drops it, and what was encoded by then is kept.
    pub async fn encode(&self, texts: Vec<String>) {
        self.work(texts, Patience::Endless).await;
    }

    async fn work(&self, texts: Vec<String>, patience: Patience) {
        let (done, when) = oneshot::channel();
        if self.0.jobs.send(Job { texts, patience, done }).await.is_ok() {
            let _ = when.await;
        }
    }

    /// What is known of these texts of tools, by their places, once those were encoded that were not: within so long, and
    /// unless the endpoint fails.
    pub async fn vectors(&self, texts: &[String], within: Duration) -> Vec<Option<Vec<f32>>> {
        // Too late is right: some have one.
        let _ = time::timeout(within, self.work(texts.to_vec(), Patience::None)).await;
        let shared = self.shared();
        let digests: Vec<_> = texts.iter().map(|text| digest(&shared.passage(text))).collect();
        let mut known = shared.known();
        let rows: Vec<_> = digests.iter().map(|digest| known.row(digest)).collect();
        drop(known);
        rows.into_iter().map(|row| row.map(|row| row.vector())).collect()
    }

    /// How it encodes, once it was tested, and the stamp of the vectors that are of the same space.
    pub fn encoder(&self) -> Option<(u64, Arc<Encoder>)> {
        let known = self.shared().known();
        known.encoder.as_ref().map(|encoder| (known.stamp, Arc::clone(encoder)))
    }

    /// The vector of a tool's text, where it is known; nothing for ever where it was refused.
    pub(crate) fn vector(&self, stamp: u64, text: &str) -> Vectored {
        let shared = self.shared();
        let digest = digest(&shared.passage(text));
        let mut known = shared.known();
        if known.stamp != stamp {
            return Vectored::NotYet;
        }
        match known.row(&digest) {
            Some(row) => Vectored::Yes(row.vector()),
            None if known.is_decided(&digest) => Vectored::Never,
            None => Vectored::NotYet,
        }
    }

    /// Hears when vectors of before cannot be used any more, and when the first can be.
    pub(crate) fn renewals(&self) -> watch::Receiver<(u64, bool)> {
        self.shared().renewed.subscribe()
    }

    /// How it does.
    pub fn embedded(&self) -> Embedded {
        let shared = self.shared();
        let known = shared.known();
        Embedded {
            model: shared.settings.model.clone(),
            place: shared.settings.url.to_string(),
            width: known.width,
            ready: known.encoder.is_some(),
            chinese: known.encoder.as_ref().map(|encoder| encoder.chinese() == toolbay_retrieval::Chinese::Read),
            vectors: known.count(),
            fault: shared.notices.fault(),
        }
    }
}

/// Whether a text has a vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Vectored {
    /// This one.
    Yes(Vec<f32>),
    /// It was not encoded yet.
    NotYet,
    /// The endpoint does not take it, or there is no room for it.
    Never,
}

impl Shared {
    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A tool's text as it is sent.
    pub(super) fn passage(&self, text: &str) -> String {
        format!("{}{}", self.settings.passage, &text[..text.floor_char_boundary(LONGEST)])
    }

    /// A request as it is sent.
    pub(super) fn query(&self, text: &str) -> String {
        format!("{}{}", self.settings.query, &text[..text.floor_char_boundary(LONGEST)])
    }

    /// Hears that the endpoint fails.
    pub(super) fn fails(&self, why: &str) {
        if self.notices.fails(why, Instant::now()) {
            let url = &self.settings.url;
            (self.tell)(&format!("the embedding endpoint {url} cannot be used, tools are found by words alone: {why}"));
        }
    }

    /// What a search is told that has to do without, where none was told before.
    pub(super) fn note(&self) -> Option<String> {
        let why = self.notices.note(Instant::now())?;
        Some(format!("found by words alone, since the embedding endpoint cannot be used: {why}"))
    }

    pub(super) fn goes_on(&self) {
        if self.notices.goes_on() {
            (self.tell)(&format!("the embedding endpoint {} answers again", self.settings.url));
        }
    }
}

impl fmt::Debug for Embedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedder").field("settings", &self.shared().settings).finish_non_exhaustive()
    }
}
