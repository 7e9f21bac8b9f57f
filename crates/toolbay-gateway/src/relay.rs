//! One request, front to back: the rooms that it goes through, in order.
//!
//! Before us, a transport has read the message and admitted its caller. Then: what is meant ([`crate::catalog`]), may it
//! be ([`crate::policy`]), which connection ([`crate::servers`]), and to and fro until the end ([`crate::bridge`]). All
//! the while a ticket of [`crate::audit`] is open.

use std::{sync::Arc, time::SystemTime};

use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw, Revision,
    exchange::{Answers, Asks, Outcome, Return, Wishes},
    fault::code,
    peer::{Call, Patience},
    types::relay::conform_params,
};
use toolbay_transport::{Caller, Connection, Cx, Kind, Request};

use crate::{
    audit::{End, Ticket},
    bay::Inner,
    bridge::{Banks, Binding, Carried, Crossing, Parked, cross},
    catalog::{Catalog, Listed},
    policy::{self, Permit, Wanted},
};

/// Where a request goes: the server, and the parameters as that server knows them.
struct Route {
    server: Arc<str>,
    params: Raw,
}

/// Serves one request.
pub(crate) async fn call(bay: &Inner, request: Request, cx: Cx) -> Outcome {
    let target = request.method.named_by().and_then(|key| request.params.get(key));
    let target = target.as_ref().and_then(Raw::as_text).map(std::borrow::Cow::into_owned);
    let mut ticket = bay.ledger.open(request.caller.principal.clone(), request.method.as_str(), target);
    let served = serve(bay, request, cx, &mut ticket).await;
    let (end, outcome) = match served {
        Ok(Crossing::Done(Ok(result))) => (End::Done, Ok(result)),
        Ok(Crossing::Done(Err(error))) | Err(error) => (End::Failed(error.code), Err(error)),
        Ok(Crossing::Lost(error)) => (End::Failed(code::INTERNAL), Err(ErrorObject::internal(error.to_string()))),
        Ok(Crossing::WillReturn) => (End::Asked, Ok(Raw::EMPTY)),
        Ok(Crossing::Abandoned) => (End::Abandoned, Err(ErrorObject::internal("the caller is gone"))),
    };
    ticket.close(end);
    outcome
}

async fn serve(bay: &Inner, request: Request, cx: Cx, ticket: &mut Ticket) -> Result<Crossing, ErrorObject> {
    if let Some(listed) = Listed::of(&request.method) {
        bay.settled().await;
        let result = bay.catalog().result(listed, request.caller.introduction.revision);
        return whole_list(&request.params).map(|()| Crossing::Done(Ok(result)));
    }
    if request.method == Method::SetLevel {
        return Ok(Crossing::Done(Ok(Raw::EMPTY)));
    }
    let binding = Binding::new(&request.caller.principal, &request.method, &request.params);
    let carried = request.returning.state.as_ref().map(|state| {
        let opened = bay.sealer.open(state, &binding, SystemTime::now());
        opened.map_err(|_| ErrorObject::invalid_params("`requestState` is not ours, not for this request, or too old"))
    });
    let route = resolve(bay, &request).await?;
    ticket.at(&route.server);
    let permit = policy::decide(&Wanted { caller: &request.caller, server: &route.server })?;
    match carried.transpose()? {
        Some(Carried::Parked { handle }) => {
            let parked = bay.parking.take(handle);
            let parked =
                parked.ok_or_else(|| ErrorObject::invalid_params("the call that waited is no longer there"))?;
            // The call has a connection already; a permit is wanted all the same.
            drop(permit);
            resume(parked, bay, &request, &cx, &route.server, &binding).await
        }
        Some(Carried::Through { server, state }) if *server == *route.server => {
            let returning = Return { answers: request.returning.answers.clone(), state };
            begin(bay, permit, &request, route, returning, &cx, &binding).await
        }
        Some(Carried::Through { .. }) => {
            Err(ErrorObject::invalid_params("`requestState` is for another server than this request"))
        }
        None => begin(bay, permit, &request, route, Return::default(), &cx, &binding).await,
    }
}

