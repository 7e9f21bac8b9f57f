//! Whether a call becomes a task, and how its function runs on behind it.

use std::{pin::Pin, sync::Arc};

use toolbay_protocol::{ErrorObject, Fault, Feature, Raw, exchange::Outcome, method::TASKS, types::TaskSupport};
use toolbay_transport::Caller;

use super::{super::context::Ctx, slot::Shared};
use crate::server::{
    deadline,
    failure::{self, Came, Subject},
    live::Live,
    tool::{TaskStart, ToolEntry},
};

/// How a call is run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Start {
    /// While its caller waits.
    Direct,
    /// As a task from the beginning; with what the caller wants of it.
    AtOnce(Option<Raw>),
    /// As a task when the function says so.
    WhenAsked(Option<Raw>),
}

impl Start {
    /// Decides it; an error where the caller wants what cannot be (spec: tasks of both kinds).
    pub(crate) fn of(tool: &ToolEntry, caller: &Caller, params: &Raw) -> Result<Self, ErrorObject> {
        let revision = caller.introduction.revision;
        let support = tool.task_support();
        let wanted = if revision.has(Feature::CoreTasks) {
            let wanted = params.get("task").filter(|task| task.as_bytes().first() == Some(&b'{'));
            match (&support, &wanted) {
                (TaskSupport::Required, None) => return Err(method(&tool.words.name, "must run as a task")),
                (TaskSupport::Forbidden | TaskSupport::Other(_), Some(_)) => {
                    return Err(method(&tool.words.name, "cannot run as a task"));
                }
                (_, None) => return Ok(Self::Direct),
                (_, Some(_)) => wanted,
            }
        } else {
            let declared = revision.has(Feature::Stateless) && caller.introduction.declares(&["extensions", TASKS]);
            match support {
                TaskSupport::Forbidden | TaskSupport::Other(_) => return Ok(Self::Direct),
                TaskSupport::Required if !declared && revision.has(Feature::Stateless) => return Err(undeclared()),
                TaskSupport::Optional | TaskSupport::Required if !declared => return Ok(Self::Direct),
                TaskSupport::Optional | TaskSupport::Required => None,
            }
        };
        Ok(match tool.starts {
            TaskStart::AtOnce => Self::AtOnce(wanted),
            TaskStart::WhenAsked => Self::WhenAsked(wanted),
        })
    }
}

fn method(name: &str, what: &str) -> ErrorObject {
    ErrorObject::new(toolbay_protocol::fault::code::METHOD_NOT_FOUND, format!("tool `{name}` {what}"))
}

/// The request does not declare the extension that it needs.
pub(super) fn undeclared() -> ErrorObject {
    Fault::extension(TASKS).into()
}

type Work = Pin<Box<dyn Future<Output = Came<Raw>> + Send>>;

/// Runs a tool that may become a task.
pub(crate) async fn call(live: &Arc<Live>, tool: Arc<ToolEntry>, arguments: Raw, cx: Ctx, start: Start) -> Outcome {
    let (entry, context) = (Arc::clone(&tool), cx.clone());
    let mut work: Work = Box::pin(async move { failure::run(&context, || (entry.call)(&arguments, &context)).await });
    match start {
        Start::AtOnce(wanted) => {
            let slot = live.tasks.begin(&live.settings.tasks, cx.caller(), wanted.as_ref()).await?;
            cx.attach(Arc::clone(&slot));
            go_on(live, tool, work, slot, &cx)
        }
        Start::Direct | Start::WhenAsked(_) => {
            let came = tokio::select! {
                biased;
                came = deadline::within(live.settings.call_deadline, &cx, &mut work) => came,
                slot = cx.detached() => return go_on(live, tool, work, slot, &cx),
            };
            match cx.task() {
                // It went on as a task and came to its end at once.
                Some(slot) => go_on(live, tool, Box::pin(std::future::ready(came)), slot, &cx),
                None => failure::of_tool(live, &cx.form(), subject(&tool), came),
            }
        }
    }
}

fn subject(tool: &ToolEntry) -> Subject<'_> {
    Subject { kind: "tool", name: &tool.words.name }
}

/// Lets the function run on behind its request; the answer names the task.
fn go_on(live: &Arc<Live>, tool: Arc<ToolEntry>, work: Work, slot: Shared, cx: &Ctx) -> Outcome {
    let created = slot.snapshot();
    let (live, running, form) = (Arc::clone(live), Arc::clone(&slot), cx.form());
    let jobs = live.tasks.jobs()?;
    let job = jobs.start(async move {
        let came = work.await;
        let outcome = failure::of_tool(&live, &form, subject(&tool), came);
        running.end(outcome).await;
        live.tasks.over(&running.snapshot().id);
    });
    slot.runs_as(job);
    Ok(created.created())
}
