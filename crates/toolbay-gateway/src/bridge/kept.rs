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
use toolbay_protocol::{ErrorObject, Raw, exchange::Outcome, fault::code};
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

/// Which task: the server, and under which name it is kept.
pub(crate) type Named<'n> = (&'n str, &'n str);

/// Stands between what makes a name unique and what a server calls a task.
const BEFORE_ID: char = ':';

/// What a server calls the task that is kept under this name.
pub(crate) fn own_id(name: &str) -> Option<&str> {
    name.split_once(BEFORE_ID).map(|(_, id)| id)
}

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

    fn most(&self) -> Size {
        Size { tasks: self.0.most.load(Ordering::Relaxed), bytes: self.0.most_bytes.load(Ordering::Relaxed) }
    }

    /// Room for one more; an error says what to do where there is none.
    pub(crate) fn room(&self, principal: &Principal) -> Result<Room, ErrorObject> {
        let mut table = self.table();
        table.forget();
        let fits = table.fit(principal, Size { tasks: 1, bytes: 0 }, self.most());
        fits.map_err(|full| ErrorObject::internal(format!("{full}; call without a task, or wait")))?;
        table.users.entry(principal.clone()).or_default().taken += 1;
        Ok(Room { kept: self.clone(), principal: principal.clone() })
    }

    /// The task of this principal that is kept under this name.
    pub(crate) fn find(&self, principal: &Principal, (server, name): Named<'_>) -> Option<Arc<KeptTask>> {
        let mut table = self.table();
        let tasks = &table.of(principal)?.tasks;
        tasks.values().rev().find(|task| *task.server == *server && task.name == name).cloned()
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

    /// A name to keep a task under that a server calls `id`, as it may call others of the same user on other connections.
    pub(crate) fn name(&self, bay: u64, id: &str) -> String {
        format!("{}{BEFORE_ID}{id}", self.mint(bay))
    }
}

impl Left {
    /// A task came to this: kept where there is room for it, else what to say instead. One that was taken back stays so.
    pub(crate) fn came_to(&self, task: &KeptTask, outcome: Outcome) {
        let Some(kept) = self.shared.upgrade().map(Kept) else { return };
        let more = Size { tasks: 0, bytes: super::kept_task::size(&outcome) };
        {
            // Until it is held, so that no other takes the same room.
            let mut table = kept.table();
            let held = table.fit(&self.principal, more, kept.most()).map_or_else(
                |full| {
                    let what = format!("the tool ran, but what it came to cannot be kept: {full}; call without a task");
                    Err(ErrorObject::new(outcome.as_ref().err().map_or(code::INTERNAL, |error| error.code), what))
                },
                |()| outcome.clone(),
            );
            task.holds(held);
        }
        task.has_moved();
    }

    /// Whether so many bytes more can be kept.
    pub(crate) fn admits(&self, bytes: usize) -> bool {
        let Some(kept) = self.shared.upgrade().map(Kept) else { return false };
        kept.table().fit(&self.principal, Size { tasks: 0, bytes }, kept.most()).is_ok()
    }
}

/// How much is kept, or may be.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    tasks: usize,
    bytes: usize,
}

/// Why no more is kept: whose tasks there are too many of, how many there may be, and which limit says so.
struct Full {
    whose: &'static str,
    most: usize,
    limit: &'static str,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { whose, most, limit } = self;
        let what = if *limit == "tasks" { "tasks" } else { "bytes of tasks" };
        write!(f, "no more than {most} {what} of {whose} are kept (limit `{limit}`)")
    }
}

impl Size {
    fn exceeds(self, more: Self, most: Self) -> Option<(usize, &'static str)> {
        if self.tasks.saturating_add(more.tasks) > most.tasks {
            Some((most.tasks, "tasks"))
        } else if self.bytes.saturating_add(more.bytes) > most.bytes {
            Some((most.bytes, "taskBytes"))
        } else {
            None
        }
    }

