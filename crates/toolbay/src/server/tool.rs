//! A tool: what it says of itself, and the function behind it.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use serde_json::{Map, Value};
use toolbay_protocol::{
    Raw,
    headers::HeaderPlan,
    types::{self, Icon, Meta, TaskSupport, ToolAnnotations},
};

use super::{
    arguments::{Given, Misfit},
    context::Ctx,
    handler::Handler,
    output::ToolOutput,
};
use crate::error::Result;

/// The work of one call.
pub(crate) type Work = Pin<Box<dyn Future<Output = Result<Raw>> + Send>>;
/// A handler whose types are forgotten.
pub(crate) type Call = Arc<dyn Fn(&Raw, &Ctx) -> Result<Work, Misfit> + Send + Sync>;
type Bind<S> = Box<dyn FnOnce(Arc<S>) -> Call + Send + Sync>;

/// Something that a model can call.
///
/// ```
/// use toolbay::{Ctx, Tool, data};
///
/// #[data]
/// struct AddArgs {
///     /// The first of the two.
///     left: i64,
///     right: i64,
/// }
///
/// let add: Tool = Tool::new("add", "Adds two numbers", |args: AddArgs, _: Ctx| async move { args.left + args.right });
/// ```
pub struct Tool<S = ()> {
    pub(crate) words: types::Tool,
    starts: TaskStart,
    written: Written,
    bind: Bind<S>,
}

/// Where a schema comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// From a type, which checks what it reads.
    ByType,
    /// By hand.
    ByHand,
}

/// When a call becomes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskStart {
    AtOnce,
    WhenAsked,
}

