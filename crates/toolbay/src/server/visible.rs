//! Who sees what: what is hidden from a caller is not in its lists, and cannot be called, filled in or read either.

use std::{fmt, sync::Arc};

use toolbay_protocol::types;
use toolbay_transport::Caller;

/// Something that may be hidden.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A tool.
    Tool(&'a types::Tool),
    /// A prompt.
    Prompt(&'a types::Prompt),
    /// A resource.
    Resource(&'a types::Resource),
    /// A template, and with it all that is read through it.
    Template(&'a types::ResourceTemplate),
}

impl Item<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Tool(tool) => &tool.name,
            Self::Prompt(prompt) => &prompt.name,
            Self::Resource(resource) => &resource.name,
            Self::Template(template) => &template.name,
        }
    }
}

type Judge = Arc<dyn Fn(&Caller, Item<'_>) -> bool + Send + Sync>;

/// Decides who sees what.
#[derive(Clone)]
pub(crate) struct Visible(Judge);

impl Visible {
    pub(crate) fn by(judge: impl Fn(&Caller, Item<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(judge))
    }

    pub(crate) fn judge(&self, caller: &Caller, item: Item<'_>) -> bool {
        (self.0)(caller, item)
    }
}

impl fmt::Debug for Visible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visible")
    }
}
