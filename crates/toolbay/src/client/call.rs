//! One call of a tool, with what is wanted beside its result.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    time::Duration,
};

use serde::Serialize;
use tokio::time::{Instant, timeout_at};
use toolbay_protocol::{
    Feature, Method, Raw,
    exchange::{Note, Outcome, Wishes},
    peer::{Call, Patience},
    raw::Object,
    types::{CallToolResult, LoggingLevel, ProgressParams},
};

use toolbay_transport::Error;

use super::{
    connected::Client,
    error::ClientError,
    task::{RemoteTask, Started},
};

/// Told during a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Told {
    /// How far it is.
    pub done: f64,
    /// How far it goes, where that is known.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

type Hear<'a> = Box<dyn FnMut(Told) + Send + 'a>;

/// A call to be: it is made when it is awaited, and taken back when it is dropped before its end. A task that it became
/// by then goes on.
#[must_use = "nothing is called before it is awaited"]
pub struct CallTool<'a> {
    client: &'a Client,
    name: String,
    arguments: Result<Raw, ClientError>,
    /// What is wrong with what was said since.
    flaw: Option<ClientError>,
    progress: Option<Hear<'a>>,
    answers: Vec<(String, Outcome)>,
    meta: Option<Raw>,
    log_level: Option<LoggingLevel>,
    patience: Patience,
    checks: Checks,
}

/// Whether a result is held against its tool's output schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Checks {
    Yes,
    No,
}

impl<'a> CallTool<'a> {
    pub(crate) fn new<A: Serialize + ?Sized>(client: &'a Client, name: String, arguments: &A) -> Self {
        let arguments = ClientError::object("the arguments", arguments);
        let patience = Patience { silence: client.patience(), total: None };
        let (flaw, progress, answers, meta, log_level, checks) = (None, None, vec![], None, None, Checks::Yes);
        Self { client, name, arguments, flaw, progress, answers, meta, log_level, patience, checks }
    }

    /// Hears how far it is.
    pub fn on_progress(self, hear: impl FnMut(Told) + Send + 'a) -> Self {
        Self { progress: Some(Box::new(hear)), ..self }
    }

    /// Answers the question that the tool puts under `key`, before the client's own handlers are asked. Meant for tests;
    /// older servers name no keys, so there the first answer goes to the first question.
    pub fn answer<T: Serialize + ?Sized>(mut self, key: impl Into<String>, answer: &T) -> Self {
        let key = key.into();
        match Raw::encode(answer) {
            Ok(answer) => self.answers.push((key, Ok(answer))),
            Err(error) => {
                self.flaw = Some(ClientError::Misuse(format!("the answer `{key}` cannot be written: {error}")))
            }
        }
        self
    }

    /// Wants the server's log from this level on, where it is asked for call by call.
    pub fn log_from(self, level: LoggingLevel) -> Self {
        Self { log_level: Some(level), ..self }
    }

    /// The call's `_meta`; an object.
    pub fn meta<T: Serialize + ?Sized>(mut self, meta: &T) -> Self {
        match ClientError::object("`_meta`", meta) {
            Ok(meta) => self.meta = Some(meta).filter(|meta| *meta != Raw::NULL),
            Err(error) => self.flaw = Some(error),
        }
        self
    }

    /// Takes the result as it is, even where it is not what the tool's output schema promises. Without the feature
    /// `validate` every result is taken so.
    pub fn unchecked(self) -> Self {
        Self { checks: Checks::No, ..self }
    }

    /// How long it may take without a sign of life; progress begins it anew.
    pub fn patience(mut self, silence: Duration) -> Self {
        self.patience.silence = silence;
        self
    }

    /// How long it may take in all, the task that it may become included. That one goes on at the server.
    pub fn deadline(mut self, total: Duration) -> Self {
        self.patience.total = Some(total);
        self
    }

    /// Makes the call, and leaves it to the server to run it as a task; where the server decides that by itself, the
    /// client must take tasks ([`ClientBuilder::tasks`](super::ClientBuilder::tasks)).
    pub async fn start(self) -> Result<Started, ClientError> {
        let client = self.client;
        let core = client.revision().has(Feature::CoreTasks);
        let result = self.send(if core { Wants::Task } else { Wants::Result }).await?;
        match RemoteTask::of(client, &result) {
            Some(task) => Ok(Started::Task(task)),
            None => Ok(Started::Done(Box::new(result.read().map_err(ClientError::misfit)?))),
        }
    }

    async fn run(self) -> Result<CallToolResult, ClientError> {
        let (client, name, checks, total) = (self.client, self.name.clone(), self.checks, self.patience.total);
        let until = total.and_then(|total| Instant::now().checked_add(total));
        let result = self.send(Wants::Result).await?;
        let result = match RemoteTask::of(client, &result) {
            Some(task) => match until {
                Some(until) => timeout_at(until, task.result()).await.map_err(|_| overdue(total))??,
                None => task.result().await?,
            },
            None => result.read().map_err(ClientError::misfit)?,
        };
        if checks == Checks::Yes { client.check(&name, result) } else { Ok(result) }
    }

    async fn send(self, wants: Wants) -> Result<Raw, ClientError> {
        let Self { client, name, arguments, flaw, mut progress, answers, meta, log_level, patience, checks: _ } = self;
        let arguments = arguments?;
        if let Some(flaw) = flaw {
            return Err(flaw);
        }
        let mut params = Object::with_capacity(arguments.as_bytes().len() + name.len() + 48);
        params.put_text("name", &name);
        if arguments != Raw::NULL {
            params.put("arguments", &arguments);
        }
        if let Some(meta) = &meta {
            params.put("_meta", meta);
        }
        if wants == Wants::Task {
            params.put("task", &Raw::EMPTY);
        }
        let mut wishes = if progress.is_some() { Wishes::progress() } else { Wishes::default() };
        wishes.log_level = log_level.map(|level| level.as_str().into());
        let call = Call { wishes, patience, ..Call::new(Method::ToolsCall, Some(params.finish())) };
        let hear = |note: &Note| {
            if let (Some(hear), Some(told)) = (&mut progress, told(note)) {
                hear(told);
            }
        };
        client.converse(call, answers, hear).await
    }
}

fn overdue(after: Option<Duration>) -> ClientError {
    Error::overdue("the task that the call became", after.unwrap_or_default()).into()
}

/// What is wanted of a call, where its caller says so (2025-11-25).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    Result,
    Task,
}

fn told(note: &Note) -> Option<Told> {
    if note.method != Method::Progress {
        return None;
    }
    let params: ProgressParams = note.params.as_ref()?.read().ok()?;
    let (done, total) = (params.progress.as_f64(), params.total.map(|total| total.as_f64()));
    Some(Told { done, total, message: params.message })
}

impl<'a> IntoFuture for CallTool<'a> {
    type Output = Result<CallToolResult, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for CallTool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallTool").field("name", &self.name).finish_non_exhaustive()
    }
}
