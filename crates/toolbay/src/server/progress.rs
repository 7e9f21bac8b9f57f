//! Telling how far a call is.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
};

use toolbay_protocol::exchange::Note;

use super::context::Ctx;

/// How far a call is; sent when it is awaited, to callers that want to know. Of a task, the words alone are kept.
///
/// Progress must grow (spec: basic/utilities/progress): a note that does not is left out.
#[derive(Debug)]
#[must_use = "progress is sent when it is awaited"]
pub struct ProgressNote<'a> {
    pub(crate) cx: &'a Ctx,
    pub(crate) done: f64,
    pub(crate) total: Option<f64>,
    pub(crate) message: Option<String>,
}

impl ProgressNote<'_> {
    /// Out of so much.
    pub fn of(self, total: f64) -> Self {
        Self { total: Some(total), ..self }
    }

    /// In words.
    pub fn saying(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..self }
    }
}

impl<'a> IntoFuture for ProgressNote<'a> {
    type Output = ();
    type IntoFuture = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { cx, done, total, message } = self;
            if let (Some(task), Some(message)) = (cx.task(), &message) {
                task.say(message.clone()).await;
            }
            if cx.wants_progress() && cx.grows(done) {
                cx.note(Note::progress(done, total, message.as_deref())).await;
            }
        })
    }
}
