//! The person at the terminal, as the agent knows them.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::BoxFuture;
use serde_json::Value;
use toolbay_agent::{
    lend::Lender,
    person::{Answered, Approval, Elicitation, Person, Sampling, Verdict},
    toolbox::ToolId,
};

use super::{approve, form, page, sample};
use crate::chat::{hosted::Lends, line::Desk};

/// The person at the terminal.
pub(in crate::chat) struct Terminal {
    desk: Arc<Desk>,
    lender: Option<Arc<Lender>>,
    /// Servers that may use the model without being asked about; all of them, where that is configured.
    agreed: Mutex<Agreed>,
}

enum Agreed {
    To(BTreeSet<String>),
    ToAll,
}

impl Agreed {
    fn is_to(&self, server: &str) -> bool {
        match self {
            Self::To(servers) => servers.contains(server),
            Self::ToAll => true,
        }
    }
}

impl Terminal {
    pub(in crate::chat) fn at(desk: Arc<Desk>) -> Self {
        Self { desk, lender: None, agreed: Mutex::new(Agreed::To(BTreeSet::new())) }
    }

    /// The same, with a model for servers.
    pub(in crate::chat) fn lending(self, lender: Arc<Lender>, lends: Lends) -> Self {
        let agreed = if lends == Lends::Unasked { Agreed::ToAll } else { Agreed::To(BTreeSet::new()) };
        Self { lender: Some(lender), agreed: Mutex::new(agreed), ..self }
    }

    fn agreed(&self) -> MutexGuard<'_, Agreed> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn lent(&self, sampling: Sampling<'_>) -> Result<Value, String> {
        let lender = self.lender.as_ref().ok_or("no server may use the model here")?;
        let server = sampling.server;
        if self.agreed().is_to(server) {
            return lender.ask(&sampling).await;
        }
        let model = lender.chosen(sampling.params);
        if sample::agree(&self.desk.floor().await, &sampling, model).await? == sample::Agreement::Always {
            if let Agreed::To(servers) = &mut *self.agreed() {
                servers.insert(server.to_owned());
            }
            return lender.ask(&sampling).await;
        }
        let said = lender.ask(&sampling).await?;
        // spec: client/sampling, the person sees what the server is given
        sample::release(&self.desk.floor().await, server, &said).await?;
        Ok(said)
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
        Box::pin(self.lent(sampling))
    }

    fn roots(&self) -> BoxFuture<'_, Vec<Value>> {
        Box::pin(async { vec![] })
    }

    fn told(&self, tool: &ToolId, what: &str) {
        self.desk.screen.status(&format!("{tool}: {what}"));
    }
}
