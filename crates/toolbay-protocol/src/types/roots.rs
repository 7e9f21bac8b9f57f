//! Roots: the folders a client lets its servers see (spec: client/roots).

use super::{Conform, Meta, words::words};
use crate::revision::{Feature as F, Revision};

words! {
    /// One folder or file.
    #[derive(Default)]
    Root {
        need {
            /// A `file://` URI.
            uri: String = "uri",
        }
        may {
            /// For people.
            name: String = "name",
            /// About the root.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Answer to `roots/list`.
    #[derive(Default)]
    ListRootsResult {
        need {
            /// All of them.
            roots: Vec<Root> = "roots",
        }
        may {
            /// About the answer (until 2025-11-25).
            meta: Meta = "_meta",
        }
    }
}

impl Conform for Root {
    fn conform(&mut self, revision: Revision) {
        let Self { uri: _, name: _, meta, rest: _ } = self;
        revision.keep(F::ItemMeta, meta);
    }
}

impl Conform for ListRootsResult {
    fn conform(&mut self, revision: Revision) {
        let Self { roots, meta, rest: _ } = self;
        roots.conform(revision);
        revision.keep(F::AskMeta, meta);
        super::meta::conform_meta(meta, revision);
    }
}