impl<S: Send + Sync + 'static> Tool<S> {
    /// A tool called `name`, served by `handler`; `description` is what a model decides by.
    ///
    /// # Panics
    /// Where the name is not of the letters, digits, `_`, `-` and `.` that hosts take, or where the arguments have no
    /// names.
    #[track_caller]
    pub fn new<H, Shape>(name: impl Into<String>, description: impl Into<String>, handler: H) -> Self
    where
        H: Handler<S, Shape>,
        H::Output: ToolOutput,
    {
        let (name, description) = (name.into(), description.into());
        check_name(&name);
        let schema = H::schema(&format!("tool `{name}`"));
        let mut words = types::Tool::new(name, Raw::of(&schema));
        words.description = Some(description).filter(|text| !text.is_empty());
        words.output_schema = H::Output::output_schema();
        let bind: Bind<S> = Box::new(move |state| {
            Arc::new(move |arguments: &Raw, cx: &Ctx| {
                let work = handler.run(Given::Json(arguments), &state, cx)?;
                let form = cx.form();
                Ok(Box::pin(async move { work.await.into_result(&form) }) as Work)
            })
        });
        Self { words, starts: TaskStart::AtOnce, written: Written::ByType, bind }
    }

    /// What it is called for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.words.title = Some(title.into());
        self
    }

    /// Another schema of its arguments than the one their type has; the root must be an object. With the feature
    /// `validate`, what does not fit it never reaches the function.
    #[must_use]
    pub fn input_schema(mut self, schema: Raw) -> Self {
        self.words.input_schema = schema;
        self.written = Written::ByHand;
        self
    }

    /// Another schema of its structured content than the one its return type has.
    #[must_use]
    pub fn output_schema(mut self, schema: Raw) -> Self {
        self.words.output_schema = Some(schema);
        self
    }

    /// It changes nothing.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.annotate(|hints| hints.read_only_hint = Some(true))
    }

    /// It may destroy something.
    #[must_use]
    pub fn destructive(self) -> Self {
        self.annotate(|hints| hints.destructive_hint = Some(true))
    }

    /// It only ever adds.
    #[must_use]
    pub fn additive(self) -> Self {
        self.annotate(|hints| hints.destructive_hint = Some(false))
    }

    /// Calling it again with the same arguments changes nothing more.
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.annotate(|hints| hints.idempotent_hint = Some(true))
    }

    /// It deals with a closed world: nothing outside the server's own.
    #[must_use]
    pub fn closed_world(self) -> Self {
        self.annotate(|hints| hints.open_world_hint = Some(false))
    }

    fn annotate(mut self, set: impl FnOnce(&mut ToolAnnotations)) -> Self {
        set(self.words.annotations.get_or_insert_default());
        self
    }

    /// Calls may run as tasks: they outlive their request, their caller asks what became of them, and their questions are
    /// put to whoever watches the task. Callers that know no tasks wait for the answer.
    #[must_use]
    pub fn task(self) -> Self {
        self.supports(TaskSupport::Optional)
    }

    /// Calls must run as tasks; callers that know none are refused, where the revision has tasks at all.
    #[must_use]
    pub fn only_as_task(self) -> Self {
        self.supports(TaskSupport::Required)
    }

    /// Calls become tasks not at once but when the function says so ([`Ctx::into_task`]): until then it asks its caller
    /// as in any other call.
    #[must_use]
    pub fn task_when_asked(mut self) -> Self {
        self.starts = TaskStart::WhenAsked;
        self
    }

    fn supports(mut self, support: TaskSupport) -> Self {
        self.words.execution.get_or_insert_default().task_support = Some(support);
        self
    }

    /// A picture of it; one more each time.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.words.icons.get_or_insert_default().push(icon);
        self
    }

    /// A member of its `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<Box<str>>, value: &Value) -> Self {
        self.words.meta.get_or_insert_with(Meta::new).insert(key, Raw::of(value));
        self
    }

    /// Marks an argument as one that HTTP requests repeat in the header `Mcp-Param-{header}`, so that what lies between
    /// may route by it (spec: basic/transports/streamable-http). Never for secrets.
    ///
    /// # Panics
    /// Where there is no such argument.
    #[must_use]
    #[track_caller]
    pub fn header(mut self, argument: &str, header: impl Into<String>) -> Self {
        let mut schema: Map<String, Value> = self.words.input_schema.read().unwrap_or_default();
        let place = schema.get_mut("properties").and_then(|all| all.get_mut(argument)).and_then(Value::as_object_mut);
        let place = place.unwrap_or_else(|| panic!("tool `{}` has no argument `{argument}`", self.words.name));
        place.insert("x-mcp-header".into(), header.into().into());
        self.words.input_schema = Raw::of(&schema);
        self
    }

    pub(crate) fn bound(self, state: Arc<S>) -> ToolEntry {
        let plan = HeaderPlan::of_json(self.words.input_schema.as_bytes());
        let plan = plan.unwrap_or_else(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("tool `{}` cannot mirror its arguments in headers: {}", self.words.name, problems.join("; "))
        });
        let headers = Some(Arc::new(plan)).filter(|plan| !plan.is_empty());
        let call = (self.bind)(state);
        let call = if self.written == Written::ByHand { checked(&self.words, call) } else { call };
        ToolEntry { words: self.words, headers, starts: self.starts, call }
    }
}

/// The same call, for arguments that fit the tool's schema alone.
#[cfg(feature = "validate")]
fn checked(words: &types::Tool, call: Call) -> Call {
    let validator = crate::validate::Validator::of(&words.input_schema);
    let validator = validator.unwrap_or_else(|flaw| panic!("tool `{}`: {flaw}", words.name));
    Arc::new(move |arguments, cx| {
        validator.check(arguments).map_err(Misfit::saying)?;
        call(arguments, cx)
    })
}

#[cfg(not(feature = "validate"))]
fn checked(_: &types::Tool, call: Call) -> Call {
    call
}

impl<S> fmt::Debug for Tool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.words.name).finish_non_exhaustive()
    }
}

/// A tool that is served.
pub(crate) struct ToolEntry {
    pub(crate) words: types::Tool,
    pub(crate) headers: Option<Arc<HeaderPlan>>,
    pub(crate) starts: TaskStart,
    pub(crate) call: Call,
}

impl ToolEntry {
    /// Whether its calls run as tasks.
    pub(crate) fn task_support(&self) -> TaskSupport {
        let support = self.words.execution.as_ref().and_then(|execution| execution.task_support.clone());
        support.unwrap_or(TaskSupport::Forbidden)
    }
}

/// spec: server/tools, names
#[track_caller]
pub(crate) fn check_name(name: &str) {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let fits = (1..=128).contains(&name.len()) && name.bytes().all(letter);
    assert!(fits, "a tool cannot be called {name:?}: take 1 to 128 letters, digits, `_`, `-` and `.`");
}
