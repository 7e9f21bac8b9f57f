//! The methods that look after tasks.

use std::sync::Arc;

use toolbay_protocol::{
    ErrorObject, Fault, Feature, Method, Raw,
    exchange::{Asks, Outcome},
    method::TASKS,
    raw::{Array, Kind, Object},
    types::meta::key::RELATED_TASK,
};
use toolbay_transport::{Caller, Cx, Request, talk::Reply};

use super::{
    record::TaskRecord,
    slot::{Cancelled, Settled, related},
    start::undeclared,
    tables::{broken, unknown},
};
use crate::server::{
    live::Live,
    page::{self, Cursor},
};

/// How many tasks stand on a page.
const PAGE: usize = 100;

/// Answers a method that looks after tasks.
pub(crate) async fn serve(live: &Arc<Live>, request: Request, line: Cx) -> Outcome {
    let caller = &request.caller;
    let core = caller.introduction.revision.has(Feature::CoreTasks);
    if !core && !caller.introduction.declares(&["extensions", TASKS]) {
        return Err(undeclared());
    }
    if core && request.method == Method::TasksUpdate {
        return Err(Fault::method(&request.method).into());
    }
    if request.method == Method::TasksList {
        return list(live, &request).await;
    }
    let id = request.params.get("taskId");
    let id = id.as_ref().and_then(Raw::as_text);
    let id = id.ok_or_else(|| ErrorObject::invalid_params("`taskId` must be a string"))?;
    match &request.method {
        Method::TasksGet => Ok(find(live, &id, caller).await?.state()),
        Method::TasksUpdate => update(live, &request, &id).await,
        Method::TasksCancel => cancel(live, &id, caller).await,
        _ => result(live, &id, caller, line).await,
    }
}

async fn find(live: &Live, id: &str, caller: &Caller) -> Result<TaskRecord, ErrorObject> {
    live.tasks.find(&live.settings.tasks, id, caller).await
}

/// The result of an answer that says nothing.
fn done() -> Raw {
    let mut result = Object::with_capacity(32);
    result.put_text("resultType", "complete");
    result.finish()
}

async fn update(live: &Live, request: &Request, id: &str) -> Outcome {
    let responses = request.params.get("inputResponses").filter(|all| all.kind() == Kind::Object);
    let responses = responses.ok_or_else(|| ErrorObject::invalid_params("`inputResponses` must be an object"))?;
    match live.tasks.slot(id, &request.caller) {
        Some(slot) => slot.answer(responses.members().map(|member| (member.key.into_owned(), Ok(member.value)))).await,
        // One that is over asks nothing any more.
        None => drop(find(live, id, &request.caller).await?),
    }
    Ok(done())
}

async fn cancel(live: &Live, id: &str, caller: &Caller) -> Outcome {
    let core = caller.introduction.revision.has(Feature::CoreTasks);
    let cancelled = match live.tasks.slot(id, caller) {
        Some(slot) => {
            let cancelled = slot.cancel().await;
            live.tasks.over(id);
            cancelled
        }
        None => {
            find(live, id, caller).await?;
            Cancelled::TooLate
        }
    };
    match (core, cancelled) {
        (true, Cancelled::TooLate) => Err(ErrorObject::invalid_params("the task is over: it cannot be cancelled")),
        (true, Cancelled::Done) => Ok(find(live, id, caller).await?.core()),
        // spec: tasks extension, the same answer for a task that is over
        (false, _) => Ok(done()),
    }
}

/// Waits for what a task came to, and puts its questions meanwhile (spec: 2025-11-25 basic/utilities/tasks).
async fn result(live: &Live, id: &str, caller: &Caller, line: Cx) -> Outcome {
    let Some(slot) = live.tasks.slot(id, caller) else {
        let record = find(live, id, caller).await?;
        return record.result().ok_or_else(unknown)?.map(|result| tagged(&result, id));
    };
    loop {
        match slot.settled().await {
            Settled::Over(record) => return record.result().ok_or_else(unknown)?.map(|result| tagged(&result, id)),
            Settled::Asks(asks) => {
                // Not every client that may ask for the result can be asked.
                asks.iter().try_for_each(|(_, ask)| caller.introduction.admits(ask)).map_err(ErrorObject::from)?;
                let asks: Asks = asks.into_iter().map(|(key, ask)| (key, related(ask, id))).collect();
                let gone = |_| ErrorObject::internal("the caller is gone");
                match line.ask(asks, None).await.map_err(gone)? {
                    Reply::Answers(answers) => slot.answer(answers).await,
                    Reply::WillReturn => return Ok(Raw::EMPTY),
                }
            }
        }
    }
}

/// A result with the task that it belongs to.
fn tagged(result: &Raw, id: &str) -> Raw {
    let mut task = Object::with_capacity(64);
    task.put_text("taskId", id);
    let meta = result.get("_meta").unwrap_or(Raw::EMPTY).with(&[(RELATED_TASK, Some(&task.finish()))]);
    result.with(&[("_meta", Some(&meta))])
}

async fn list(live: &Live, request: &Request) -> Outcome {
    let after = match Cursor::read(&request.params)? {
        Cursor::At(0) => None,
        Cursor::Beyond(Some(after)) => Some(after),
        Cursor::At(_) | Cursor::Beyond(None) => return Err(page::bad_cursor()),
    };
    let principal = &request.caller.principal;
    let found = live.settings.tasks.store.list(principal, after.as_deref(), PAGE + 1).await.map_err(broken)?;
    let more = found.len() > PAGE;
    let mut tasks = Array::with_capacity(256 * found.len());
    let core = |record: &&TaskRecord| record.revision.has(Feature::CoreTasks);
    let shown = &found[..found.len().min(PAGE)];
    shown.iter().filter(core).for_each(|record| tasks.push(&record.core()));
    let mut result = Object::with_capacity(256);
    result.put("tasks", &tasks.finish());
    if let (true, Some(last)) = (more, shown.last()) {
        result.put_text("nextCursor", &Cursor::Beyond(Some(last.id.clone())).write());
    }
    Ok(result.finish())
}
