//! Who lends, within limits.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::time::timeout;

use super::{answer, question};
use crate::{
    model::{Ask, Model},
    person::Sampling,
};

/// How much of a model is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LendLimits {
    /// The most tokens one answer may have, however many the server wants.
    pub tokens: u32,
    /// How often one server may ask.
    pub asks: u32,
    /// How long an answer may take.
    pub time: Duration,
}

impl Default for LendLimits {
    fn default() -> Self {
        Self { tokens: 4_096, asks: 50, time: Duration::from_secs(300) }
    }
}

/// Lends models to servers.
pub struct Lender {
    /// The most capable first.
    models: Vec<(String, Arc<dyn Model>)>,
    limits: LendLimits,
    asked: Mutex<HashMap<String, u32>>,
}

impl Lender {
    /// Of one model, which is named so to servers.
    pub fn new(name: impl Into<String>, model: Arc<dyn Model>) -> Self {
        Self { models: vec![(name.into(), model)], limits: LendLimits::default(), asked: Mutex::default() }
    }

    /// Of another as well, less capable and cheaper than those before it.
    #[must_use]
    pub fn also(mut self, name: impl Into<String>, model: Arc<dyn Model>) -> Self {
        self.models.push((name.into(), model));
        self
    }

    /// Within other limits than the usual ones.
    #[must_use]
    pub fn within(self, limits: LendLimits) -> Self {
        Self { limits, ..self }
    }

    /// The model that is meant: the first that a hint names, else by what matters most.
    // spec: client/sampling, hints are parts of names, in order of preference; the client makes the final choice
    pub fn chosen(&self, params: &Value) -> &str {
        &self.choice(params).0
    }

    fn choice(&self, params: &Value) -> &(String, Arc<dyn Model>) {
        let wishes = params.get("modelPreferences");
        let hints = wishes.and_then(|wishes| wishes.get("hints")?.as_array()).into_iter().flatten();
        let hinted = hints.filter_map(|hint| hint.get("name")?.as_str()).find_map(|hint| {
            let hint = hint.to_lowercase();
            self.models.iter().find(|(name, _)| !hint.is_empty() && name.to_lowercase().contains(&hint))
        });
        let weight = |key: &str| wishes.and_then(|wishes| wishes.get(key)?.as_f64()).unwrap_or_default();
        let cheap = weight("costPriority").max(weight("speedPriority")) > weight("intelligencePriority");
        let (first, last) = (&self.models[0], &self.models[self.models.len() - 1]);
        hinted.unwrap_or(if cheap { last } else { first })
    }

    /// Asks the model for a server: a result of `sampling/createMessage`, or why there is none.
    ///
    /// Words stop where the server wants them to; its temperature and what else it says of the provider's own settings are
    /// left out, and so is context of other servers (`includeContext`).
    pub async fn ask(&self, sampling: &Sampling<'_>) -> Result<Value, String> {
        let Sampling { server, params } = sampling;
        let (name, model) = self.choice(params);
        let question = question::read(params, model.wire(), self.limits.tokens)?;
        {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let count = asked.entry((*server).to_owned()).or_default();
            if *count >= self.limits.asks {
                return Err(format!("server {server:?} has asked the model {} times already", self.limits.asks));
            }
            *count += 1;
        }
        let defined: Vec<_> = question.tools.iter().map(|tool| tool.defined().clone()).collect();
        let ask = Ask {
            transcript: &question.transcript,
            tools: &defined,
            choice: question.choice,
            limit: Some(question.tokens),
        };
        let late = |_| format!("the model did not reply within {} s", self.limits.time.as_secs());
        let reply = timeout(self.limits.time, model.ask(ask, &mut |_| {})).await.map_err(late)?;
        let reply = reply.map_err(|error| format!("the model did not reply: {error}"))?;
        Ok(answer::written(&reply, name, &question))
    }
}

impl fmt::Debug for Lender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.models.iter().map(|(name, _)| name).collect();
        f.debug_struct("Lender").field("models", &names).field("limits", &self.limits).finish_non_exhaustive()
    }
}
