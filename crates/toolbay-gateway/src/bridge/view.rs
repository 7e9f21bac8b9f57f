//! How a task of the core looks to its caller, who knows the extension; told to whoever listens.

use toolbay_protocol::{
    Fault, Method, Raw, Revision,
    exchange::{Ask, Asks},
    raw::Object,
    types::{TaskStatus, conform_params, conform_result},
    watch::{Change, TaskChange},
};
use toolbay_transport::Hub;

use super::{kept_task::KeptTask, wording};

/// One such look.
#[derive(Clone)]
pub(crate) struct View {
    /// Where it is told.
    pub(crate) hub: Hub,
    /// What the caller calls it.
    pub(crate) public: String,
    /// The server's revision, and the caller's.
    pub(crate) from: Revision,
    pub(crate) to: Revision,
}

impl View {
    /// Where it stands, and what it came to or asks.
    pub(crate) fn of(&self, task: &KeptTask) -> Result<Object, Fault> {
        let (core, asks) = (task.task(), task.open());
        let cancelled = task.cancelled.is_cancelled() || wording::status(&core) == Some(TaskStatus::Cancelled);
        let outcome = task.outcome().filter(|_| !cancelled);
        let status = match &outcome {
            _ if cancelled => TaskStatus::Cancelled,
            // spec: tasks extension, a tool that says itself that it failed has completed
            Some(Ok(_)) => TaskStatus::Completed,
            Some(Err(_)) => TaskStatus::Failed,
            None if asks.is_empty() => TaskStatus::Working,
            None => TaskStatus::InputRequired,
        };
        let mut shown = wording::to_extension(&core, &self.public, &status);
        match outcome {
            Some(Ok(result)) => shown.put("result", &conform_result(&Method::ToolsCall, &result, self.from, self.to)?),
            Some(Err(error)) => shown.put_value("error", &error),
            None if cancelled || asks.is_empty() => {}
            None => shown.put("inputRequests", &self.asks(&asks).write()),
        }
        Ok(shown)
    }

    /// Questions as the caller's revision writes them; to which task they belong need not be said again.
    fn asks(&self, asks: &Asks) -> Asks {
        let conformed = |ask: &Ask| {
            let params = ask.params.as_ref().map(wording::untagged);
            let params =
                params.map(|params: Raw| conform_params(&ask.method, &params, self.from, self.to).unwrap_or(params));
            Ask { method: ask.method.clone(), params }
        };
        asks.iter().map(|(key, ask)| (key.to_owned(), conformed(ask))).collect()
    }

    /// Tells it to whoever listens.
    pub(crate) fn tell(&self, task: &KeptTask) {
        // What cannot be shown is asked for, and the reason heard then.
        if let Ok(state) = self.of(task) {
            self.hub.publish(&Change::Task(TaskChange { id: self.public.clone(), state: state.finish() }));
        }
    }
}
