//! Tasks that run in another revision than their caller's, as far as something must be remembered of them: what they came
//! to, what they asked, that they were taken back. Bound to their principal, bounded in number and bytes, and forgotten
//! when their time is over.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use toolbay_protocol::{ErrorObject, Raw, exchange::Outcome};
use toolbay_transport::Principal;

use super::kept_task::KeptTask;

/// How many times more all users together may have than one.
const USERS: usize = 64;
/// How long a task is kept at most, and where nobody says how long.
pub(crate) const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
pub(crate) const USUAL: Duration = Duration::from_secs(60 * 60);

/// All of them.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Shared>);

#[derive(Default)]
struct Shared {
    most: AtomicUsize,
    most_bytes: AtomicUsize,
    minted: AtomicU64,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u64,
    users: HashMap<Principal, User>,
}

/// What one user has.
#[derive(Default)]
struct User {
    tasks: BTreeMap<u64, Arc<KeptTask>>,
    /// Places for tasks that are about to begin.
    taken: usize,
}

/// A place for a task that is about to begin.
pub(crate) struct Room {
    kept: Kept,
    principal: Principal,
}

/// What a user may still have kept.
pub(crate) struct Left {
    shared: Weak<Shared>,
    principal: Principal,
}

/// Which task: the server, and what that one calls it.
pub(crate) type Named<'n> = (&'n str, &'n str);

impl Kept {
    /// A place for so many of one user, of so many bytes.
    pub(crate) fn holding(most: usize, bytes: usize) -> Self {
        let kept = Self::default();
        kept.allow(most, bytes);
        kept
    }

    /// Keeps more, or fewer; those that are kept stay.
    pub(crate) fn allow(&self, most: usize, bytes: usize) {
        self.0.most.store(most, Ordering::Relaxed);
        self.0.most_bytes.store(bytes, Ordering::Relaxed);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        let users = std::mem::take(&mut self.table().users);
        drop(users);
    }

    /// Room for one more; an error says what to do where there is none.
    pub(crate) fn room(&self, principal: &Principal) -> Result<Room, ErrorObject> {
        let most = self.0.most.load(Ordering::Relaxed);
        let mut table = self.table();
        table.forget();
        let all: usize = table.users.values().map(User::count).sum();
        let user = table.users.entry(principal.clone()).or_default();
        while user.count() >= most && user.forget_one() {}
        if user.count() >= most || all >= most.saturating_mul(USERS) {
            let what =
                format!("{most} tasks of this user are kept already (limit `tasks`); call without a task, or wait");
            return Err(ErrorObject::internal(what));
        }
        user.taken += 1;
        Ok(Room { kept: self.clone(), principal: principal.clone() })
    }

    /// The task of this principal that its server calls so.
    pub(crate) fn find(&self, principal: &Principal, (server, id): Named<'_>) -> Option<Arc<KeptTask>> {
        let mut table = self.table();
        let tasks = &table.of(principal)?.tasks;
        tasks.values().rev().find(|task| *task.server == *server && task.id == id).cloned()
    }

    /// Some tasks of this principal that came after the one of this number; with their numbers.
    pub(crate) fn after(&self, principal: &Principal, number: u64, most: usize) -> Vec<(u64, Arc<KeptTask>)> {
        let mut table = self.table();
        let tasks = table.of(principal).map(|user| &user.tasks);
        let after = tasks.into_iter().flat_map(|tasks| tasks.range(number.saturating_add(1)..));
        after
            .filter(|(_, task)| task.is_listed())
            .take(most)
            .map(|(number, task)| (*number, Arc::clone(task)))
            .collect()
    }

    /// A name that no task of our own making had before.
    pub(crate) fn mint(&self, bay: u64) -> String {
        format!("{bay:x}-{}", self.0.minted.fetch_add(1, Ordering::Relaxed))
    }
}

impl Left {
    /// The same outcome, where it can be kept; else what to say instead.
    pub(crate) fn fitting(&self, outcome: Outcome) -> Outcome {
        let Some(kept) = self.shared.upgrade().map(Kept) else { return outcome };
        let bytes = outcome.as_ref().map_or(0, |result| result.as_bytes().len());
        let most = kept.0.most_bytes.load(Ordering::Relaxed);
        let table = kept.table();
        let tasks = table.users.get(&self.principal).into_iter().flat_map(|user| user.tasks.values());
        if tasks.map(|task| task.bytes()).sum::<usize>() + bytes <= most {
            return outcome;
        }
        Err(ErrorObject::internal(format!(
            "the tool ran, but its result cannot be kept beside the others of this user: together they may have {most} \
             bytes (limit `taskBytes`); call without a task"
        )))
    }
}

