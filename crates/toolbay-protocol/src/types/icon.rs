//! Icons (spec: basic/index, icons).

use super::{
    Conform,
    words::{choices, words},
};
use crate::revision::Revision;

choices! {
    /// Which background an icon is drawn for.
    IconTheme {
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    }
}

words! {
    /// A picture that stands for something; its source comes from a peer and is not to be trusted.
    Icon {
        need {
            /// `https:` or `data:`; nothing else may be loaded.
            src: String = "src",
        }
        may {
            /// What the source should be.
            mime_type: String = "mimeType",
            /// `48x48` and the like, or `any`.
            sizes: Vec<String> = "sizes",
            /// Which background it is for.
            theme: IconTheme = "theme",
        }
    }
}

impl Conform for Icon {
    fn conform(&mut self, _: Revision) {
        let Self { src: _, mime_type: _, sizes: _, theme: _, rest: _ } = self;
    }
}
