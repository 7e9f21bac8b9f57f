//! Completing an argument while it is typed (spec: server/utilities/completion).

use std::{future::Future, pin::Pin, sync::Arc};

use toolbay_protocol::{
    ErrorObject, Raw,
    exchange::Outcome,
    types::{CompleteParams, CompleteResult, Completion, Conform as _, Dict, Reference},
};
use toolbay_transport::{Cx, Request};

use super::{
    context::Ctx,
    deadline,
    failure::{self, Subject},
    live::Live,
    registry::Listed as _,
};

/// What is being typed.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Completing {
    /// What stands there so far.
    pub value: String,
    /// The other arguments, as far as they are filled in.
    pub arguments: Dict<String>,
}

/// What it could become, the best first; more than a hundred are cut, and the client is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suggestions(pub(crate) Completion);

impl Suggestions {
    /// Those of `known` that begin with what is typed, whatever the letter case.
    pub fn beginning<T: AsRef<str>>(typed: &str, known: impl IntoIterator<Item = T>) -> Self {
        let typed = typed.to_lowercase();
        let fits = |text: &T| text.as_ref().to_lowercase().starts_with(&typed);
        known.into_iter().filter(fits).map(|text| text.as_ref().to_owned()).collect::<Vec<_>>().into()
    }

    /// The same suggestions, of `total` that there are.
    #[must_use]
    pub fn of(mut self, total: usize) -> Self {
        self.0.has_more = Some(total > self.0.values.len());
        self.0.total = Some(total.into());
        self
    }
}

impl<T: Into<String>> From<Vec<T>> for Suggestions {
    fn from(values: Vec<T>) -> Self {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        let mut completion = Completion::new(values);
        completion.total = Some(completion.values.len().into());
        completion.has_more = Some(false);
        Self(completion)
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for Suggestions {
    fn from(values: [T; N]) -> Self {
        Vec::from(values).into()
    }
}

type Work = Pin<Box<dyn Future<Output = Suggestions> + Send>>;

/// A function that completes one argument.
#[derive(Clone)]
pub(crate) struct Complete(Arc<dyn Fn(Completing, Ctx) -> Work + Send + Sync>);

impl Complete {
    pub(crate) fn new<F, Fut>(complete: F) -> Self
    where
        F: Fn(Completing, Ctx) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Into<Suggestions>,
    {
        Self(Arc::new(move |typed, cx| {
            let work = complete(typed, cx);
            Box::pin(async move { work.await.into() })
        }))
    }

    pub(crate) fn call(&self, typed: Completing, cx: Ctx) -> Work {
        (self.0)(typed, cx)
    }
}

/// The functions that complete arguments of one prompt or template.
#[derive(Clone, Default)]
pub(crate) struct Completions(Vec<(Box<str>, Complete)>);

impl Completions {
    pub(crate) fn put(&mut self, argument: &str, complete: Complete) {
        self.0.push((argument.into(), complete));
    }

    pub(crate) fn get(&self, argument: &str) -> Option<&Complete> {
        self.0.iter().find(|(known, _)| **known == *argument).map(|(_, complete)| complete)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Answers `completion/complete`; an argument that nobody completes has no suggestions.
pub(crate) async fn serve(live: &Arc<Live>, request: Request, line: Cx) -> Outcome {
    let revision = request.caller.introduction.revision;
    let misfit = |flaw| ErrorObject::invalid_params(format!("the parameters do not fit: {flaw}"));
    let params: CompleteParams = request.params.read().map_err(misfit)?;
    let registry = live.registry.load_full();
    let completions = match &params.reference {
        Reference::Prompt(prompt) => {
            let entry = registry.prompts.get(&prompt.name);
            entry.filter(|entry| live.shows(&request.caller, entry.item())).map(|entry| &entry.completions)
        }
        Reference::Resource(resource) => {
            let entry = registry.templates.get(&resource.uri);
            entry.filter(|entry| live.shows(&request.caller, entry.item())).map(|entry| &entry.completions)
        }
        _ => None,
    };
    let unknown = || ErrorObject::invalid_params("`ref` names no prompt and no resource template of this server");
    let suggestions = match completions.ok_or_else(unknown)?.get(&params.argument.name) {
        Some(complete) => {
            let arguments = params.context.and_then(|context| context.arguments).unwrap_or_default();
            let typed = Completing { value: params.argument.value, arguments };
            let cx = Ctx::new(request, line, live)?;
            let came = deadline::run(live, &cx, || {
                let work = complete.call(typed, cx.clone());
                Ok(Box::pin(async move { Ok(work.await) }))
            });
            let subject = Subject { kind: "completion", name: &params.argument.name };
            failure::of_other(live, subject, came.await)?.unwrap_or_default()
        }
        None => Suggestions::from(Vec::<String>::new()),
    };
    Ok(Raw::of(&CompleteResult::new(suggestions.0).conformed(revision)))
}
