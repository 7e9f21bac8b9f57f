//! What a handler knows of the call it serves, and how it talks to the caller.

use std::{
    fmt,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use serde::Serialize;
use tokio::sync::Notify;
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Note, Return},
    raw::Object,
    types::{ClientCapabilities, Implementation, LoggingLevel},
};
use toolbay_transport::{Caller, Cx, HeaderMap, Principal, Request};

use super::{
    ask::{Binding, Memory, Sealer},
    deadline::Waits,
    live::{Handle, Live},
    output::Form,
    progress::ProgressNote,
    tasks::{Slot, Start},
};
use crate::error::Result;

/// The context of one call; cheap to clone.
#[derive(Clone)]
pub struct Ctx(Arc<Inner>);

struct Inner {
    line: Cx,
    request: Request,
    server: Arc<Live>,
    told: Mutex<f64>,
    memory: Mutex<Memory>,
    start: Start,
    task: OnceLock<Arc<Slot>>,
    became_task: Notify,
    waits: Waits,
}

impl Ctx {
    /// The context of a call; an error where the caller brings back a state that is not ours.
    pub(crate) fn new(request: Request, line: Cx, server: &Arc<Live>) -> Result<Self, ErrorObject> {
        Self::starting(request, line, server, Start::Direct)
    }

    /// The same for a call that may become a task.
    pub(crate) fn starting(
        mut request: Request,
        line: Cx,
        server: &Arc<Live>,
        start: Start,
    ) -> Result<Self, ErrorObject> {
        let back = std::mem::take(&mut request.returning);
        let memory = if back == Return::default() {
            Memory::default()
        } else {
            let sealer = server.settings.sealer.as_ref();
            Memory::returned(sealer, &binding(server, &request), back)?
        };
        let (told, memory) = (Mutex::new(f64::NEG_INFINITY), Mutex::new(memory));
        let (task, became_task, waits) = (OnceLock::new(), Notify::new(), Waits::default());
        let server = Arc::clone(server);
        Ok(Self(Arc::new(Inner { line, request, server, told, memory, start, task, became_task, waits })))
    }

