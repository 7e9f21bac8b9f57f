//! Calls that outlive their request, watched from afar: of the extension for 2026-07-28, and of the 2025-11-25 core.

use std::{collections::HashSet, time::Duration};

use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw,
    exchange::{Ask, Asks},
    raw::Object,
    types::{CallToolResult, Dict, InputRequest, Number, TaskStatus},
};

use toolbay_transport::Kind;

use super::{connected::Client, error::ClientError, states::TaskStates};

/// What a call came to at first.
#[derive(Debug)]
pub enum Started {
    /// Its result.
    Done(Box<CallToolResult>),
    /// A task, which goes on at the server whatever happens here.
    Task(RemoteTask),
}

/// A task at a server.
#[derive(Clone, Debug)]
pub struct RemoteTask {
    pub(super) client: Client,
    id: String,
    pub(super) poll: Duration,
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskState {
    /// Where.
    pub status: TaskStatus,
    /// Why, for people.
    pub message: Option<String>,
    asks: Dict<InputRequest>,
    result: Option<Raw>,
    error: Option<Raw>,
    /// How long to wait before asking again, where that was said.
    pub(super) poll: Option<Duration>,
}

impl TaskState {
    /// What it came to, once it is over; where it did not come to a result, why not. Of a task of 2025-11-25 that is known
    /// on demand alone: [`RemoteTask::result`].
    pub fn outcome(&self) -> Option<Result<CallToolResult, ClientError>> {
        match (&self.status, &self.result, &self.error) {
            (TaskStatus::Completed, Some(result), _) => Some(result.read().map_err(ClientError::misfit)),
            (TaskStatus::Failed, _, Some(error)) => Some(Err(ErrorObject::read(error).into())),
            (TaskStatus::Cancelled, ..) => {
                let what = self.message.clone().unwrap_or_else(|| "the task was cancelled".into());
                Some(Err(ClientError::Refused(ErrorObject::internal(what))))
            }
            (..) => None,
        }
    }

    /// The keys of the questions that wait for an answer.
    pub fn asks(&self) -> impl Iterator<Item = &str> {
        self.asks.iter().map(|(key, _)| key)
    }
}

/// How long to wait before asking again, where the server does not say.
const POLL: Duration = Duration::from_secs(1);
/// Nobody is asked more often, whatever the server says.
const BUSIEST: Duration = Duration::from_millis(20);

impl RemoteTask {
    /// The task that a result names, if it is one.
    pub(crate) fn of(client: &Client, result: &Raw) -> Option<Self> {
        let task = if client.revision().has(Feature::CoreTasks) {
            result.get("task")?
        } else {
            let kind = result.get("resultType")?;
            (kind.as_bytes() == br#""task""#).then(|| result.clone())?
        };
        let id = task.get("taskId")?.as_text()?.into_owned();
        Some(Self { client: client.clone(), id, poll: poll(&task) })
    }

    /// A task that was begun before, by its id.
    pub fn known(client: &Client, id: impl Into<String>) -> Self {
        Self { client: client.clone(), id: id.into(), poll: POLL }
    }

    /// Names it.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn params(&self) -> Object {
        let mut params = Object::with_capacity(self.id.len() + 16);
        params.put_text("taskId", &self.id);
        params
    }

    /// Where it stands now.
    pub async fn state(&self) -> Result<TaskState, ClientError> {
        let raw = self.client.request(Method::TasksGet, self.params().finish()).await?;
        read(&raw)
    }

    /// Takes it back; it may still come to its end.
    pub async fn cancel(&self) -> Result<(), ClientError> {
        self.client.request(Method::TasksCancel, self.params().finish()).await.map(drop)
    }

    /// Waits for its end, however long the server lets it run, and answers what it asks meanwhile, with the client's
    /// handlers.
    pub async fn result(&self) -> Result<CallToolResult, ClientError> {
        if self.client.revision().has(Feature::CoreTasks) {
            return self.core_result().await;
        }
        let (mut states, mut answered) = (self.states(), HashSet::new());
        while let Some(state) = states.next().await {
            let state = state?;
            if let Some(outcome) = state.outcome() {
                return outcome;
            }
            // spec: tasks extension, no key is answered twice
            let fresh: Dict<_> = state.asks.into_iter().filter(|(key, _)| answered.insert(key.clone())).collect();
            if !fresh.is_empty() {
                self.answer(fresh).await?;
            }
        }
        Err(ClientError::misfit("a task that is over without an outcome"))
    }

    /// Where it stands now, and each time that changes, until it is over: told by the server where it can
    /// (`subscriptions/listen`), asked for at its pace otherwise. States that come while nobody looks are passed over for
    /// the latest.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toolbay::client::ClientError> {
    /// use toolbay::{Client, Server, Tool, client::Started};
    ///
    /// let server = Server::new("films", "1.0.0").tool(Tool::new("render", "", || async { "done" }).task());
    /// let client = Client::builder("me", "1.0.0").tasks().connect(server).await?;
    /// let Started::Task(film) = client.call("render", &()).start().await? else { panic!("it is a task") };
    /// let mut states = film.states();
    /// while let Some(state) = states.next().await {
    ///     println!("{}", state?.status);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn states(&self) -> TaskStates {
        TaskStates::of(self.clone())
    }

    /// What `tasks/result` answers, asked again for as long as the task runs: it says nothing before the end.
    async fn core_result(&self) -> Result<CallToolResult, ClientError> {
        let mut is_over = false;
        loop {
            match self.client.request(Method::TasksResult, self.params().finish()).await {
                Err(ClientError::Link(error)) if error.kind() == Kind::Overdue && !is_over => {
                    is_over = self.state().await?.status.is_final();
                }
                outcome => return outcome?.read().map_err(ClientError::misfit),
            }
        }
    }

    async fn answer(&self, asks: Dict<InputRequest>) -> Result<(), ClientError> {
        let asks: Asks = asks
            .into_iter()
            .map(|(key, request)| (key.into_string(), Ask { method: request.method, params: request.params }))
            .collect();
        let answers = self.client.answers(asks).await;
        let mut responses = Object::with_capacity(128);
        for (key, answer) in answers {
            // There is no place for a refusal; the task waits until it is over.
            if let Ok(answer) = answer {
                responses.put(&key, &answer);
            }
        }
        let mut params = self.params();
        params.put("inputResponses", &responses.finish());
        self.client.request(Method::TasksUpdate, params.finish()).await.map(drop)
    }
}

fn poll(task: &Raw) -> Duration {
    said_poll(task).unwrap_or(POLL)
}

fn said_poll(task: &Raw) -> Option<Duration> {
    let said = task.get("pollIntervalMs").or_else(|| task.get("pollInterval"));
    let said = said.and_then(Number::read).and_then(|millis| millis.as_u64());
    said.map(|millis| Duration::from_millis(millis).max(BUSIEST))
}

pub(super) fn read(raw: &Raw) -> Result<TaskState, ClientError> {
    let text = |key: &str| raw.get(key).and_then(|text| text.as_text().map(std::borrow::Cow::into_owned));
    let status = text("status").ok_or_else(|| ClientError::misfit("a task without a status"))?;
    let asks = raw.get("inputRequests").map(|asks| asks.read().map_err(ClientError::misfit)).transpose()?;
    Ok(TaskState {
        status: TaskStatus::from(&*status),
        message: text("statusMessage"),
        asks: asks.unwrap_or_default(),
        result: raw.get("result"),
        error: raw.get("error"),
        poll: said_poll(raw),
    })
}
