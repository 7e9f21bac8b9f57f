//! The person, as a call sees them: what is asked stands in the trace, without the answer, and does not count as the call's
//! time.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time::timeout;

use super::waits::Waits;
use crate::{
    person::{Answered, Approval, Elicitation, Person, Sampling, Verdict},
    toolbox::ToolId,
    trace::{Trace, What},
};

/// The person, as a call sees them.
pub(super) struct Watched<'a> {
    pub(super) person: Arc<dyn Person>,
    pub(super) trace: Trace,
    pub(super) round: u32,
    pub(super) waits: &'a Waits,
    /// How long anybody may take for an answer.
    pub(super) patience: Duration,
    pub(super) id: &'a str,
    pub(super) tool: &'a ToolId,
}

impl Watched<'_> {
    fn note(&self, kind: &'static str, answer: &'static str) {
        let (id, tool) = (self.id.to_owned(), self.tool.clone());
        self.trace.add(self.round, What::Elicited { id, tool, kind, answer });
    }
}

impl Person for Watched<'_> {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let waiting = self.waits.open();
            let verdict = timeout(self.patience, self.person.approve(approval)).await;
            let verdict = verdict.unwrap_or_else(|_| Verdict::No(Some("nobody decided on it in time".into())));
            drop(waiting);
            let answer = if matches!(verdict, Verdict::No(_)) { "declined" } else { "accepted" };
            self.note("approval", answer);
            verdict
        })
    }

    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, Answered> {
        Box::pin(async move {
            let kind = match &question {
                Elicitation::Form { .. } => "form",
                Elicitation::Url { .. } => "url",
            };
            let waiting = self.waits.open();
            let answered = timeout(self.patience, self.person.elicit(question)).await.unwrap_or(Answered::Cancel);
            drop(waiting);
            let answer = match &answered {
                Answered::Accept(_) => "accepted",
                Answered::Decline => "declined",
                Answered::Cancel => "cancelled",
            };
            self.note(kind, answer);
            answered
        })
    }

    fn sample<'a>(&'a self, sampling: Sampling<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            let waiting = self.waits.open();
            let sampled = timeout(self.patience, self.person.sample(sampling)).await;
            let sampled = sampled.unwrap_or_else(|_| Err("nobody answered in time".into()));
            drop(waiting);
            self.note("sampling", if sampled.is_ok() { "accepted" } else { "declined" });
            sampled
        })
    }

    fn roots(&self) -> BoxFuture<'_, Vec<Value>> {
        self.person.roots()
    }

    fn told(&self, tool: &ToolId, what: &str) {
        self.waits.heard();
        self.person.told(tool, what);
    }
}
