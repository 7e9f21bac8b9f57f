//! Changes in the legacy era: plain notifications, resources by `resources/subscribe`.

use super::{Change, TaskChange};
use crate::{
    exchange::Note,
    method::Method,
    raw::{Object, Raw},
};

/// The notification that tells of `change`.
pub fn note(change: &Change) -> Note {
    match change {
        Change::Tools => Note { method: Method::ToolsChanged, params: None },
        Change::Prompts => Note { method: Method::PromptsChanged, params: None },
        Change::Resources => Note { method: Method::ResourcesChanged, params: None },
        Change::Updated(uri) => Note::new(Method::ResourceUpdated, about(uri)),
        // Of the extension, so told on a subscription alone; there it is as it is here, but for its tag.
        Change::Task(task) => Note::new(Method::Tasks, task.state.clone()),
        Change::Said(saying) => saying.note.clone(),
    }
}

/// The parameters that name one resource.
pub fn about(uri: &str) -> Raw {
    let mut params = Object::with_capacity(uri.len() + 16);
    params.put_text("uri", uri);
    params.finish()
}

/// The change that a notification tells of; `None` for any other notification.
pub fn change(method: &Method, params: Option<&Raw>) -> Option<Change> {
    match method {
        Method::ToolsChanged => Some(Change::Tools),
        Method::PromptsChanged => Some(Change::Prompts),
        Method::ResourcesChanged => Some(Change::Resources),
        Method::ResourceUpdated => {
            let uri = params?.get("uri")?;
            uri.as_text().map(|uri| Change::Updated(uri.into_owned()))
        }
        Method::Tasks => {
            let state = params?;
            let id = state.get("taskId")?.as_text()?.into_owned();
            Some(Change::Task(TaskChange { id, state: state.with(&[("_meta", None)]) }))
        }
        _ => None,
    }
}
