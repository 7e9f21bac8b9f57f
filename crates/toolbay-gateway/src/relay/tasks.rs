//! The methods that look after tasks: each goes to the server whose task it is.

use std::sync::Arc;

use toolbay_protocol::{
    ErrorObject, Fault, Feature, Method, Raw,
    fault::code,
    frame::Part,
    method::TASKS,
    peer::{Call, Patience},
    raw::Object,
};
use toolbay_transport::Request;

use super::{across, resolve::Route};
use crate::{
    bay::Inner,
    bridge::{KeptTask, Sort, Tasks, own_id},
    policy::{self, Wanted},
};

/// Whose a task is.
pub(super) enum Whose {
    /// A server's, which is asked.
    Theirs(Route),
    /// Our own, and under which name it is public.
    Ours(Arc<KeptTask>, String),
}

/// Where a request goes that names a task.
pub(super) fn route(bay: &Inner, request: &Request) -> Result<Whose, ErrorObject> {
    let caller = &request.caller;
    if caller.introduction.revision.has(Feature::Stateless) && !caller.introduction.declares(&["extensions", TASKS]) {
        return Err(Fault::extension(TASKS).into());
    }
    if request.method == Method::TasksUpdate && !caller.introduction.revision.has(Feature::Stateless) {
        return Err(Fault::method(&request.method).into());
    }
    let public = request.part(Part::TaskId);
    let public = public.as_ref().and_then(Raw::as_text);
    let public = public.ok_or_else(|| ErrorObject::invalid_params("`taskId` must be a string"))?;
    // spec: tasks, nobody learns whether a task of somebody else is there
    let unknown = || {
        let why = match bay.sealer.is_foreign(&public) {
            true => {
                " (it was not named with the key of this gateway, but by another replica or before it was started again: \
                 give all of them the same TOOLBAY_STATE_KEY)"
            }
            false => "",
        };
        ErrorObject::invalid_params(format!("unknown task: {public:?}{why}"))
    };
    let principal = &caller.principal;
    if let Some((server, id)) = bay.sealer.named(Sort::Own, principal, &public) {
        let task = bay.kept.find(principal, (&server, &id)).ok_or_else(unknown)?;
        return Ok(Whose::Ours(task, public.into_owned()));
    }
    let kept = bay.sealer.named(Sort::Kept, principal, &public);
    let named = match &kept {
        Some((server, name)) => own_id(name).map(|id| (server.clone(), id.to_owned())),
        None => bay.sealer.named(Sort::Task, principal, &public),
    };
    let (server, id) = named.ok_or_else(unknown)?;
    let server = bay.server_named(&server).ok_or_else(unknown)?;
    let params = request.params.with(&[("taskId", Some(&Raw::of(&id)))]);
    Ok(Whose::Theirs(Route { kept: kept.map(|(_, name)| name), ..Route::new(&server, params) }))
}

/// A page of the caller's tasks: one page of one server. Those of servers that cannot tell users apart stay unlisted.
pub(super) async fn list(bay: &Inner, request: &Request) -> Result<Raw, ErrorObject> {
    let principal = &request.caller.principal;
    let servers = bay.listing_tasks();
    let unknown = || ErrorObject::invalid_params("unknown `cursor`");
    let (place, cursor) = match request.params.get("cursor").filter(|cursor| *cursor != Raw::NULL) {
        None => match kept_page(bay, request, 0, &servers).await {
            Some(page) => return Ok(page),
            None => (0, None),
        },
        Some(cursor) => {
            let cursor = cursor.as_text().ok_or_else(unknown)?;
            let (server, cursor) = bay.sealer.named(Sort::Cursor, principal, &cursor).ok_or_else(unknown)?;
            if server == HERE {
                let number = cursor.parse().map_err(|_| unknown())?;
                match kept_page(bay, request, number, &servers).await {
                    Some(page) => return Ok(page),
                    // The rest was forgotten meanwhile; those of the servers are still to come.
                    None => (0, None),
                }
            } else {
                let place = servers.iter().position(|name| **name == *server).ok_or_else(unknown)?;
                (place, cursor.strip_prefix('=').map(str::to_owned))
            }
        }
    };
    let mut result = Object::with_capacity(256);
    let Some(server) = servers.get(place) else {
        result.put("tasks", &Raw::array(&[]));
        return Ok(result.finish());
    };
    let page = page(bay, request, server, cursor).await?;
    let tasks = Tasks { sealer: &bay.sealer, principal, server };
    result.put("tasks", &Raw::array(&tasks.page(&page)));
    let more = page.get("nextCursor");
    let next = match more.as_ref().and_then(Raw::as_text) {
        Some(more) => Some((server, format!("={more}"))),
        None => servers.get(place + 1).map(|next| (next, String::new())),
    };
    if let Some((server, cursor)) = next {
        result.put_text("nextCursor", &bay.sealer.name(Sort::Cursor, principal, server, &cursor));
    }
    Ok(result.finish())
}

/// The server of a cursor among the tasks that are kept here.
const HERE: &str = "";
/// How many of those stand on one page.
const PAGE: usize = 50;

/// A page of the tasks that are kept here, after the one of this number; none where there are no more.
async fn kept_page(bay: &Inner, request: &Request, after: u64, servers: &[Arc<str>]) -> Option<Raw> {
    let principal = &request.caller.principal;
    let mut tasks = bay.kept.after(principal, after, PAGE + 1);
    let more = tasks.len() > PAGE;
    tasks.truncate(PAGE);
    let (last, _) = tasks.last()?;
    let next = match more {
        true => Some((HERE, last.to_string())),
        false => servers.first().map(|first| (&**first, String::new())),
    };
    let shown = across::shown(bay, request, &tasks).await;
    let mut result = Object::with_capacity(256);
    result.put("tasks", &Raw::array(&shown));
    if let Some((server, cursor)) = next {
        result.put_text("nextCursor", &bay.sealer.name(Sort::Cursor, principal, server, &cursor));
    }
    Some(result.finish())
}

async fn page(bay: &Inner, request: &Request, server: &Arc<str>, cursor: Option<String>) -> Result<Raw, ErrorObject> {
    let permit = policy::decide(&Wanted { caller: &request.caller, server })?;
    let there = bay.server(server).ok_or_else(|| bay.not_connected(server))?;
    let seat = bay.seat(&permit, &there, &request.caller).await?;
    let params = cursor.map(|cursor| {
        let mut params = Object::with_capacity(64);
        params.put_text("cursor", &cursor);
        params.finish()
    });
    let patience = Patience { silence: there.silence(), total: None };
    let call = Call { patience, behalf: Some(Arc::clone(&seat.told)), ..Call::new(Method::TasksList, params) };
    let failed =
        |error| ErrorObject::new(code::INTERNAL, format!("server {server:?} does not list its tasks: {error}"));
    seat.connection.request(call).await.map_err(|error| failed(error.to_string()))?
}