    /// Tells how far the call is: `cx.progress(1.0).of(3.0).saying("first of three").await`.
    pub fn progress(&self, done: f64) -> ProgressNote<'_> {
        ProgressNote { cx: self, done, total: None, message: None }
    }

    /// Sends a line of log to the caller, where its level says that it wants it. Never put secrets into it.
    pub async fn log<T: Serialize + ?Sized>(&self, level: LoggingLevel, data: &T) {
        // What cannot be written is not worth failing for.
        if let Ok(data) = Raw::encode(data) {
            let mut params = Object::with_capacity(data.as_bytes().len() + 32);
            params.put_text("level", level.as_str());
            params.put("data", &data);
            self.note(Note::new(Method::Message, params.finish())).await;
        }
    }

    /// Logs for the developer.
    pub async fn debug(&self, text: &str) {
        self.log(LoggingLevel::Debug, text).await;
    }

    /// Logs that all is well.
    pub async fn info(&self, text: &str) {
        self.log(LoggingLevel::Info, text).await;
    }

    /// Logs that something may be wrong.
    pub async fn warning(&self, text: &str) {
        self.log(LoggingLevel::Warning, text).await;
    }

    /// Logs that something is wrong.
    pub async fn error(&self, text: &str) {
        self.log(LoggingLevel::Error, text).await;
    }

    /// Whether the caller is gone or took the call back; of a task, whether it was cancelled. The handler's future is
    /// dropped then; this is for what runs on beside it, on a thread of its own.
    pub fn is_cancelled(&self) -> bool {
        match self.0.task.get() {
            Some(task) => task.cancelled.is_cancelled(),
            None => self.0.line.is_gone(),
        }
    }

    /// Waits until the caller is gone or took the call back, or the call is over; of a task, until it is cancelled.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        let cx = self.clone();
        async move {
            if cx.task().is_none() {
                cx.0.line.gone().await;
            }
            // Its request is over where it went on as a task meanwhile.
            if let Some(task) = cx.task() {
                task.cancelled.cancelled().await;
            }
        }
    }

    /// Goes on as a task, in a tool that says [`task_when_asked`](super::Tool::task_when_asked) and for a caller that
    /// knows tasks; others go on waiting for the answer, and nothing changes.
    pub async fn into_task(&self) -> Result<()> {
        let Start::WhenAsked(wanted) = &self.0.start else { return Ok(()) };
        if self.0.task.get().is_none() {
            let server = &self.0.server;
            let slot = server.tasks.begin(&server.settings.tasks, self.caller(), wanted.as_ref()).await?;
            self.attach(slot);
            self.0.became_task.notify_one();
        }
        Ok(())
    }

    /// Lets go of the connection on which a long answer is awaited, where the caller can come back for the rest (2025-11-25
    /// over HTTP); it is told to wait for `pause` first. Elsewhere nothing happens.
    pub fn hang_up(&self, pause: Duration) {
        self.0.line.hang_up(pause);
    }

    /// Who the client says it is: to be shown, never to be trusted.
    pub fn client(&self) -> Option<Implementation> {
        self.caller().introduction.client.as_ref()?.read().ok()
    }

    /// What the client can do.
    pub fn capabilities(&self) -> ClientCapabilities {
        self.caller().introduction.capabilities.read().unwrap_or_default()
    }

    /// Whom the caller was proven to be.
    pub fn principal(&self) -> &Principal {
        &self.caller().principal
    }

    /// Everything that is known of the caller.
    pub fn caller(&self) -> &Arc<Caller> {
        &self.0.request.caller
    }

    /// The headers that the call came with over HTTP; nothing where the transport has none (stdio, memory, HTTP+SSE).
    ///
    /// A client writes into them what it likes: whom it was proven to be is [`principal`](Self::principal). Those that
    /// carry secrets (`Authorization`, `Cookie`) are never printed by `Debug`.
    ///
    /// ```
    /// use toolbay::{Ctx, Server, Tool};
    ///
    /// let server = Server::new("shop", "1.0.0").tool(Tool::new("tenant", "Whose shop it is", |cx: Ctx| async move {
    ///     let tenant = cx.headers().and_then(|headers| headers.get("x-tenant")?.to_str().ok());
    ///     tenant.unwrap_or("nobody").to_owned()
    /// }));
    /// ```
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.0.request.headers.map()
    }

    /// The revision that is spoken with the caller.
    pub fn revision(&self) -> Revision {
        self.caller().introduction.revision
    }

    /// The URI that is read, in a resource's function.
    pub fn uri(&self) -> Option<String> {
        self.params().get("uri").and_then(|uri| uri.as_text().map(std::borrow::Cow::into_owned))
    }

    /// The request's `_meta`, as it was written.
    pub fn meta(&self) -> Option<Raw> {
        self.params().get("_meta")
    }

    /// The server, to be changed while it runs.
    pub fn server(&self) -> Handle {
        Handle::new(Arc::clone(&self.0.server))
    }

    pub(crate) fn params(&self) -> &Raw {
        &self.0.request.params
    }

    pub(crate) fn form(&self) -> Arc<Form> {
        self.0.server.form(self.revision())
    }

    pub(crate) fn attach(&self, slot: Arc<Slot>) {
        // A call becomes a task once.
        let _ = self.0.task.set(slot);
    }

    pub(crate) fn task(&self) -> Option<Arc<Slot>> {
        self.0.task.get().cloned()
    }

    /// Waits until the call goes on as a task.
    pub(crate) async fn detached(&self) -> Arc<Slot> {
        loop {
            self.0.became_task.notified().await;
            if let Some(slot) = self.0.task.get() {
                return Arc::clone(slot);
            }
        }
    }

    pub(crate) fn waits(&self) -> &Waits {
        &self.0.waits
    }

    pub(crate) fn method(&self) -> &Method {
        &self.0.request.method
    }

    pub(crate) fn line(&self) -> &Cx {
        &self.0.line
    }

    pub(crate) fn sealer(&self) -> Option<&Sealer> {
        self.0.server.settings.sealer.as_ref()
    }

    pub(crate) fn binding(&self) -> Binding {
        binding(&self.0.server, &self.0.request)
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wants_progress(&self) -> bool {
        self.0.line.wants_progress()
    }

    /// Whether `done` is more than what was told before; notes it.
    pub(crate) fn grows(&self, done: f64) -> bool {
        let mut told: MutexGuard<'_, f64> = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        let grows = done > *told;
        if grows {
            *told = done;
        }
        grows
    }

    pub(crate) async fn note(&self, note: Note) {
        if self.0.task.get().is_some() {
            // Nobody listens to the request any more (spec: tasks extension has neither progress nor log).
            return;
        }
        // A caller that is gone is noticed elsewhere.
        let _ = self.0.line.note(note).await;
    }
}

fn binding(server: &Live, request: &Request) -> Binding {
    Binding::new(&server.settings.who.name, &request.caller.principal, &request.method, &request.params)
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments are nobody's but the function's.
        let Request { method, caller, headers, .. } = &self.0.request;
        let (method, principal) = (method.as_str(), &caller.principal);
        let mut shown = f.debug_struct("Ctx");
        shown.field("method", &method).field("principal", principal).field("headers", headers).finish_non_exhaustive()
    }
}
