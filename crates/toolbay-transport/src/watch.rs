//! Telling many watchers of changes. What waits for a slow watcher is a set, so it never grows beyond what it watches.

use std::{
    any::Any,
    collections::BTreeSet,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;
use toolbay_protocol::{
    exchange::Note,
    watch::{Change, Filter, Saying},
};

/// How many sayings may wait for a slow watcher; then the oldest goes.
const SAYINGS: usize = 256;

struct Slot {
    filter: Filter,
    waiting: Mutex<BTreeSet<Change>>,
    ended: AtomicBool,
    woken: Notify,
}

impl Slot {
    fn put(&self, change: Change) {
        let mut waiting = self.waiting();
        if matches!(change, Change::Task(_)) {
            waiting.retain(|earlier| !change.supersedes(earlier));
        }
        waiting.insert(change);
        drop(waiting);
        self.woken.notify_one();
    }

    fn say(&self, note: Note) {
        let mut waiting = self.waiting();
        let sayings = || waiting.range(Change::Said(Saying { place: 0, note: note.clone() })..);
        let last = sayings().next_back();
        let place = if let Some(Change::Said(last)) = last { last.place + 1 } else { 0 };
        let oldest = if sayings().count() >= SAYINGS { sayings().next().cloned() } else { None };
        if let Some(oldest) = oldest {
            waiting.remove(&oldest);
        }
        waiting.insert(Change::Said(Saying { place, note }));
        drop(waiting);
        self.woken.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<Change>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where changes are announced.
#[derive(Clone, Default)]
pub struct Hub(Arc<Mutex<Vec<Weak<Slot>>>>);

impl Hub {
    /// A hub without watchers.
    pub fn new() -> Self {
        Self::default()
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Weak<Slot>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to watch.
    pub fn watch(&self, filter: Filter) -> Watch {
        let slot =
            Arc::new(Slot { filter, waiting: Mutex::default(), ended: AtomicBool::new(false), woken: Notify::new() });
        let mut slots = self.slots();
        slots.retain(|slot| slot.strong_count() > 0);
        slots.push(Arc::downgrade(&slot));
        drop(slots);
        Watch { slot, keep: None }
    }

    /// Tells every watcher that wants to know.
    pub fn publish(&self, change: &Change) {
        let slots: Vec<_> = self.slots().iter().filter_map(Weak::upgrade).collect();
        for slot in slots.into_iter().filter(|slot| slot.filter.wants(change)) {
            slot.put(change.clone());
        }
    }

    /// Whether anybody watches this task.
    pub fn watches_task(&self, id: &str) -> bool {
        self.slots().iter().filter_map(Weak::upgrade).any(|slot| slot.filter.tasks.contains(id))
    }

    /// Ends every watch, after what still waits was told.
    pub fn end(&self) {
        for slot in self.slots().drain(..).filter_map(|slot| slot.upgrade()) {
            slot.ended.store(true, Ordering::Release);
            slot.woken.notify_one();
        }
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("watchers", &self.slots().len()).finish()
    }
}

/// One watcher's place at a hub; dropping it ends the watch.
pub struct Watch {
    slot: Arc<Slot>,
    keep: Option<Box<dyn Any + Send>>,
}

impl Watch {
    /// The same watch that keeps `guard` for as long as it lasts.
    #[must_use]
    pub fn keeping(mut self, guard: impl Any + Send) -> Self {
        self.keep = Some(Box::new(guard));
        self
    }

    /// Tells this watcher alone, where it wants to know.
    pub fn tell(&self, change: Change) {
        if self.slot.filter.wants(&change) {
            self.slot.put(change);
        }
    }

    /// What is watched.
    pub fn filter(&self) -> &Filter {
        &self.slot.filter
    }

    /// A way to say something to this watcher, for as long as it lasts, that is no change. Only a session of the
    /// handshake may be told so.
    pub fn voice(&self) -> Voice {
        Voice(Arc::downgrade(&self.slot))
    }

    /// The next change; `None` when the watched one ended it.
    pub async fn next(&mut self) -> Option<Change> {
        loop {
            let woken = self.slot.woken.notified();
            if let Some(change) = self.slot.waiting().pop_first() {
                return Some(change);
            }
            if self.slot.ended.load(Ordering::Acquire) {
                return None;
            }
            woken.await;
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("filter", &self.slot.filter).finish_non_exhaustive()
    }
}

/// A way to say something to one watcher.
#[derive(Clone)]
pub struct Voice(Weak<Slot>);

impl Voice {
    /// Says it, if the watcher is still there.
    pub fn say(&self, note: Note) {
        if let Some(slot) = self.0.upgrade() {
            slot.say(note);
        }
    }
}

impl fmt::Debug for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Voice")
    }
}

#[cfg(test)]
mod tests {
    use toolbay_protocol::{Raw, watch::TaskChange};

    use super::*;

    fn task(id: &str, state: i64) -> Change {
        Change::Task(TaskChange { id: id.into(), state: Raw::of(&state) })
    }

    #[tokio::test]
    async fn of_a_task_a_slow_watcher_hears_where_it_stands_last() {
        let hub = Hub::new();
        let mut watch =
            hub.watch(Filter { tools: true, tasks: ["a".to_owned(), "b".to_owned()].into(), ..Filter::default() });
        assert!(hub.watches_task("a") && !hub.watches_task("c"));
        for state in 1..4 {
            hub.publish(&task("a", state));
            hub.publish(&task("c", state));
        }
        hub.publish(&Change::Tools);
        watch.tell(task("b", 9));
        watch.tell(task("c", 9));
        hub.end();
        assert_eq!(watch.next().await, Some(Change::Tools));
        assert_eq!(watch.next().await, Some(task("a", 3)));
        assert_eq!(watch.next().await, Some(task("b", 9)));
        assert_eq!(watch.next().await, None);
        drop(watch);
        assert!(!hub.watches_task("a"));
    }
}
