//! Nobody at a terminal, where the configuration lends the model to servers unasked.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use toolbay_agent::{
    lend::Lender,
    person::{Answered, Approval, Elicitation, Nobody, Person, Sampling, Verdict},
    toolbox::ToolId,
};

/// Nobody, and who lends the model in their name.
pub(in crate::chat) struct Absent(pub(in crate::chat) Arc<Lender>);

impl Person for Absent {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> BoxFuture<'a, Verdict> {
        Nobody.approve(approval)
    }

    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, Answered> {
        Nobody.elicit(question)
    }

    fn sample<'a>(&'a self, sampling: Sampling<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move { self.0.ask(&sampling).await })
    }

    fn roots(&self) -> BoxFuture<'_, Vec<Value>> {
        Nobody.roots()
    }

    fn told(&self, _: &ToolId, _: &str) {}
}
