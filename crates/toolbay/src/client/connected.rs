//! A server, met.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use serde::Serialize;
use tokio::sync::Mutex;
use toolbay_protocol::{
    Method, Raw, Revision,
    exchange::{Note, Outcome},
    greeting::Meeting,
    peer::{Call, Patience},
    raw::Object,
    types::{
        CompleteParams, CompleteResult, Completion, CompletionArgument, Dict, GetPromptResult, Implementation,
        LoggingLevel, Prompt, ReadResourceResult, Reference, Resource, ResourceTemplate, ServerCapabilities, Tool,
    },
    watch::Filter,
};
use toolbay_transport::{Approach, Connection, Error, Subscription};

use super::{
    answer::Handlers, builder::ClientBuilder, call::CallTool, error::ClientError, events::Events, list::List,
    target::Target,
};

/// A server, met; cheap to clone.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolbay::client::ClientError> {
/// use toolbay::{Client, Server, Tool, client::ResultExt};
///
/// let server = Server::new("greeter", "1.0.0").tool(Tool::new("greet", "", || async { "hello" }));
/// let client = Client::connect(server).await?;
/// assert_eq!(client.call("greet", &()).await?.texts(), "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client(pub(super) Arc<Inner>);

type Dial = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<Connection, Error>> + Send>> + Send + Sync>;

pub(super) struct Inner {
    pub(super) connection: ArcSwap<Connection>,
    pub(super) dial: Dial,
    pub(super) dialling: Mutex<()>,
    pub(super) handlers: Arc<Handlers>,
    pub(super) events: Arc<Events>,
    patience: Duration,
}

impl Client {
    /// Meets a server with nothing to answer its questions: a URL, a [`command`](super::command), or a server in this
    /// process.
    pub async fn connect<T: Target>(target: T) -> Result<Self, ClientError> {
        Self::builder("toolbay", env!("CARGO_PKG_VERSION")).connect(target).await
    }