    fn without(self, task: &KeptTask) -> Self {
        Self { tasks: self.tasks.saturating_sub(1), bytes: self.bytes.saturating_sub(task.bytes()) }
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

    /// Forgets tasks whose end their callers know, the oldest first, until so much more fits.
    fn fit(&mut self, principal: &Principal, more: Size, most: Size) -> Result<(), Full> {
        let mut own = self.users.get(principal).map(User::size).unwrap_or_default();
        let mut all = self.users.values().map(User::size).fold(Size::default(), |all, user| Size {
            tasks: all.tasks + user.tasks,
            bytes: all.bytes.saturating_add(user.bytes),
        });
        let together = Size { tasks: most.tasks.saturating_mul(USERS), bytes: most.bytes.saturating_mul(USERS) };
        while let Some((most, limit)) = own.exceeds(more, most) {
            let forgotten = self.users.get_mut(principal).and_then(User::forget_one);
            let forgotten = forgotten.ok_or(Full { whose: "this user", most, limit })?;
            (own, all) = (own.without(&forgotten), all.without(&forgotten));
        }
        while let Some((most, limit)) = all.exceeds(more, together) {
            let told = self.users.values_mut().filter_map(|user| Some((user.oldest_told()?, user)));
            let forgotten = told.min_by_key(|(number, _)| *number).and_then(|(_, user)| user.forget_one());
            let forgotten = forgotten.ok_or(Full { whose: "all users together", most, limit })?;
            all = all.without(&forgotten);
        }
        Ok(())
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

    fn size(&self) -> Size {
        Size { tasks: self.count(), bytes: self.tasks.values().map(|task| task.bytes()).sum() }
    }

    fn oldest_told(&self) -> Option<u64> {
        self.tasks.iter().find(|(_, task)| task.was_told()).map(|(number, _)| *number)
    }

    /// Forgets the oldest task whose end its caller has been told.
    fn forget_one(&mut self) -> Option<Arc<KeptTask>> {
        self.oldest_told().and_then(|number| self.tasks.remove(&number))
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
            user.tasks.retain(|_, before| before.server != task.server || before.name != task.name);
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
    use toolbay_protocol::peer::Presence;

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

    fn of(bytes: usize) -> Outcome {
        Ok(Raw::of(&"x".repeat(bytes)))
    }

    fn came_to(kept: &Kept, who: &Principal, id: &str, outcome: Outcome) -> Arc<KeptTask> {
        let room = kept.room(who).unwrap();
        let left = room.left();
        let task = room.keep(task(id, 60));
        left.came_to(&task, outcome);
        task
    }

    #[tokio::test(start_paused = true)]
    async fn results_that_were_told_make_room_for_others() {
        let kept = Kept::holding(1_000, 10_000);
        let [ada, eve] = ["ada", "eve"].map(|name| Principal::Named(name.into()));
        for id in 0..20 {
            let done = came_to(&kept, &ada, &id.to_string(), of(4_000));
            assert!(done.outcome().unwrap().is_ok(), "{id}");
            done.is_told();
        }
        let untold = [0, 1].map(|id| came_to(&kept, &eve, &id.to_string(), of(4_000)));
        let refused = came_to(&kept, &eve, "2", of(4_000));
        let why = refused.outcome().unwrap().unwrap_err();
        assert!(why.message.contains("this user") && why.message.contains("limit `taskBytes`"), "{why}");
        assert!(untold.iter().all(|task| task.outcome().unwrap().is_ok()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_an_error_says_counts_as_well_and_its_code_stays() {
        let kept = Kept::holding(1_000, 10_000);
        let long = |length| ErrorObject::new(-77, "it breaks").with_data(&"x".repeat(length));
        let [fits, not] = [4_000, 10_000].map(|length| came_to(&kept, &Principal::Local, "1", Err(long(length))));
        assert!(fits.outcome().unwrap().unwrap_err().data.is_some());
        let not = not.outcome().unwrap().unwrap_err();
        assert_eq!((not.code, not.data.is_none()), (-77, true));
    }

    #[tokio::test(start_paused = true)]
    async fn all_users_together_have_a_bound_and_what_was_told_gives_way() {
        let kept = Kept::holding(1, 1 << 20);
        let who = |number: usize| Principal::Named(number.to_string().as_str().into());
        let first = came_to(&kept, &who(0), "1", of(1));
        (1..USERS).for_each(|user| drop(came_to(&kept, &who(user), "1", of(1))));
        let full = kept.room(&who(USERS)).err().unwrap();
        assert!(full.message.contains("all users together"), "{full}");
        first.is_told();
        assert!(kept.room(&who(USERS)).is_ok() && kept.find(&who(0), ("s", "1")).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn how_a_task_is_shown_and_what_it_asks_is_bounded() {
        let kept = Kept::holding(10, 10_000);
        let room = kept.room(&Principal::Local).unwrap();
        let left = room.left();
        let long =
            Raw::of(&serde_json::json!({"taskId": "p", "status": "working", "statusMessage": "x".repeat(100_000)}));
        let task = room.keep(KeptTask::new(&"s".into(), "1", &long, USUAL));
        assert_eq!(task.task().as_str(), r#"{"taskId":"p","status":"working"}"#);
        task.shows(&long);
        assert!(task.bytes() < 1_000, "{}", task.bytes());
        let _put = task.put(&"k".repeat(100_000), Presence::default()).unwrap();
        assert!(task.bytes() < 1_000, "{}", task.bytes());
        assert!(left.admits(9_000) && !left.admits(10_000));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_taken_back_is_not_shown_otherwise_nor_comes_to_anything() {
        let kept = Kept::holding(10, 10_000);
        let room = kept.room(&Principal::Local).unwrap();
        let left = room.left();
        let task = room.keep(task("1", 60));
        let cancelled = Raw::of(&serde_json::json!({"status": "cancelled"}));
        task.is_taken_back(&cancelled);
        task.shows(&Raw::of(&serde_json::json!({"status": "working"})));
        left.came_to(&task, of(1));
        assert_eq!((task.task(), task.outcome()), (cancelled, None));
    }

    #[test]
    fn a_question_whose_caller_is_away_is_taken_over() {
        let task = task("1", 60);
        let away = Presence::new();
        let first = task.put("k", away.clone()).unwrap();
        assert!(task.put("k", Presence::default()).is_none(), "it is put already");
        away.leave();
        let second = task.put("k", Presence::default()).unwrap();
        assert!(first.taken_over().is_cancelled() && !second.taken_over().is_cancelled());
        drop(first);
        assert!(task.put("k", Presence::default()).is_none(), "it is still put by the other");
        drop(second);
        task.put("k", Presence::default()).unwrap().answered_now();
        assert!(task.put("k", Presence::default()).is_none(), "what was answered is not put again");
    }

    #[test]
    fn a_life_is_what_is_said_within_bounds() {
        let of = |text: &str| life(Some(&Raw::parse(text.to_owned().into(), Default::default()).unwrap()));
        assert_eq!((life(None), of("null"), of("1500")), (USUAL, LONGEST, Duration::from_millis(1500)));
        assert_eq!((of("-1"), of("1e300"), of("\"x\"")), (USUAL, USUAL, USUAL));
        assert_eq!(of("1e12"), LONGEST);
    }
}
