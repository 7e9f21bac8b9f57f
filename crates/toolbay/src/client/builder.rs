//! What a client is called, what it answers, and how patient it is.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use toolbay_protocol::{
    ErrorObject, Raw, Revision,
    greeting::Introduction,
    types::{
        CreateMessageParams, CreateMessageResult, ElicitFormParams, ElicitResult, ElicitUrlParams, Implementation,
        LoggingMessageParams, Root,
    },
    watch::Change,
};
use toolbay_transport::Approach;

use super::{
    answer::{Handlers, Tools},
    connected::Client,
    error::ClientError,
    events::{Events, Hooks},
    target::Target,
};

/// A client to be: [`Client::builder`].
#[must_use = "nothing happens before `connect`"]
pub struct ClientBuilder {
    who: Implementation,
    handlers: Handlers,
    hooks: Hooks,
    revision: Option<Revision>,
    patience: Duration,
    opening: Duration,
    flaw: Option<String>,
}

impl ClientBuilder {
    pub(crate) fn new(name: String, version: String) -> Self {
        Self {
            who: Implementation::new(name, version),
            handlers: Handlers::default(),
            hooks: Hooks::default(),
            revision: None,
            patience: Duration::from_secs(60),
            opening: Duration::from_secs(60),
            flaw: None,
        }
    }

    /// Shows forms to the user. What the answer leaves out has its default.
    pub fn on_form<F, Work>(mut self, answer: F) -> Self
    where
        F: Fn(ElicitFormParams) -> Work + Send + Sync + 'static,
        Work: Future<Output = ElicitResult> + Send + 'static,
    {
        self.handlers.on_form(answer);
        self
    }

    /// Sends the user to URLs: shown whole, opened only with consent, never fetched beforehand.
    pub fn on_url<F, Work>(mut self, answer: F) -> Self
    where
        F: Fn(ElicitUrlParams) -> Work + Send + Sync + 'static,
        Work: Future<Output = ElicitResult> + Send + 'static,
    {
        self.handlers.on_url(answer);
        self
    }

    /// Lends a model to servers, without tools.
    pub fn on_sample<F, Work>(mut self, answer: F) -> Self
    where
        F: Fn(CreateMessageParams) -> Work + Send + Sync + 'static,
        Work: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.handlers.on_sample(answer, Tools::Ignored);
        self
    }

    /// Lends a model that obeys `tools` and `toolChoice`.
    pub fn on_sample_with_tools<F, Work>(mut self, answer: F) -> Self
    where
        F: Fn(CreateMessageParams) -> Work + Send + Sync + 'static,
        Work: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.handlers.on_sample(answer, Tools::Honoured);
        self
    }

    /// Lets servers see these folders. Where one of them has no `file://` URI, or leads up by `..`, nothing is connected
    /// ([`ClientError::Setup`]).
    pub fn roots(mut self, roots: impl Into<Vec<Root>>) -> Self {
        let roots = roots.into();
        let flaws = roots.iter().find_map(|root| Some(format!("{:?} is no root: {}", root.uri, root.check().err()?)));
        self.flaw = self.flaw.or(flaws);
        self.on_roots(move || {
            let roots = roots.clone();
            async move { roots }
        })
    }

    /// Lets servers see the folders that `answer` names when they ask. What is no root is kept from them, and told to
    /// [`on_stray`](Self::on_stray).
    pub fn on_roots<F, Work>(mut self, answer: F) -> Self
    where
        F: Fn() -> Work + Send + Sync + 'static,
        Work: Future<Output = Vec<Root>> + Send + 'static,
    {
        self.handlers.on_roots(answer);
        self
    }

    /// Takes tasks: servers may answer a call with a task, which is then waited for, or watched
    /// ([`CallTool::start`](super::CallTool::start)).
    pub fn tasks(mut self) -> Self {
        self.handlers.take_tasks();
        self
    }

    /// Hears what changes at the server: lists (told without asking by older servers), and resources that are watched.
    pub fn on_change(mut self, hear: impl Fn(Change) + Send + Sync + 'static) -> Self {
        self.hooks.changed = Some(Arc::new(hear));
        self
    }

    /// Hears the server's log.
    pub fn on_log(mut self, hear: impl Fn(LoggingMessageParams) + Send + Sync + 'static) -> Self {
        self.hooks.logged = Some(Arc::new(hear));
        self
    }

    /// Hears what the server said that belongs to nothing: text that is no message, answers that nobody waits for. Also
    /// what is kept from it because it is no root.
    pub fn on_stray(mut self, hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.hooks.stray = Some(Arc::new(hear));
        self
    }

    /// Speaks this revision and no other; without it, the newest that both sides know.
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// How long a call may take without a sign of life; a minute otherwise. Progress begins it anew.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How long meeting the server may take; a minute otherwise.
    pub fn opening(mut self, opening: Duration) -> Self {
        self.opening = opening;
        self
    }

    /// What the client is called for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.who.title = Some(title.into());
        self
    }

    /// Meets the server.
    pub async fn connect<T: Target>(self, target: T) -> Result<Client, ClientError> {
        if let Some(flaw) = self.flaw {
            return Err(ClientError::Setup(flaw));
        }
        let mut handlers = self.handlers;
        handlers.complain_to(self.hooks.stray.clone());
        let handlers = Arc::new(handlers);
        let introduction = Introduction {
            revision: self.revision.unwrap_or(Revision::LATEST),
            client: Some(Raw::of(&self.who)),
            capabilities: handlers.capabilities(),
            device: None,
        };
        let events = Arc::new(Events::new(self.hooks, Arc::clone(&handlers)));
        let listener = Arc::<Events>::clone(&events);
        let mut approach = Approach::new(introduction).heard_by(listener);
        approach.revision = self.revision;
        approach.deadline = self.opening;
        Client::open(target, approach, handlers, events, self.patience).await
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder").field("who", &self.who).finish_non_exhaustive()
    }
}
