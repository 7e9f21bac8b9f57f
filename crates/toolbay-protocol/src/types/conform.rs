//! Bending a canonical value to what one revision can carry.
//!
//! Reading is lenient: every revision decodes into the superset. Writing always passes through here. Each type decides
//! the history of its members beside them; this file holds only the trait and what containers do.

use crate::{fault::Fault, revision::Revision};

/// A value that can be bent to what a revision can carry.
pub trait Conform {
    /// Drops what `revision` does not know, fills what it requires, and says in text what it cannot carry.
    fn conform(&mut self, revision: Revision);

    /// An error where `revision` has no words at all for what this asks: bending it would ask something else.
    fn check(&self, revision: Revision) -> Result<(), Fault> {
        let _ = revision;
        Ok(())
    }

    /// The same value, bent.
    #[must_use]
    fn conformed(mut self, revision: Revision) -> Self
    where
        Self: Sized,
    {
        self.conform(revision);
        self
    }
}

impl<T: Conform> Conform for Option<T> {
    fn conform(&mut self, revision: Revision) {
        if let Some(value) = self {
            value.conform(revision);
        }
    }
}

impl<T: Conform> Conform for Vec<T> {
    fn conform(&mut self, revision: Revision) {
        for value in self {
            value.conform(revision);
        }
    }
}