impl Table {
    /// Forgets what is too old.
    fn forget(&mut self) {
        let now = Instant::now();
        self.users.retain(|_, user| {
            user.forget(now);
            user.count() > 0
        });
    }

    /// What a user has that is not too old.
    fn of(&mut self, principal: &Principal) -> Option<&User> {
        let user = self.users.get_mut(principal)?;
        user.forget(Instant::now());
        Some(user)
    }
}

impl User {
    fn count(&self) -> usize {
        self.tasks.len() + self.taken
    }

    fn forget(&mut self, now: Instant) {
        self.tasks.retain(|_, task| task.until() > now);
    }

    /// Forgets the oldest task whose end its caller has been told.
    fn forget_one(&mut self) -> bool {
        let told = self.tasks.iter().find(|(_, task)| task.was_told()).map(|(number, _)| *number);
        told.is_some_and(|number| self.tasks.remove(&number).is_some())
    }
}

impl Room {
    /// Keeps a task here.
    pub(crate) fn keep(self, task: KeptTask) -> Arc<KeptTask> {
        let task = Arc::new(task);
        let mut table = self.kept.table();
        table.last += 1;
        let number = table.last;
        if let Some(user) = table.users.get_mut(&self.principal) {
            // A server that uses a name again means another task by it.
            user.tasks.retain(|_, before| before.server != task.server || before.id != task.id);
            user.tasks.insert(number, Arc::clone(&task));
        }
        drop(table);
        task
    }

    /// What its user may still have kept.
    pub(crate) fn left(&self) -> Left {
        Left { shared: Arc::downgrade(&self.kept.0), principal: self.principal.clone() }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut table = self.kept.table();
        if let Some(user) = table.users.get_mut(&self.principal) {
            user.taken = user.taken.saturating_sub(1);
        }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("users", &self.table().users.len()).finish()
    }
}

/// How long a task is kept of which somebody says this many milliseconds.
pub(crate) fn life(millis: Option<&Raw>) -> Duration {
    if millis.is_some_and(|millis| *millis == Raw::NULL) {
        return LONGEST;
    }
    let millis: Option<f64> = millis.and_then(|millis| millis.read().ok());
    let life = millis.filter(|millis| *millis >= 0.0).and_then(|millis| Duration::try_from_secs_f64(millis / 1e3).ok());
    life.unwrap_or(USUAL).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, life: u64) -> KeptTask {
        KeptTask::new(&"s".into(), id, &Raw::EMPTY, Duration::from_secs(life))
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_told_makes_room_and_so_does_what_is_too_old() {
        let kept = Kept::holding(2, 1 << 20);
        let [ada, eve] = ["ada", "eve"].map(|name| Principal::Named(name.into()));
        let first = kept.room(&ada).unwrap().keep(task("1", 60));
        kept.room(&ada).unwrap().keep(task("2", 90));
        assert!(kept.room(&ada).is_err() && kept.room(&eve).is_ok());
        first.is_told();
        let room = kept.room(&ada).unwrap();
        assert!(kept.find(&ada, ("s", "1")).is_none() && kept.find(&ada, ("s", "2")).is_some());
        assert!(kept.find(&eve, ("s", "2")).is_none() && kept.find(&ada, ("t", "2")).is_none());
        assert!(kept.room(&ada).is_err(), "a place that is taken counts");
        drop(room);
        tokio::time::advance(Duration::from_secs(91)).await;
        assert!(kept.find(&ada, ("s", "2")).is_none() && kept.after(&ada, 0, 9).is_empty());
        assert!(kept.room(&ada).is_ok());
    }

    #[test]
    fn a_life_is_what_is_said_within_bounds() {
        let of = |text: &str| life(Some(&Raw::parse(text.to_owned().into(), Default::default()).unwrap()));
        assert_eq!((life(None), of("null"), of("1500")), (USUAL, LONGEST, Duration::from_millis(1500)));
        assert_eq!((of("-1"), of("1e300"), of("\"x\"")), (USUAL, USUAL, USUAL));
        assert_eq!(of("1e12"), LONGEST);
    }
}