/// Our lists have one page, so no cursor is ours.
fn whole_list(params: &Raw) -> Result<(), ErrorObject> {
    match params.get("cursor").filter(|cursor| *cursor != Raw::NULL) {
        Some(_) => Err(ErrorObject::invalid_params("unknown `cursor`: this list has one page")),
        None => Ok(()),
    }
}

/// Finds what is meant; waits for servers that are still starting only for as long as it is not found without them.
async fn resolve(bay: &Inner, request: &Request) -> Result<Route, ErrorObject> {
    if let Some(route) = bay.once_there(|catalog| resolve_in(catalog, request).ok()).await {
        return Ok(route);
    }
    resolve_in(&bay.catalog(), request).map_err(|unknown| match resolve_in(&bay.lost(), request) {
        Ok(Route { server, .. }) => not_connected(bay, &server),
        Err(_) => unknown,
    })
}

fn resolve_in(catalog: &Catalog, request: &Request) -> Result<Route, ErrorObject> {
    let params = &request.params;
    let bare = |edit: (&str, Option<&Raw>)| params.with(&[edit, ("inputResponses", None), ("requestState", None)]);
    let text = |key: &str| {
        let value = params.get(key);
        let text = value.as_ref().and_then(Raw::as_text).map(std::borrow::Cow::into_owned);
        text.ok_or_else(|| ErrorObject::invalid_params(format!("`{key}` must be a string")))
    };
    match &request.method {
        Method::ToolsCall | Method::PromptsGet => {
            let (listed, word) =
                if request.method == Method::ToolsCall { (Listed::Tools, "tool") } else { (Listed::Prompts, "prompt") };
            let public = text("name")?;
            let found = catalog.find(listed, &public);
            let found = found.ok_or_else(|| ErrorObject::invalid_params(format!("unknown {word}: {public:?}")))?;
            let params = bare(("name", Some(&Raw::of(&found.name))));
            Ok(Route { server: Arc::clone(&found.server), params })
        }
        Method::ResourcesRead => {
            let uri = text("uri")?;
            let server = catalog.server_of(&uri).ok_or_else(|| {
                let unknown = ErrorObject::new(code::RESOURCE_NOT_FOUND, format!("no server offers {uri:?}"));
                unknown.with_data(&serde_json::json!({ "uri": uri }))
            })?;
            Ok(Route { server: Arc::clone(server), params: bare(("uri", Some(&Raw::of(&uri)))) })
        }
        Method::Complete => complete(catalog, params),
        other => Err(ErrorObject::new(code::METHOD_NOT_FOUND, format!("{other} is not served by this gateway"))),
    }
}

fn complete(catalog: &Catalog, params: &Raw) -> Result<Route, ErrorObject> {
    let reference = params.get("ref").unwrap_or(Raw::NULL);
    let text = |key: &str| reference.get(key).as_ref().and_then(Raw::as_text).map(std::borrow::Cow::into_owned);
    let unknown = || ErrorObject::invalid_params(format!("unknown `ref`: {reference:?}"));
    match text("type").as_deref() {
        Some("ref/prompt") => {
            let public = text("name").ok_or_else(unknown)?;
            let found = catalog.find(Listed::Prompts, &public).ok_or_else(unknown)?;
            let reference = reference.with(&[("name", Some(&Raw::of(&found.name)))]);
            Ok(Route { server: Arc::clone(&found.server), params: params.with(&[("ref", Some(&reference))]) })
        }
        Some("ref/resource") => {
            let uri = text("uri").ok_or_else(unknown)?;
            let template = catalog.find(Listed::Templates, &uri).map(|found| &found.server);
            let server = template.or_else(|| catalog.server_of(&uri)).ok_or_else(unknown)?;
            Ok(Route { server: Arc::clone(server), params: params.clone() })
        }
        Some(_) | None => Err(unknown()),
    }
}

fn connection(bay: &Inner, permit: &Permit) -> Result<Connection, ErrorObject> {
    bay.connection(permit).ok_or_else(|| not_connected(bay, permit.server()))
}

