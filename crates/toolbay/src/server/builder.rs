//! Putting a server together.

use std::{fmt, future::Future, num::NonZeroUsize, sync::Arc, time::Duration};

use toolbay_protocol::{
    exchange::Outcome,
    types::{self, CacheScope, Icon, Implementation},
};
use toolbay_transport::{Caller, Request, http::server::Endpoint};

use super::{
    around::Next,
    ask::Sealer,
    context::Ctx,
    live::{Handle, Live, Settings, Tells},
    page::{Hints, Page},
    prompt::Prompt,
    registry::{Added, Registry},
    resource::{Lister, Resource, Template},
    serve::Serve,
    tasks::{Jobs, TaskStore},
    tool::Tool,
    visible::{Item, Visible},
};
use crate::error::{Foreign, Report, Result};

/// A server: what it is called, and what it offers. Cheap to clone; every clone is the same server.
///
/// ```no_run
/// use toolbay::{Server, Tool, stdio};
///
/// # async fn run() -> Result<(), toolbay::Error> {
/// Server::new("greeter", "1.0.0")
///     .tool(Tool::new("greet", "Greets", || async { "hello" }))
///     .serve(stdio())
///     .await
/// # }
/// ```
pub struct Server<S = ()> {
    live: Arc<Live>,
    state: Arc<S>,
    /// Ends with the last clone.
    jobs: Arc<Jobs>,
}

impl Server {
    /// A server of this name and version that offers nothing yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let settings = Settings::new(Implementation::new(name, version));
        let (live, jobs) = (Arc::new(Live::new(settings, Arc::default())), Arc::<Jobs>::default());
        live.tasks.owned_by(&jobs);
        Self { live, state: Arc::new(()), jobs }
    }

    /// The same server with state that its handlers may take as [`State`](super::State).
    #[must_use]
    pub fn state<S: Send + Sync + 'static>(self, state: S) -> Server<S> {
        Server { live: self.live, state: Arc::new(state), jobs: self.jobs }
    }
}

