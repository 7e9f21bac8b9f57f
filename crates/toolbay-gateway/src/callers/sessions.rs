//! The sessions that are open: what each wants to hear, and the way to tell it what belongs to no request of its own.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use toolbay_protocol::exchange::{Level, Note};
use toolbay_transport::{Caller, Voice};

/// The open sessions. One is known by its introduction, which lives as long as it does.
#[derive(Default)]
pub(crate) struct Sessions {
    table: Mutex<HashMap<usize, Session>>,
    /// Whether any session ever set a level: most never do.
    levels: AtomicBool,
}

struct Session {
    caller: Arc<Caller>,
    level: Option<Level>,
    voice: Option<Voice>,
}

fn key(caller: &Caller) -> usize {
    Arc::as_ptr(&caller.introduction).addr()
}

impl Sessions {
    fn table(&self) -> MutexGuard<'_, HashMap<usize, Session>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session opened.
    pub(crate) fn joined(&self, caller: &Arc<Caller>) {
        let session = Session { caller: Arc::clone(caller), level: None, voice: None };
        self.table().insert(key(caller), session);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.table().len()
    }

    /// It ended.
    pub(crate) fn left(&self, caller: &Caller) {
        self.table().remove(&key(caller));
    }

    /// What belongs to no request of this session can be said so.
    pub(crate) fn heard_by(&self, caller: &Caller, voice: Voice) {
        if let Some(session) = self.table().get_mut(&key(caller)) {
            session.voice = Some(voice);
        }
    }

    /// A session wants log lines from this level on.
    pub(crate) fn set_level(&self, caller: &Caller, level: Level) {
        self.levels.store(true, Ordering::Release);
        if let Some(session) = self.table().get_mut(&key(caller)) {
            session.level = Some(level);
        }
    }

    /// From which level on it does, if it said so.
    pub(crate) fn level(&self, caller: &Caller) -> Option<Level> {
        if !self.levels.load(Ordering::Acquire) {
            return None;
        }
        self.table().get(&key(caller)).and_then(|session| session.level)
    }

    /// The most verbose level that those among them want whom `which` names; one that never said so counts as content
    /// with `info`. `None` where nobody said anything.
    pub(crate) fn most_verbose(&self, which: impl Fn(&Caller) -> bool) -> Option<Level> {
        if !self.levels.load(Ordering::Acquire) {
            return None;
        }
        let table = self.table();
        let sharing = || table.values().filter(|session| which(&session.caller));
        sharing().find(|session| session.level.is_some())?;
        sharing().filter_map(|session| session.level.or_else(|| Level::parse("info"))).min()
    }

    /// Tells one session something.
    pub(crate) fn say(&self, caller: &Caller, note: Note) {
        let voice = self.table().get(&key(caller)).and_then(|session| session.voice.clone());
        if let Some(voice) = voice {
            voice.say(note);
        }
    }

    /// Tells those whom `which` names; a line of log only where it is grave enough for them.
    pub(crate) fn tell(
        &self,
        note: &Note,
        graveness: Option<Level>,
        which: impl Fn(&Caller) -> bool,
        named: impl Fn(&Caller, &Note) -> Note,
    ) {
        let voices: Vec<_> = {
            let table = self.table();
            let wants = |session: &&Session| match (graveness, session.level) {
                (Some(graveness), Some(level)) => graveness >= level,
                (Some(_) | None, _) => true,
            };
            let sharing = table.values().filter(|session| which(&session.caller)).filter(wants);
            sharing.filter_map(|session| Some((Arc::clone(&session.caller), session.voice.clone()?))).collect()
        };
        for (caller, voice) in voices {
            if !note.method.is_foreign_to(caller.introduction.revision) {
                voice.say(named(&caller, note));
            }
        }
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("open", &self.table().len()).finish()
    }
}
