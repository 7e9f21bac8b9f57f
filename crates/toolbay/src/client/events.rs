//! What a server says that belongs to no call of ours.

use std::{future::Future, pin::Pin, sync::Arc};

use arc_swap::ArcSwapOption;
use toolbay_protocol::{
    Method, Revision,
    exchange::{Ask, Note, Outcome},
    types::LoggingMessageParams,
    watch::Change,
};
use toolbay_transport::Listener;

use super::{answer::Handlers, cache::Cache};

type Hear<T> = Option<Arc<dyn Fn(T) + Send + Sync>>;

/// Hears a text.
pub(crate) type HearText = Arc<dyn Fn(&str) + Send + Sync>;

/// Who hears what.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) changed: Hear<Change>,
    pub(crate) logged: Hear<LoggingMessageParams>,
    pub(crate) stray: Option<HearText>,
}

/// Hears it for a client.
pub(crate) struct Events {
    hooks: Hooks,
    handlers: Arc<Handlers>,
    pub(crate) cache: Cache,
    #[cfg(feature = "validate")]
    pub(crate) schemas: super::schemas::Schemas,
    /// What is spoken with the server, once it is met; another revision perhaps after a reconnection.
    pub(crate) revision: ArcSwapOption<Revision>,
}

impl Events {
    pub(crate) fn new(hooks: Hooks, handlers: Arc<Handlers>) -> Self {
        Self {
            hooks,
            handlers,
            cache: Cache::default(),
            #[cfg(feature = "validate")]
            schemas: super::schemas::Schemas::default(),
            revision: ArcSwapOption::empty(),
        }
    }

    /// Forgets all that was learned over a connection that ended.
    pub(crate) fn forget_all(&self) {
        self.cache.clear();
        #[cfg(feature = "validate")]
        self.schemas.clear();
    }

    pub(crate) fn hear(&self, note: &Note) {
        if note.method == Method::Message
            && let (Some(logged), Some(params)) = (&self.hooks.logged, &note.params)
            && let Ok(message) = params.read()
        {
            logged(message);
        }
    }
}

impl Listener for Events {
    fn changed(&self, change: Change) {
        self.cache.forget(&change);
        #[cfg(feature = "validate")]
        if change == Change::Tools {
            self.schemas.clear();
        }
        if let Some(changed) = &self.hooks.changed {
            changed(change);
        }
    }

    fn noted(&self, note: Note) {
        self.hear(&note);
    }

    fn asked(&self, ask: Ask) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let handlers = Arc::clone(&self.handlers);
        // Only servers of the handshake ask outside a call.
        let revision = self.revision.load().as_deref().copied().unwrap_or(Revision::LATEST_LEGACY);
        Box::pin(async move { handlers.answer(ask, revision).await })
    }

    fn stray(&self, what: &str) {
        if let Some(stray) = &self.hooks.stray {
            stray(what);
        }
    }
}
