//! Who a peer says it is (spec: basic/lifecycle, server/discover); a claim, never an identity.

use super::{Conform, Icon, words::words};
use crate::revision::{Feature as F, Revision};

words! {
    /// The name and version of a client or a server.
    #[derive(Default)]
    Implementation {
        need {
            /// For programs.
            name: String = "name",
            /// Any text.
            version: String = "version",
        }
        may {
            /// For people.
            title: String = "title",
            /// What it is for.
            description: String = "description",
            /// Where to read more.
            website_url: String = "websiteUrl",
            /// Pictures.
            icons: Vec<Icon> = "icons",
        }
    }
}

impl Implementation {
    /// What to show people: the title, else the name.
    pub fn shown(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

impl Conform for Implementation {
    fn conform(&mut self, revision: Revision) {
        let Self { name: _, version: _, title, description, website_url, icons, rest: _ } = self;
        revision.keep(F::Titles, title);
        revision.keep(F::ImplementationDetails, description);
        revision.keep(F::ImplementationDetails, website_url);
        revision.keep(F::Icons, icons);
        icons.conform(revision);
    }
}
