//! A prompt: what it says of itself, and the function that fills it in.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use serde_json::{Map, Value};
use toolbay_protocol::types::{self, Dict, GetPromptResult, Icon, PromptArgument};

use super::{
    arguments::{Given, Misfit},
    completion::{Complete, Completing, Completions, Suggestions},
    context::Ctx,
    handler::Handler,
    prompt_output::PromptOutput,
};
use crate::error::Result;

pub(crate) type FillWork = Pin<Box<dyn Future<Output = Result<GetPromptResult>> + Send>>;
type Fill = Arc<dyn Fn(&Dict<String>, &Ctx) -> Result<FillWork, Misfit> + Send + Sync>;
type Bind<S> = Box<dyn FnOnce(Arc<S>) -> Fill + Send + Sync>;

/// Messages that a person picks, with holes to fill in.
///
/// ```
/// use toolbay::{Prompt, data};
///
/// #[data]
/// struct Week {
///     /// Number of the week.
///     week: u32,
/// }
///
/// let report: Prompt = Prompt::new("weekly_report", "Reports on a week", |args: Week| async move {
///     format!("Report on week {}.", args.week)
/// });
/// ```
pub struct Prompt<S = ()> {
    pub(crate) words: types::Prompt,
    completions: Completions,
    bind: Bind<S>,
}

impl<S: Send + Sync + 'static> Prompt<S> {
    /// A prompt called `name`, filled in by `handler`. Its arguments are the members of the handler's struct.
    pub fn new<H, Shape>(name: impl Into<String>, description: impl Into<String>, handler: H) -> Self
    where
        H: Handler<S, Shape>,
        H::Output: PromptOutput,
    {
        let mut words = types::Prompt::new(name);
        words.arguments = Some(holes(&H::schema(&format!("prompt `{}`", words.name)))).filter(|all| !all.is_empty());
        words.description = Some(description.into()).filter(|text| !text.is_empty());
        let bind: Bind<S> = Box::new(move |state| {
            Arc::new(move |texts: &Dict<String>, cx: &Ctx| {
                let work = handler.run(Given::Texts(texts), &state, cx)?;
                Ok(Box::pin(async move { work.await.into_prompt() }) as FillWork)
            })
        });
        Self { words, completions: Completions::default(), bind }
    }

    /// What it is called for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.words.title = Some(title.into());
        self
    }

    /// A picture of it; one more each time.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.words.icons.get_or_insert_default().push(icon);
        self
    }

    /// Completes `argument` while it is typed.
    ///
    /// # Panics
    /// Where there is no such argument.
    #[must_use]
    #[track_caller]
    pub fn complete<F, Work>(mut self, argument: &str, complete: F) -> Self
    where
        F: Fn(Completing, Ctx) -> Work + Send + Sync + 'static,
        Work: Future + Send + 'static,
        Work::Output: Into<Suggestions>,
    {
        let known = self.words.arguments.iter().flatten().any(|known| known.name == argument);
        assert!(known, "prompt `{}` has no argument `{argument}`", self.words.name);
        self.completions.put(argument, Complete::new(complete));
        self
    }

    pub(crate) fn bound(self, state: Arc<S>) -> PromptEntry {
        PromptEntry { words: self.words, completions: self.completions, fill: (self.bind)(state) }
    }
}

/// The holes that a schema describes.
fn holes(schema: &Map<String, Value>) -> Vec<PromptArgument> {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    let properties = schema.get("properties").and_then(Value::as_object);
    let hole = |(name, of): (&String, &Value)| {
        let mut hole = PromptArgument::new(name.as_str());
        hole.title = text(of, "title");
        hole.description = text(of, "description");
        hole.required = Some(required.contains(&name.as_str()));
        hole
    };
    properties.into_iter().flatten().map(hole).collect()
}

impl<S> fmt::Debug for Prompt<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("name", &self.words.name).finish_non_exhaustive()
    }
}

/// A prompt that is served.
pub(crate) struct PromptEntry {
    pub(crate) words: types::Prompt,
    pub(crate) completions: Completions,
    pub(crate) fill: Fill,
}
