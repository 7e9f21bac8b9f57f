//! The states of a task as they come: told by its server on a stream of its own, and asked for where it does not tell.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{
    Stream, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use tokio::time::{Instant, sleep_until};
use toolbay_protocol::watch::{Change, Filter};
use toolbay_transport::Listening;

use super::{
    error::ClientError,
    task::{RemoteTask, TaskState, read},
};

/// After how much silence a server that tells of a task is asked whether it did not forget to.
const SILENCE: Duration = Duration::from_secs(60);

/// The states of a task: [`RemoteTask::states`]. A [`Stream`] that ends with the task, or with the first error.
#[must_use = "nothing is asked for before it is read"]
pub struct TaskStates(BoxStream<'static, Result<TaskState, ClientError>>);

impl TaskStates {
    pub(super) fn of(task: RemoteTask) -> Self {
        let watching = Watching {
            opening: Some(open(&task)),
            ear: Ear::Shut,
            due: Instant::now(),
            poll: task.poll,
            last: None,
            over: false,
            task,
        };
        Self(stream::unfold(watching, Watching::next).boxed())
    }

    /// The next state; `None` once the last one was given. Losing the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<TaskState, ClientError>> {
        self.0.next().await
    }
}

impl Stream for TaskStates {
    type Item = Result<TaskState, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl fmt::Debug for TaskStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskStates")
    }
}

/// Opens the stream on which the task is told of; nothing where its server does not.
fn open(task: &RemoteTask) -> BoxFuture<'static, Option<Listening>> {
    let (connection, id) = (task.client.connection(), task.id().to_owned());
    Box::pin(async move {
        let reach = Filter::task(&id);
        if !connection.can_listen(&reach) {
            return None;
        }
        connection.listen(reach).await.ok().filter(|listening| listening.filter().tasks.contains(&id))
    })
}

/// What is heard of the task without asking.
enum Ear {
    Shut,
    /// What came before it opened may have been missed.
    Opened(Listening),
    /// Whatever changes is heard here.
    Open(Listening),
}

impl Ear {
    async fn next(&mut self) -> Option<Change> {
        match self {
            Self::Shut => std::future::pending().await,
            Self::Opened(listening) | Self::Open(listening) => listening.next().await,
        }
    }
}

struct Watching {
    task: RemoteTask,
    opening: Option<BoxFuture<'static, Option<Listening>>>,
    ear: Ear,
    /// When to ask next.
    due: Instant,
    poll: Duration,
    last: Option<TaskState>,
    over: bool,
}

enum Woken {
    Opened(Option<Listening>),
    Told(Option<Change>),
    Due,
}

impl Watching {
    async fn next(mut self) -> Option<(Result<TaskState, ClientError>, Self)> {
        while !self.over {
            let state = match self.woken().await {
                Woken::Opened(listening) => {
                    self.opening = None;
                    self.ear = listening.map_or(Ear::Shut, Ear::Opened);
                    continue;
                }
                Woken::Told(Some(Change::Task(told))) if told.id == self.task.id() => read(&told.state),
                Woken::Told(Some(_)) => continue,
                Woken::Told(None) => {
                    self.ear = Ear::Shut;
                    self.due = self.due.min(Instant::now() + self.poll);
                    continue;
                }
                Woken::Due => self.task.state().await,
            };
            let state = match state {
                Ok(state) => state,
                Err(error) => {
                    self.over = true;
                    return Some((Err(error), self));
                }
            };
            self.heard(&state);
            if self.last.as_ref() != Some(&state) {
                self.last = Some(state.clone());
                return Some((Ok(state), self));
            }
        }
        None
    }

    async fn woken(&mut self) -> Woken {
        let opening = async {
            match &mut self.opening {
                Some(opening) => opening.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            opened = opening => Woken::Opened(opened),
            told = self.ear.next() => Woken::Told(told),
            () = sleep_until(self.due) => Woken::Due,
        }
    }

    fn heard(&mut self, state: &TaskState) {
        self.over = state.status.is_final();
        self.poll = state.poll.unwrap_or(self.poll);
        self.ear = match std::mem::replace(&mut self.ear, Ear::Shut) {
            Ear::Shut => Ear::Shut,
            Ear::Opened(listening) | Ear::Open(listening) => Ear::Open(listening),
        };
        let pause = match self.ear {
            Ear::Shut | Ear::Opened(_) => self.poll,
            Ear::Open(_) => SILENCE,
        };
        self.due = Instant::now() + pause;
    }
}
