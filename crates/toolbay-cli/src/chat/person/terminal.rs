//! The person at the terminal, as the agent knows them.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use toolbay_agent::{
    person::{Answered, Approval, Elicitation, Person, Sampling, Verdict},
    toolbox::ToolId,
};

use super::{approve, form, page, sample};
use crate::chat::line::Desk;

/// The person at the terminal.
pub(in crate::chat) struct Terminal {
    desk: Arc<Desk>,
}

impl Terminal {
    pub(in crate::chat) fn at(desk: Arc<Desk>) -> Self {
        Self { desk }
    }
}

impl Person for Terminal {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async move { approve::decide(&self.desk.floor().await, &approval).await })
    }

    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, Answered> {
        Box::pin(async move {
            let floor = self.desk.floor().await;
            match question {
                Elicitation::Form { server, message, schema } => form::fill(&floor, &server, &message, &schema).await,
                Elicitation::Url { server, message, url } => page::visit(&floor, &server, &message, &url).await,
            }
        })
    }

    fn sample<'a>(&'a self, sampling: Sampling<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            sample::agree(&self.desk.floor().await, &sampling).await?;
            Err("no model is there for servers".into())
        })
    }

    fn roots(&self) -> BoxFuture<'_, Vec<Value>> {
        Box::pin(async { vec![] })
    }

    fn told(&self, tool: &ToolId, what: &str) {
        self.desk.screen.status(&format!("{tool}: {what}"));
    }
}