impl<S: Send + Sync + 'static> Server<S> {
    /// Adds a tool.
    ///
    /// # Panics
    /// Where there is one of the same name.
    #[must_use]
    #[track_caller]
    pub fn tool(self, tool: Tool<S>) -> Self {
        let name = tool.words.name.clone();
        let entry = Arc::new(tool.bound(Arc::clone(&self.state)));
        self.adding("tool", &name, |registry| registry.tools.put(entry))
    }

    /// Adds a prompt.
    ///
    /// # Panics
    /// Where there is one of the same name.
    #[must_use]
    #[track_caller]
    pub fn prompt(self, prompt: Prompt<S>) -> Self {
        let name = prompt.words.name.clone();
        let entry = Arc::new(prompt.bound(Arc::clone(&self.state)));
        self.adding("prompt", &name, |registry| registry.prompts.put(entry))
    }

    /// Adds a resource.
    ///
    /// # Panics
    /// Where there is one of the same URI.
    #[must_use]
    #[track_caller]
    pub fn resource(self, resource: Resource<S>) -> Self {
        let uri = resource.words.uri.clone();
        let entry = Arc::new(resource.bound(Arc::clone(&self.state)));
        self.adding("resource", &uri, |registry| registry.resources.put(entry))
    }

    /// Adds a template. Where a URI fits several, the one that was added first reads it.
    ///
    /// # Panics
    /// Where there is one of the same text.
    #[must_use]
    #[track_caller]
    pub fn template(self, template: Template<S>) -> Self {
        let text = template.words.uri_template.clone();
        let entry = Arc::new(template.bound(Arc::clone(&self.state)));
        self.adding("template", &text, |registry| registry.templates.put(entry))
    }

    /// Lists resources beside those that were added, when it is asked to: `list` takes what [`Page::next`] said, or
    /// nothing for the first page. They are read through a template.
    #[must_use]
    pub fn lister<F, Work>(mut self, list: F) -> Self
    where
        F: Fn(Option<String>, Ctx) -> Work + Send + Sync + 'static,
        Work: Future<Output = Result<Page<types::Resource>>> + Send + 'static,
    {
        let lister: Lister = Arc::new(move |cursor, cx| Box::pin(list(cursor, cx)));
        self.edit(|_, registry| registry.lister = Some(lister));
        self
    }

    #[track_caller]
    fn adding(mut self, kind: &str, key: &str, put: impl FnOnce(&mut Registry) -> Added) -> Self {
        let added = self.edit(|_, registry| put(registry));
        assert!(added == Added::New, "there are two {kind}s called {key:?}");
        self
    }

    /// What the server is called for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.setting(|settings| settings.who.title = Some(title.into()))
    }

    /// What the server is for.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.setting(|settings| settings.who.description = Some(description.into()))
    }

    /// Where to read more.
    #[must_use]
    pub fn website(self, url: impl Into<String>) -> Self {
        self.setting(|settings| settings.who.website_url = Some(url.into()))
    }

    /// A picture of it; one more each time.
    #[must_use]
    pub fn icon(self, icon: Icon) -> Self {
        self.setting(|settings| settings.who.icons.get_or_insert_default().push(icon))
    }

    /// How a model should use it.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.setting(|settings| settings.instructions = Some(instructions.into()))
    }

    /// Promises to tell clients when the lists of tools, prompts and resources change, for servers that change what they
    /// offer ([`Handle`]).
    #[must_use]
    pub fn list_changed(self) -> Self {
        self.setting(|settings| settings.of_lists = Tells::Yes)
    }

    /// Promises to tell clients that subscribe to a resource when it changes ([`Handle::updated`]).
    #[must_use]
    pub fn subscribable(self) -> Self {
        self.setting(|settings| settings.of_resources = Tells::Yes)
    }

    /// Gives lists in pages of at most so many entries; whole otherwise.
    #[must_use]
    pub fn page_size(self, size: NonZeroUsize) -> Self {
        self.setting(|settings| settings.page_size = Some(size))
    }

    /// How long lists may be kept, and by whom (spec: server/utilities/caching). Without it they may not.
    #[must_use]
    pub fn cache_lists(self, time: Duration, scope: CacheScope) -> Self {
        self.setting(|settings| settings.lists = hints(time, scope))
    }

    /// How long what was read may be kept, and by whom, where a resource does not say so itself.
    #[must_use]
    pub fn cache_reads(self, time: Duration, scope: CacheScope) -> Self {
        self.setting(|settings| settings.reads = hints(time, scope))
    }

    /// Shows each caller only what `judge` says yes to. What is hidden cannot be called, filled in, read or watched either;
    /// lists, and what was read where a resource does not say otherwise, are kept by their caller alone. What a
    /// [`lister`](Self::lister) names is for the lister to choose: it is given the context of the caller.
    #[must_use]
    pub fn visible(self, judge: impl Fn(&Caller, Item<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.setting(|settings| settings.visible = Some(Visible::by(judge)))
    }

    /// Keeps tasks in this store instead of memory, each at most so long after it began.
    #[must_use]
    pub fn task_store(self, store: impl TaskStore, life: Duration) -> Self {
        self.setting(|settings| (settings.tasks.store, settings.tasks.life) = (Arc::new(store), life))
    }

    /// Stops a function that takes longer than this, be it a tool's, a prompt's, a resource's or one that lists or completes,
    /// and tells the caller so (of a tool: the model); without it, functions go on until their callers give up. While the
    /// caller is asked something the time stands still, and its answer begins it anew. What runs on as a task has all the
    /// time it wants.
    #[must_use]
    pub fn call_deadline(self, limit: Duration) -> Self {
        self.setting(|settings| settings.call_deadline = Some(limit))
    }

    /// Puts something around every request, outside of what is around it already: it may look at the request, refuse it,
    /// or go on with [`Next::run`]. Subscriptions do not pass here: who may watch a resource, [`visible`](Self::visible)
    /// says.
    ///
    /// ```
    /// use toolbay::{ErrorObject, Server};
    ///
    /// let server = Server::new("closed", "1.0.0").around(|request, next| async move {
    ///     let started = std::time::Instant::now();
    ///     let outcome = next.run(request).await;
    ///     eprintln!("took {:?}", started.elapsed());
    ///     outcome
    /// });
    /// ```
    #[must_use]
    pub fn around<F, Work>(self, around: F) -> Self
    where
        F: Fn(Request, Next) -> Work + Send + Sync + 'static,
        Work: Future<Output = Outcome> + Send + 'static,
    {
        self.setting(|settings| {
            settings.around.insert(0, Arc::new(move |request, next| Box::pin(around(request, next))));
        })
    }

    /// Seals what callers carry between two rounds of a question with this secret instead of one that ends with the
    /// process, so that any replica with the same secret carries on; it is good for `life`.
    #[must_use]
    pub fn sealed_with(self, secret: impl AsRef<[u8]>, life: Duration) -> Self {
        self.setting(|settings| settings.sealer = Some(Sealer::keyed(secret.as_ref(), life)))
    }

    /// What models are told of errors that were not meant for them.
    #[must_use]
    pub fn foreign_errors(self, foreign: Foreign) -> Self {
        self.setting(|settings| settings.foreign = foreign)
    }

    /// Where errors that were not meant for the other side are reported; to stderr otherwise.
    #[must_use]
    pub fn on_error(self, report: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.setting(|settings| settings.report = Arc::new(report))
    }

    /// To change the server while it runs. Take it when the server is put together: whatever is added here afterwards makes
    /// another server of it, which the handle does not change.
    pub fn handle(&self) -> Handle<S> {
        Handle::with_state(Arc::clone(&self.live), Arc::clone(&self.state))
    }

    /// Serves until the transport ends: with its input, or on a signal.
    pub async fn serve<T: Serve>(self, transport: T) -> Result<(), toolbay_transport::Error> {
        transport.serve(self).await
    }

    /// The server as an HTTP endpoint inside an application of your own: a `tower` service, whatever it is mounted in.
    /// Sessions live in it, so make it once and clone it.
    pub fn endpoint(self, options: toolbay_transport::http::server::Options) -> Endpoint<Self> {
        Endpoint::new(Arc::new(self), options)
    }

    pub(crate) fn live(&self) -> &Arc<Live> {
        &self.live
    }

    fn setting(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        self.edit(|settings, _| set(settings));
        self
    }

    /// Changes a server that does not run yet. Where a clone is held somewhere, that one stays as it is.
    fn edit<T>(&mut self, edit: impl FnOnce(&mut Settings, &mut Registry) -> T) -> T {
        let mut settings = self.live.settings.clone();
        let mut registry = match Arc::get_mut(&mut self.live) {
            Some(live) => std::mem::take(&mut live.registry).into_inner(),
            None => self.live.registry.load_full(),
        };
        let outcome = edit(&mut settings, Arc::make_mut(&mut registry));
        self.live = Arc::new(Live::new(settings, registry));
        self.live.tasks.owned_by(&self.jobs);
        outcome
    }
}

fn hints(time: Duration, scope: CacheScope) -> Hints {
    Hints { ttl_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX), scope }
}

impl<S> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self { live: Arc::clone(&self.live), state: Arc::clone(&self.state), jobs: Arc::clone(&self.jobs) }
    }
}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.live.settings.who.name).finish_non_exhaustive()
    }
}