fn not_connected(bay: &Inner, server: &Arc<str>) -> ErrorObject {
    ErrorObject::internal(format!("server {server:?} is not connected: {}; try again later", bay.why_not(server)))
}

async fn begin(
    bay: &Inner,
    permit: Permit,
    request: &Request,
    route: Route,
    returning: Return,
    cx: &Cx,
    binding: &Binding<'_>,
) -> Result<Crossing, ErrorObject> {
    let connection = connection(bay, &permit)?;
    let revision = connection.meeting().revision;
    let params = conform_params(&request.method, &route.params, request.caller.introduction.revision, revision)
        .map_err(ErrorObject::from)?;
    let silence = bay.silence(&route.server);
    let call = Call {
        behalf: Some(Arc::clone(&request.caller.introduction)),
        method: request.method.clone(),
        params: Some(params),
        wishes: wishes(&request.caller, &request.params, cx),
        returning,
        patience: Patience { silence, total: None },
    };
    let running = connection
        .call(call)
        .await
        .map_err(|error| ErrorObject::internal(format!("server {:?} could not be called: {error}", route.server)))?;
    Ok(answered(bay, &route.server, cross(running, banks(bay, revision, request, cx, &route.server, binding)).await))
}

/// A crossing whose link failed, in a caller's words: whose fault it is, and that it is not the caller's.
fn answered(bay: &Inner, server: &Arc<str>, crossing: Crossing) -> Crossing {
    let Crossing::Lost(error) = crossing else { return crossing };
    let what = match error.kind() {
        Kind::Overdue => format!("server {server:?} did not answer in time: {error}"),
        Kind::Closed | Kind::SessionLost => {
            format!("server {server:?} was lost during the call, which may or may not have run: {error}")
        }
        _ => format!("server {server:?} failed: {error}"),
    };
    bay.suspect(server, error);
    Crossing::Done(Err(ErrorObject::internal(what)))
}

/// What the caller wants beside the outcome.
fn wishes(caller: &Caller, params: &Raw, cx: &Cx) -> Wishes {
    let mut wishes = if cx.wants_progress() { Wishes::progress() } else { Wishes::default() };
    if caller.introduction.revision.has(Feature::Stateless) {
        let level = params.get("_meta").and_then(|meta| meta.get(toolbay_protocol::greeting::envelope::LOG_LEVEL));
        wishes.log_level = level.as_ref().and_then(Raw::as_text).map(|level| level.as_ref().into());
    }
    wishes
}

fn banks<'b>(
    bay: &'b Inner,
    revision: Revision,
    request: &'b Request,
    cx: &'b Cx,
    server: &'b Arc<str>,
    binding: &'b Binding<'b>,
) -> Banks<'b> {
    Banks {
        method: request.method.clone(),
        caller: &request.caller,
        cx,
        server,
        revision,
        binding,
        sealer: &bay.sealer,
        parking: &bay.parking,
    }
}

/// Goes on with a call that waited here for its caller.
async fn resume(
    parked: Parked,
    bay: &Inner,
    request: &Request,
    cx: &Cx,
    server: &Arc<str>,
    binding: &Binding<'_>,
) -> Result<Crossing, ErrorObject> {
    let Parked { mut running, asks, revision } = parked;
    let banks = banks(bay, revision, request, cx, server, binding);
    let brought = request.returning.answers.clone().unwrap_or_default();
    let missing: Asks = asks
        .iter()
        .filter(|(key, _)| brought.get(key).is_none())
        .map(|(key, ask)| (key.to_owned(), ask.clone()))
        .collect();
    if !missing.is_empty() {
        // spec: basic/patterns/mrtr, what is missing is asked for again
        return Ok(banks.ask_again(running, asks).await);
    }
    let known: Answers = brought.into_iter().filter(|(key, _)| asks.get(key).is_some()).collect();
    let answers = banks.answers(&asks, known);
    running
        .answer(answers)
        .await
        .map_err(|error| ErrorObject::internal(format!("server {server:?} failed: {error}")))?;
    Ok(answered(bay, server, cross(running, banks).await))
}
