//! Carrying parameters and results from one revision to another: verbatim where both are the same, spliced toward a
//! newer one, decoded and bent toward an older one. Envelopes, identities and request state are not of this room.

use memchr::memmem;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    AcknowledgedParams, CallToolParams, CallToolResult, CancelledParams, CompleteParams, CompleteResult, Conform,
    CreateMessageParams, CreateMessageResult, DiscoverResult, ElicitParams, ElicitResult, ElicitationCompleteParams,
    EmptyParams, EmptyResult, GetPromptParams, GetPromptResult, InitializeParams, InitializeResult, ListParams,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListRootsResult, ListTasksResult,
    ListToolsResult, ListenParams, ListenResult, LoggingMessageParams, ProgressParams, ReadResourceParams,
    ReadResourceResult, ResourceParams, SetLevelParams, Task, TaskParams,
    meta::{conformed_meta, needs_conform},
};
use crate::{
    fault::Fault,
    method::Method,
    raw::{Kind, Object, Raw},
    revision::{Feature as F, Revision},
};

/// The result of `method` that `from` wrote, as `to` reads it; an error where `to` has no form for it.
pub fn conform_result(method: &Method, result: &Raw, from: Revision, to: Revision) -> Result<Raw, Fault> {
    if is_ask(method) {
        return conform_answer(method, result, from, to);
    }
    if result.kind() != Kind::Object {
        return Err(Fault::envelope(format!("the result of {method} is no object")));
    }
    if to.reads_verbatim(from) {
        return Ok(result.clone());
    }
    if !to.is_at_least(from)
        && let Some(plain) = plain_result(method, result, to)
    {
        return Ok(plain);
    }
    refuse_unfinished(method, result, from, to)?;
    if to.is_at_least(from) && !sheds(method, result, from, to) {
        return Ok(stamped(method, result, from, to));
    }
    let bent = bend_result(method, result, to)?;
    Ok(stamped(method, &bent, from, to))
}

/// The parameters of `method` that `from` wrote, as `to` reads them; an error where `to` has no words for what they ask.
/// What `to` wants in an envelope is added elsewhere.
pub fn conform_params(method: &Method, params: &Raw, from: Revision, to: Revision) -> Result<Raw, Fault> {
    if to.reads_verbatim(from) {
        return Ok(params.clone());
    }
    if method.is_foreign_to(to) {
        return Err(Fault::method(method));
    }
    if to.is_at_least(from) && !sheds_params(method, params, from, to) {
        return Ok(params.clone());
    }
    bend_params(method, params, to)
}

/// The answer to the question `method` (elicitation, sampling, roots) that `from` wrote, as `to` reads it.
pub fn conform_answer(method: &Method, answer: &Raw, from: Revision, to: Revision) -> Result<Raw, Fault> {
    if to.reads_verbatim(from) {
        return Ok(answer.clone());
    }
    let misfit = |flaw| Fault::params(format!("the answer to {method} does not fit: {flaw}"));
    match method {
        Method::Elicit => bend::<ElicitResult>(answer, to, misfit),
        Method::CreateMessage => bend::<CreateMessageResult>(answer, to, misfit),
        Method::RootsList => bend::<ListRootsResult>(answer, to, misfit),
        _ => Err(Fault::order(format!("{method} is nothing that a server asks"))),
    }
}

fn is_ask(method: &Method) -> bool {
    matches!(method, Method::Elicit | Method::CreateMessage | Method::RootsList)
}

