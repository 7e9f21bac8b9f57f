//! How many servers run as children of ours.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use toolbay_transport::{Error, Kind};

/// Counts them.
#[derive(Debug, Default)]
pub(crate) struct Children {
    running: AtomicUsize,
    most: AtomicUsize,
}

/// One of them; it counts for as long as this is held.
#[derive(Debug)]
pub(crate) struct ChildPlace(Arc<Children>);

impl Children {
    pub(crate) fn at_most(most: usize) -> Arc<Self> {
        Arc::new(Self { running: AtomicUsize::new(0), most: AtomicUsize::new(most) })
    }

    /// Lets there be more, or fewer; those that run go on.
    pub(crate) fn allow(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// A place for one more.
    pub(crate) fn place(self: &Arc<Self>) -> Result<ChildPlace, Error> {
        let most = self.most.load(Ordering::Relaxed);
        let room = |running: usize| (running < most).then_some(running + 1);
        match self.running.fetch_update(Ordering::AcqRel, Ordering::Acquire, room) {
            Ok(_) => Ok(ChildPlace(Arc::clone(self))),
            Err(_) => {
                let what =
                    format!("{most} servers run as processes already (limit `children`): raise it, or turn some off");
                Err(Error::new(Kind::Limit, what))
            }
        }
    }
}

impl Drop for ChildPlace {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}
