//! Who content is for, and how much it matters (spec: server/resources, annotations).

use super::{
    Conform, Number,
    words::{choices, words},
};
use crate::revision::{Feature as F, Revision};

choices! {
    /// Who speaks, or who something is meant for.
    Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

words! {
    /// Hints about content.
    #[derive(Default)]
    Annotations {
        may {
            /// Who it is meant for.
            audience: Vec<Role> = "audience",
            /// From 0 (optional) to 1 (required).
            priority: Number = "priority",
            /// When it last changed, as ISO 8601.
            last_modified: String = "lastModified",
        }
    }
}

impl Conform for Annotations {
    fn conform(&mut self, revision: Revision) {
        let Self { audience: _, priority: _, last_modified, rest: _ } = self;
        revision.keep(F::LastModified, last_modified);
    }
}