    /// A client of this name and version, to be given handlers first.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(name.into(), version.into())
    }

    pub(crate) async fn open<T: Target>(
        target: T,
        approach: Approach,
        handlers: Arc<Handlers>,
        events: Arc<Events>,
        patience: Duration,
    ) -> Result<Self, ClientError> {
        let target = Arc::new(target);
        let dial: Dial = Box::new(move || {
            let (target, approach) = (Arc::clone(&target), approach.clone());
            Box::pin(async move { target.connect(approach).await })
        });
        let connection = dial().await?;
        events.revision.store(Some(Arc::new(connection.meeting().revision)));
        let connection = ArcSwap::from_pointee(connection);
        Ok(Self(Arc::new(Inner { connection, dial, dialling: Mutex::new(()), handlers, events, patience })))
    }

    /// Calls a tool. `arguments` is anything that is written as an object; `&()` where there are none.
    pub fn call<A: Serialize + ?Sized>(&self, name: impl Into<String>, arguments: &A) -> CallTool<'_> {
        CallTool::new(self, name.into(), arguments)
    }

    /// The server's tools.
    pub fn tools(&self) -> List<Tool> {
        List::new(self.clone(), Method::ToolsList, "tools")
    }

    /// The server's prompts.
    pub fn prompts(&self) -> List<Prompt> {
        List::new(self.clone(), Method::PromptsList, "prompts")
    }

    /// The server's resources.
    pub fn resources(&self) -> List<Resource> {
        List::new(self.clone(), Method::ResourcesList, "resources")
    }

    /// The server's resource templates.
    pub fn templates(&self) -> List<ResourceTemplate> {
        List::new(self.clone(), Method::TemplatesList, "resourceTemplates")
    }

    /// Reads a resource.
    pub async fn read(&self, uri: &str) -> Result<ReadResourceResult, ClientError> {
        let mut params = Object::with_capacity(uri.len() + 16);
        params.put_text("uri", uri);
        self.request(Method::ResourcesRead, params.finish()).await?.read().map_err(ClientError::misfit)
    }

    /// Fills in a prompt. `arguments` is anything that is written as an object of texts; `&()` where there are none.
    pub async fn prompt<A: Serialize + ?Sized>(
        &self,
        name: &str,
        arguments: &A,
    ) -> Result<GetPromptResult, ClientError> {
        let arguments = ClientError::object("the arguments", arguments)?;
        let mut params = Object::with_capacity(arguments.as_bytes().len() + 48);
        params.put_text("name", name);
        if arguments != Raw::NULL {
            params.put("arguments", &arguments);
        }
        self.request(Method::PromptsGet, params.finish()).await?.read().map_err(ClientError::misfit)
    }

    /// What `argument` of a prompt or template could become, where `typed` stands there so far and `others` are filled in.
    pub async fn complete(
        &self,
        of: Reference,
        argument: &str,
        typed: &str,
        others: Dict<String>,
    ) -> Result<Completion, ClientError> {
        let mut params = CompleteParams::new(of, CompletionArgument::new(argument, typed));
        if !others.is_empty() {
            params.context.get_or_insert_default().arguments = Some(others);
        }
        let params = toolbay_protocol::types::Conform::conformed(params, self.revision());
        let result: CompleteResult =
            self.request(Method::Complete, Raw::of(&params)).await?.read().map_err(ClientError::misfit)?;
        Ok(result.completion)
    }

    /// Begins to hear of changes, until the subscription is dropped; they go to
    /// [`on_change`](ClientBuilder::on_change). Its [`filter`](Subscription::filter) says what the server will tell of. It
    /// ends with its connection: watch again after a call failed with [`ClientError::Link`].
    pub async fn watch(&self, filter: Filter) -> Result<Subscription, ClientError> {
        Ok(self.live().await?.subscribe(filter).await?)
    }

    /// Wants the server's log from this level on, in sessions; elsewhere each call says so itself.
    pub async fn log_from(&self, level: LoggingLevel) -> Result<(), ClientError> {
        let mut params = Object::with_capacity(24);
        params.put_text("level", level.as_str());
        self.request(Method::SetLevel, params.finish()).await.map(drop)
    }

    /// Asks whether the server is there, in words that its revision has.
    pub async fn ping(&self) -> Result<(), ClientError> {
        let method = if Method::Ping.lives_in(self.revision()) { Method::Ping } else { Method::Discover };
        let patience = Patience { silence: self.0.patience, total: None };
        self.converse(Call { patience, ..Call::new(method, None) }, vec![], |_| {}).await.map(drop)
    }

    /// Any request; where its result may be kept, a kept one does.
    pub async fn request(&self, method: Method, params: Raw) -> Result<Raw, ClientError> {
        let cache = &self.0.events.cache;
        if let Some(kept) = cache.get(&method, &params, Instant::now()) {
            return Ok(kept);
        }
        let patience = Patience { silence: self.0.patience, total: None };
        let call = Call { patience, ..Call::new(method.clone(), Some(params.clone())) };
        let mut rounds = 0;
        let result = self.conversing(call, vec![], |_| {}, &mut rounds).await?;
        if rounds == 0 {
            // spec: basic/patterns/mrtr, what came of a retry is never kept
            cache.keep(&method, &params, &result, Instant::now());
        }
        #[cfg(feature = "validate")]
        if method == Method::ToolsList {
            self.0.events.schemas.learn(&result);
        }
        Ok(result)
    }

    pub(crate) async fn converse(
        &self,
        call: Call,
        answers: Vec<(String, Outcome)>,
        hear: impl FnMut(&Note) + Send,
    ) -> Result<Raw, ClientError> {
        self.conversing(call, answers, hear, &mut 0).await
    }

    pub(crate) fn forget_list(&self, method: &Method) {
        self.0.events.cache.forget_list(method);
    }

    pub(crate) fn patience(&self) -> Duration {
        self.0.patience
    }

    /// The connection itself.
    pub fn connection(&self) -> Arc<Connection> {
        self.0.connection.load_full()
    }

    /// What the server said of itself, and the revision that is spoken with it.
    pub fn meeting(&self) -> Meeting {
        self.connection().meeting().clone()
    }

    /// The revision that is spoken with the server.
    pub fn revision(&self) -> Revision {
        self.connection().meeting().revision
    }

    /// Who the server says it is.
    pub fn server(&self) -> Option<Implementation> {
        self.connection().meeting().profile.server.read().ok()
    }

    /// What the server says it can.
    pub fn capabilities(&self) -> ServerCapabilities {
        self.connection().meeting().profile.capabilities.read().unwrap_or_default()
    }

    /// How a model should use the server, in its own words.
    pub fn instructions(&self) -> Option<String> {
        self.connection().meeting().profile.instructions.clone()
    }

    /// Ends the connection in order: what is in flight fails, a program that was started is ended.
    pub async fn close(self) {
        self.connection().close().await;
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.connection().meeting().profile.server).finish_non_exhaustive()
    }
}
