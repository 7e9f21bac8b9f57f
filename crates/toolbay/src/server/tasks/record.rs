//! What is known of a task, and how each revision writes it.

use std::time::{Duration, SystemTime};

use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Outcome, stamp},
    moment::iso,
    raw::Object,
    types::{Dict, InputRequest, TaskStatus},
    watch::{Change, TaskChange},
};
use toolbay_transport::Principal;

use super::written;
use crate::serde::{Deserialize, Serialize};

/// What is known of a task. A store may write it, as JSON or anything else that serde writes, and read it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(crate = "crate::serde")]
#[non_exhaustive]
pub struct TaskRecord {
    /// Names it; nobody can guess it.
    pub id: String,
    /// Whose it is: nobody else is told of it.
    #[serde(with = "written::principal")]
    pub principal: Principal,
    /// The revision of the call that began it.
    #[serde(with = "written::revision")]
    pub revision: Revision,
    /// Where it stands.
    pub status: TaskStatus,
    /// Why, for people.
    pub message: Option<String>,
    /// When it began.
    pub created: SystemTime,
    /// When it last changed.
    pub updated: SystemTime,
    /// How long it is kept after it began.
    pub life: Duration,
    /// How long to wait before asking again.
    pub poll: Duration,
    /// What it asks, each under a key that is never used again.
    pub requests: Dict<InputRequest>,
    /// What it came to.
    pub outcome: Option<Outcome>,
}

impl TaskRecord {
    /// Whether it may be forgotten.
    pub fn is_expired(&self, now: SystemTime) -> bool {
        now.duration_since(self.created).is_ok_and(|age| age > self.life)
    }

    /// How much of its life is left.
    pub(super) fn left(&self, now: SystemTime) -> Duration {
        self.life.saturating_sub(now.duration_since(self.created).unwrap_or_default())
    }

    /// A result of this kind with the members that every form has, in the words of the extension.
    fn extended(&self, kind: &str) -> Object {
        let mut task = Object::with_capacity(256);
        task.put_text("resultType", kind);
        self.extend(&mut task);
        task
    }

    fn extend(&self, task: &mut Object) {
        self.shared(task);
        task.put_value("ttlMs", &millis(self.life));
        task.put_value("pollIntervalMs", &millis(self.poll));
    }

    fn shared(&self, task: &mut Object) {
        task.put_text("taskId", &self.id);
        task.put_text("status", self.status.as_str());
        if let Some(message) = &self.message {
            task.put_text("statusMessage", message);
        }
        task.put_text("createdAt", &iso(self.created));
        task.put_text("lastUpdatedAt", &iso(self.updated));
    }

    /// The task in the words of the 2025-11-25 core.
    pub(super) fn core(&self) -> Raw {
        let mut task = Object::with_capacity(256);
        self.shared(&mut task);
        task.put_value("ttl", &millis(self.life));
        task.put_value("pollInterval", &millis(self.poll));
        task.finish()
    }

    /// The answer to the call that began it.
    pub(super) fn created(&self) -> Raw {
        if self.revision.has(toolbay_protocol::Feature::CoreTasks) {
            let mut result = Object::with_capacity(256);
            result.put("task", &self.core());
            return result.finish();
        }
        self.extended("task").finish()
    }

    /// The answer to `tasks/get`.
    pub(super) fn state(&self) -> Raw {
        if self.revision.has(toolbay_protocol::Feature::CoreTasks) {
            return self.core();
        }
        let mut task = self.extended("complete");
        self.detail(&mut task);
        task.finish()
    }

    /// The same as it is told to who listens (spec: tasks extension, task status notifications).
    pub(super) fn change(&self) -> Change {
        let mut task = Object::with_capacity(256);
        self.extend(&mut task);
        self.detail(&mut task);
        Change::Task(TaskChange { id: self.id.clone(), state: task.finish() })
    }

    /// What it came to, or asks.
    fn detail(&self, task: &mut Object) {
        match &self.outcome {
            Some(Ok(result)) => {
                task.put("result", &stamp(result.clone(), &Method::ToolsCall, self.revision, None));
            }
            Some(Err(error)) => task.put_value("error", error),
            None if !self.requests.is_empty() => task.put_value("inputRequests", &self.requests),
            None => {}
        }
    }

    /// Notes what it came to.
    pub(super) fn end(&mut self, outcome: Outcome) {
        if self.status.is_final() {
            return;
        }
        // spec: 2025-11-25 basic/utilities/tasks has a failure of the tool end the task as failed, the extension does not
        let core = self.revision.has(toolbay_protocol::Feature::CoreTasks);
        let tool_failed = |result: &Raw| result.get("isError").is_some_and(|error| error.as_bytes() == b"true");
        self.status = match &outcome {
            Ok(result) if core && tool_failed(result) => TaskStatus::Failed,
            Ok(_) => TaskStatus::Completed,
            Err(_) => TaskStatus::Failed,
        };
        if let Err(error) = &outcome {
            self.message = Some(error.message.clone());
        }
        self.requests = Dict::new();
        self.outcome = Some(outcome);
    }

    /// What `tasks/result` answers once it is over.
    pub(super) fn result(&self) -> Option<Outcome> {
        match (&self.outcome, self.status.is_final()) {
            (Some(outcome), _) => Some(outcome.clone()),
            (None, true) => Some(Err(ErrorObject::internal("the task was cancelled"))),
            (None, false) => None,
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}