/// A result that is not the answer itself has a form only where both sides know it.
fn refuse_unfinished(method: &Method, result: &Raw, from: Revision, to: Revision) -> Result<(), Fault> {
    let unfinished = if from.has(F::ResultType) {
        result.get("resultType").is_some_and(|kind| !matches!(kind.as_bytes(), br#""complete""# | b"null"))
    } else {
        let task = from.has(F::CoreTasks) && *method == Method::ToolsCall;
        task && result.get("task").is_some() && result.get("content").is_none()
    };
    if !unfinished || (from.has(F::ResultType) && to.has(F::ResultType)) {
        return Ok(());
    }
    Err(Fault::order(format!("the result of {method} is not its answer yet, which the other side cannot be told")))
}

/// Whether a result holds what the newer `to` has lost.
fn sheds(method: &Method, result: &Raw, from: Revision, to: Revision) -> bool {
    let loses_tasks = from.has(F::CoreTasks) && !to.has(F::CoreTasks);
    let executions = || memmem::find(result.as_bytes(), br#""execution""#).is_some();
    let tasks = loses_tasks && *method == Method::ToolsList && executions();
    tasks || result.get("_meta").is_some_and(|meta| needs_conform(&meta, to))
}

/// The same for parameters.
fn sheds_params(method: &Method, params: &Raw, from: Revision, to: Revision) -> bool {
    let asks = is_ask(method) && from.has(F::AskMeta) && !to.has(F::AskMeta);
    let task = |key: &str| key == "task" && from.has(F::CoreTasks) && !to.has(F::CoreTasks);
    asks || *method == Method::Cancelled
        || params
            .members()
            .any(|member| task(&member.key) || (member.key == "_meta" && needs_conform(&member.value, to)))
}

/// What a tool returns most of the time, texts that every revision knows, without what goes around it in newer ones; `None`
/// where there is more to it.
fn plain_result(method: &Method, result: &Raw, to: Revision) -> Option<Raw> {
    if *method != Method::ToolsCall || to.has(F::ResultType) {
        return None;
    }
    let [content, is_error, result_type, meta] = result.only(["content", "isError", "resultType", "_meta"])?;
    let content = content.filter(|content| content.kind() == Kind::Array)?;
    let finished = result_type.is_none_or(|kind| kind.as_bytes() == br#""complete""#);
    let judged = is_error.as_ref().is_none_or(|flag| flag.kind() == Kind::Bool);
    let noted = meta.as_ref().is_none_or(|meta| meta.kind() == Kind::Object);
    if !(finished && judged && noted && content.elements().all(|block| is_plain_text(&block))) {
        return None;
    }
    let mut plain = Object::with_capacity(result.as_bytes().len());
    plain.put("content", &content);
    if let Some(is_error) = is_error {
        plain.put("isError", &is_error);
    }
    if let Some(meta) = meta.and_then(|meta| conformed_meta(&meta, to)) {
        plain.put("_meta", &meta);
    }
    Some(plain.finish())
}

/// Whether a block of content is a text and nothing else.
fn is_plain_text(block: &Raw) -> bool {
    let Some([Some(kind), Some(text)]) = block.only(["type", "text"]) else { return false };
    kind.as_bytes() == br#""text""# && text.kind() == Kind::String
}

/// What every result must carry since `resultType`. A legacy server means nothing by these names, so what it wrote under
/// them does not count.
fn stamped(method: &Method, result: &Raw, from: Revision, to: Revision) -> Raw {
    if from.has(F::ResultType) || !to.has(F::ResultType) {
        return result.clone();
    }
    let (complete, private) = (Raw::of("complete"), Raw::of("private"));
    if method.is_cacheable() {
        let hints = [("resultType", Some(&complete)), ("ttlMs", Some(&Raw::ZERO)), ("cacheScope", Some(&private))];
        return result.with(&hints);
    }
    result.with(&[("resultType", Some(&complete))])
}

fn bend<T: DeserializeOwned + Serialize + Conform>(
    raw: &Raw,
    to: Revision,
    misfit: impl Fn(serde_json::Error) -> Fault,
) -> Result<Raw, Fault> {
    let mut value: T = raw.read().map_err(misfit)?;
    value.check(to)?;
    value.conform(to);
    Ok(Raw::of(&value))
}

fn bend_result(method: &Method, result: &Raw, to: Revision) -> Result<Raw, Fault> {
    let misfit = |flaw| Fault::envelope(format!("the result of {method} does not fit: {flaw}"));
    match method {
        Method::Initialize => bend::<InitializeResult>(result, to, misfit),
        Method::Discover => bend::<DiscoverResult>(result, to, misfit),
        Method::ToolsList => bend::<ListToolsResult>(result, to, misfit),
        Method::ToolsCall => bend::<CallToolResult>(result, to, misfit),
        Method::ResourcesList => bend::<ListResourcesResult>(result, to, misfit),
        Method::TemplatesList => bend::<ListResourceTemplatesResult>(result, to, misfit),
        Method::ResourcesRead => bend::<ReadResourceResult>(result, to, misfit),
        Method::PromptsList => bend::<ListPromptsResult>(result, to, misfit),
        Method::PromptsGet => bend::<GetPromptResult>(result, to, misfit),
        Method::Complete => bend::<CompleteResult>(result, to, misfit),
        Method::Listen => bend::<ListenResult>(result, to, misfit),
        Method::TasksGet | Method::TasksCancel => bend::<Task>(result, to, misfit),
        Method::TasksList => bend::<ListTasksResult>(result, to, misfit),
        // The rest say nothing, or nothing that we know; `_meta` alone has a history.
        _ => bend::<EmptyResult>(result, to, misfit),
    }
}

fn bend_params(method: &Method, params: &Raw, to: Revision) -> Result<Raw, Fault> {
    let misfit = |flaw| Fault::params(format!("the parameters of {method} do not fit: {flaw}"));
    match method {
        Method::Initialize => bend::<InitializeParams>(params, to, misfit),
        Method::ToolsCall => bend::<CallToolParams>(params, to, misfit),
        Method::ResourcesRead => bend::<ReadResourceParams>(params, to, misfit),
        Method::PromptsGet => bend::<GetPromptParams>(params, to, misfit),
        Method::Complete => bend::<CompleteParams>(params, to, misfit),
        Method::ToolsList | Method::PromptsList | Method::ResourcesList | Method::TemplatesList | Method::TasksList => {
            bend::<ListParams>(params, to, misfit)
        }
        Method::Subscribe | Method::Unsubscribe | Method::ResourceUpdated => bend::<ResourceParams>(params, to, misfit),
        Method::SetLevel => bend::<SetLevelParams>(params, to, misfit),
        Method::Listen => bend::<ListenParams>(params, to, misfit),
        Method::Acknowledged => bend::<AcknowledgedParams>(params, to, misfit),
        Method::TasksGet | Method::TasksResult | Method::TasksCancel => bend::<TaskParams>(params, to, misfit),
        Method::TaskStatus => bend::<Task>(params, to, misfit),
        Method::CreateMessage => bend::<CreateMessageParams>(params, to, misfit),
        Method::Elicit => bend::<ElicitParams>(params, to, misfit),
        Method::ElicitationComplete => bend::<ElicitationCompleteParams>(params, to, misfit),
        Method::Cancelled => bend::<CancelledParams>(params, to, misfit),
        Method::Progress => bend::<ProgressParams>(params, to, misfit),
        Method::Message => bend::<LoggingMessageParams>(params, to, misfit),
        // The rest say nothing, or nothing that we know; `_meta` alone has a history.
        _ => bend::<EmptyParams>(params, to, misfit),
    }
}

#[cfg(test)]
mod tests;
