//! The questions themselves, as methods of the context.

use std::future::Future;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use toolbay_protocol::{
    Method, Raw,
    exchange::Ask,
    types::{
        Conform, CreateMessageParams, CreateMessageResult, ElicitFormParams, ElicitParams, ElicitResult,
        RequestedSchema, Root, SamplingMessage,
    },
};

use super::verdict;
use crate::{
    JsonSchema,
    error::{Fail, Result},
    schema,
    server::Ctx,
    tool_error,
};

/// What a user did with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elicited<T> {
    /// Answered it.
    Accepted(T),
    /// Said no.
    Declined,
    /// Looked away.
    Cancelled,
}

impl<T> Elicited<T> {
    /// The answer, where there is one.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(answer) => Some(answer),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

/// A form without fields: all there is to say is yes or no.
#[derive(Deserialize, JsonSchema)]
#[expect(clippy::empty_structs_with_brackets, reason = "an object on the wire")]
struct NoFields {}

/// Questions to the caller.
///
/// With some callers a question ends the call, and when the answer is in, **the handler runs again from its beginning**:
/// so `key` must be the same each time and name one question only, and what comes before a question must be harmless to
/// repeat, or stand in [`once`](Self::once). Questions that are awaited together (`tokio::join!`) are put together.
impl Ctx {
    /// Asks the user to fill in the form that `T` describes: a struct of texts, numbers, truth values and choices, whose
    /// docs are what the user reads. An answer that does not fit is asked for again.
    ///
    /// Never ask for secrets with a form: send the user to a URL.
    ///
    /// # Panics
    /// Where `T` is nothing that a form can show.
    pub async fn elicit<T: DeserializeOwned + JsonSchema>(
        &self,
        key: &str,
        message: impl Into<String>,
    ) -> Result<Elicited<T>> {
        let ask = ElicitParams::form(message, &form::<T>());
        self.put(key, Method::Elicit, ask, verdict::elicited).await
    }

    /// The same for whoever cannot go on without an answer: where the user says no, the model is told so.
    ///
    /// # Panics
    /// Where `T` is nothing that a form can show.
    pub async fn ask<T: DeserializeOwned + JsonSchema>(&self, key: &str, message: impl Into<String>) -> Result<T> {
        match self.elicit(key, message).await? {
            Elicited::Accepted(answer) => Ok(answer),
            Elicited::Declined => Err(tool_error!("the user said no").into()),
            Elicited::Cancelled => Err(tool_error!("the user did not answer").into()),
        }
    }

    /// Asks the user for a yes or no, and for nothing else.
    pub async fn confirm(&self, key: &str, message: impl Into<String>) -> Result<Elicited<()>> {
        let elicited = self.elicit::<NoFields>(key, message).await?;
        Ok(match elicited {
            Elicited::Accepted(NoFields {}) => Elicited::Accepted(()),
            Elicited::Declined => Elicited::Declined,
            Elicited::Cancelled => Elicited::Cancelled,
        })
    }

    /// Asks with a form that is put together by hand.
    pub async fn elicit_form(&self, key: &str, form: ElicitFormParams) -> Result<ElicitResult> {
        self.put(key, Method::Elicit, ElicitParams::Form(form), verdict::typed).await
    }

    /// Sends the user to a URL, with their consent: for what must not pass through the client, such as a sign-in. That
    /// the user went there says nothing of what they did: look for that where the URL leads.
    pub async fn elicit_url(
        &self,
        key: &str,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<Elicited<()>> {
        let ask = ElicitParams::url(message, url);
        let elicited = self.put(key, Method::Elicit, ask, verdict::elicited::<serde::de::IgnoredAny>).await?;
        Ok(match elicited {
            Elicited::Accepted(_) => Elicited::Accepted(()),
            Elicited::Declined => Elicited::Declined,
            Elicited::Cancelled => Elicited::Cancelled,
        })
    }

    /// Asks the client's model.
    pub async fn sample(&self, key: &str, params: CreateMessageParams) -> Result<CreateMessageResult> {
        self.put(key, Method::CreateMessage, params, verdict::typed).await
    }

    /// Asks the client's model one thing; its words.
    pub async fn sample_text(&self, key: &str, prompt: impl Into<String>, max_tokens: u32) -> Result<String> {
        let params = CreateMessageParams::new([SamplingMessage::user(prompt.into())], max_tokens);
        let answer = self.sample(key, params).await?;
        let texts: Vec<&str> = answer.content.as_slice().iter().filter_map(|block| block.as_text()).collect();
        Ok(texts.join("\n"))
    }

    /// The folders that the client lets its servers see: `file://` URIs, none of which leads up by `..`. An error where the
    /// client names something else.
    pub async fn roots(&self, key: &str) -> Result<Vec<Root>> {
        self.put(key, Method::RootsList, NoParams, verdict::roots).await
    }

    /// Does something once, however often a question makes the handler run again; later runs are given what came of it
    /// the first time. It travels with the caller: keep it small.
    pub async fn once<T, E, F, Work>(&self, key: &str, work: F) -> Result<T>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Fail>,
        F: FnOnce() -> Work,
        Work: Future<Output = Result<T, E>>,
    {
        let before = self.memory().done(key).cloned();
        if let Some(before) = before {
            return Ok(before.read()?);
        }
        let outcome = work().await.map_err(Into::into)?;
        let kept = Raw::encode(&outcome)?;
        self.memory().do_once(key, kept);
        Ok(outcome)
    }
}

/// `roots/list` says nothing more.
#[derive(Serialize)]
struct NoParams;

impl Conform for NoParams {
    fn conform(&mut self, _: toolbay_protocol::Revision) {}
}

/// A question that can be put, in the words of a revision.
pub(crate) trait Question: Conform + Serialize {
    fn into_ask(mut self, method: Method, revision: toolbay_protocol::Revision) -> Result<Ask>
    where
        Self: Sized,
    {
        self.check(revision)?;
        self.conform(revision);
        let params = Some(Raw::encode(&self)?).filter(|params| *params != Raw::NULL);
        Ok(Ask { method, params })
    }
}

impl<T: Conform + Serialize> Question for T {}

/// The form that a type describes.
fn form<T: JsonSchema>() -> RequestedSchema {
    match schema::of_form::<T>() {
        Ok(form) => form,
        Err(what) => panic!("`{}` is nothing that a form can show: {what}", T::schema_name()),
    }
}
