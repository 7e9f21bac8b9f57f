//! Who answers what servers ask: the user, the model, the list of roots.

use std::{future::Future, panic::AssertUnwindSafe, pin::Pin, sync::Arc};

use futures_util::{FutureExt as _, future::join_all};
use serde::{Serialize, de::DeserializeOwned};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Answers, Ask, Asks, Outcome},
    fault::code,
    method::TASKS,
    raw::Object,
    types::{
        Conform, CreateMessageParams, CreateMessageResult, ElicitFormParams, ElicitParams, ElicitResult,
        ElicitUrlParams, ListRootsResult, Root,
    },
};

use super::{events::HearText, form};

type Handle = Arc<dyn Fn(Raw) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

/// The handlers of a client.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    form: Option<Handle>,
    url: Option<Handle>,
    sample: Option<Handle>,
    roots: Option<Handle>,
    /// The model may be lent with tools.
    with_tools: bool,
    /// Calls may come back as tasks.
    tasks: bool,
    /// Hears of what is kept from servers.
    complaints: Option<HearText>,
}

fn handler<P, R, F, Work>(answer: F) -> Handle
where
    P: DeserializeOwned + Send,
    R: Serialize + Send,
    F: Fn(P) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<R, ErrorObject>> + Send + 'static,
{
    Arc::new(move |params| {
        let misfit = |flaw| ErrorObject::invalid_params(format!("the question does not fit: {flaw}"));
        match params.read::<P>() {
            Err(flaw) => Box::pin(std::future::ready(Err(misfit(flaw)))),
            Ok(params) => {
                let work = answer(params);
                Box::pin(async move { work.await.map(|result| Raw::of(&result)) })
            }
        }
    })
}

impl Handlers {
    pub(crate) fn on_form<F, Work>(&mut self, answer: F)
    where
        F: Fn(ElicitFormParams) -> Work + Send + Sync + 'static,
        Work: Future<Output = ElicitResult> + Send + 'static,
    {
        self.form = Some(handler(move |asked: ElicitFormParams| {
            let schema = asked.requested_schema.clone();
            let work = answer(asked);
            async move { Ok(form::filled(work.await, &schema)) }
        }));
    }

    pub(crate) fn on_url<F, Work>(&mut self, answer: F)
    where
        F: Fn(ElicitUrlParams) -> Work + Send + Sync + 'static,
        Work: Future<Output = ElicitResult> + Send + 'static,
    {
        self.url = Some(handler(move |asked: ElicitUrlParams| {
            let work = answer(asked);
            async move { Ok(work.await) }
        }));
    }

    pub(crate) fn on_sample<F, Work>(&mut self, answer: F, tools: Tools)
    where
        F: Fn(CreateMessageParams) -> Work + Send + Sync + 'static,
        Work: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.with_tools = tools == Tools::Honoured;
        self.sample = Some(handler(answer));
    }

    pub(crate) fn on_roots<F, Work>(&mut self, answer: F)
    where
        F: Fn() -> Work + Send + Sync + 'static,
        Work: Future<Output = Vec<Root>> + Send + 'static,
    {
        self.roots = Some(handler(move |_: serde::de::IgnoredAny| {
            let work = answer();
            async move { Ok(ListRootsResult::new(work.await)) }
        }));
    }

    /// Tells what is kept from servers to `hear`.
    pub(crate) fn complain_to(&mut self, hear: Option<HearText>) {
        self.complaints = hear;
    }

    /// Those that are roots; the others are given to nobody (spec: client/roots).
    fn kept_to_files(&self, answer: &Raw) -> Outcome {
        let misfit = |flaw: serde_json::Error| ErrorObject::internal(flaw.to_string());
        let mut answer: ListRootsResult = answer.read().map_err(misfit)?;
        answer.roots.retain(|root| match root.check() {
            Ok(()) => true,
            Err(flaw) => {
                if let Some(hear) = &self.complaints {
                    hear(&format!("{:?} is kept from the server: {flaw}", root.uri));
                }
                false
            }
        });
        Ok(Raw::of(&answer))
    }

    /// What the client can do, told by what it has handlers for.
    pub(crate) fn capabilities(&self) -> Raw {
        let mut all = Object::with_capacity(96);
        if self.form.is_some() || self.url.is_some() {
            let mut modes = Object::with_capacity(32);
            for (mode, handler) in [("form", &self.form), ("url", &self.url)] {
                if handler.is_some() {
                    modes.put(mode, &Raw::EMPTY);
                }
            }
            all.put("elicitation", &modes.finish());
        }
        if self.sample.is_some() {
            let mut sampling = Object::with_capacity(16);
            if self.with_tools {
                sampling.put("tools", &Raw::EMPTY);
            }
            all.put("sampling", &sampling.finish());
        }
        if self.roots.is_some() {
            all.put("roots", &Raw::EMPTY);
        }
        if self.tasks {
            let mut extensions = Object::with_capacity(48);
            extensions.put(TASKS, &Raw::EMPTY);
            all.put("extensions", &extensions.finish());
        }
        all.finish()
    }

    /// Calls may come back as tasks.
    pub(crate) fn take_tasks(&mut self) {
        self.tasks = true;
    }

    /// Answers one question, in the words of `revision`.
    pub(crate) async fn answer(&self, ask: Ask, revision: Revision) -> Outcome {
        let params = ask.params.unwrap_or(Raw::EMPTY);
        let handler = match &ask.method {
            Method::RootsList => self.roots.as_ref(),
            Method::CreateMessage => self.sample.as_ref(),
            Method::Elicit => match params.read::<ElicitParams>() {
                Ok(ElicitParams::Form(_)) => self.form.as_ref(),
                Ok(ElicitParams::Url(_)) => self.url.as_ref(),
                Ok(_) | Err(_) => None,
            },
            _ => None,
        };
        let Some(handler) = handler else {
            // spec: client/elicitation, an undeclared mode
            let code = if ask.method == Method::Elicit { code::INVALID_PARAMS } else { code::METHOD_NOT_FOUND };
            return Err(ErrorObject::new(code, format!("this client does not answer {}", ask.method)));
        };
        // It runs where the connection is driven, which others need.
        let answered = AssertUnwindSafe(async { handler(params).await }).catch_unwind().await;
        let panicked = |_| ErrorObject::internal(format!("the client failed inside when it was asked {}", ask.method));
        let mut answer = answered.map_err(panicked)??;
        if ask.method == Method::RootsList {
            answer = self.kept_to_files(&answer)?;
        }
        conformed(&ask.method, &answer, revision)
    }

    /// Answers questions that were put together, all at once.
    pub(crate) async fn answers(&self, asks: Asks, revision: Revision) -> Answers {
        let each = asks.into_iter().map(|(key, ask)| async move { (key, self.answer(ask, revision).await) });
        join_all(each).await.into_iter().collect()
    }
}

fn conformed(method: &Method, answer: &Raw, revision: Revision) -> Outcome {
    fn bend<T: DeserializeOwned + Conform + Serialize>(answer: &Raw, revision: Revision) -> Outcome {
        let misfit = |flaw: serde_json::Error| ErrorObject::internal(flaw.to_string());
        Ok(Raw::of(&answer.read::<T>().map_err(misfit)?.conformed(revision)))
    }
    match method {
        Method::Elicit => bend::<ElicitResult>(answer, revision),
        Method::CreateMessage => bend::<CreateMessageResult>(answer, revision),
        _ => bend::<ListRootsResult>(answer, revision),
    }
}

/// Whether a model can be lent together with tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tools {
    /// `tools` and `toolChoice` are obeyed.
    Honoured,
    /// They are not.
    Ignored,
}
