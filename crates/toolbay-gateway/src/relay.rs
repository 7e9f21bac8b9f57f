//! One request, front to back: the rooms that it goes through, in order.
//!
//! Before us, a transport has read the message and admitted its caller. Then: what is meant ([`crate::catalog`]), may it
//! be ([`crate::policy`]), which connection ([`crate::servers`]), and to and fro until the end ([`crate::bridge`]). All
//! the while a ticket of [`crate::audit`] is open.

use std::{sync::Arc, time::SystemTime};

use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw, Revision,
    exchange::{Answers, Asks, Level, Outcome, Return, Wishes},
    fault::code,
    greeting::envelope,
    peer::{Call, Patience},
    types::relay::conform_params,
};
use toolbay_transport::{Cx, Kind, Request};

use crate::{
    audit::{End, Ticket},
    bay::Inner,
    bridge::{Banks, Binding, Carried, Crossing, Heard, Lost, Parked, Ride, cross},
    catalog::{Catalog, Listed},
    policy::{self, Permit, Wanted},
    servers::Seat,
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
        Ok(Crossing::Lost(lost)) => (End::Failed(code::INTERNAL), Err(ErrorObject::internal(lost.error.to_string()))),
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
        let level = request.params.get("level");
        // The transport let no other through.
        if let Some(level) = level.as_ref().and_then(Raw::as_text).and_then(|name| Level::parse(&name)) {
            bay.set_level(&request.caller, level).await;
        }
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
        Ok(Route { server, .. }) => bay.not_connected(&server),
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

async fn begin(
    bay: &Inner,
    permit: Permit,
    request: &Request,
    route: Route,
    returning: Return,
    cx: &Cx,
    binding: &Binding<'_>,
) -> Result<Crossing, ErrorObject> {
    let seat = bay.seat(&permit, &request.caller).await?;
    let going = Going { bay, request, route: &route, returning: &returning, cx, binding };
    let lost = match going.over(seat).await? {
        Crossing::Lost(lost) => lost,
        crossing => return Ok(crossing),
    };
    match lost {
        // It surely did not run: the server does not know the session, and refused it for that.
        Lost { error, ride: Some(seat), heard: Heard::Nothing } if Seat::is_unknown(&error) => {
            let startup = bay.startup(&route.server);
            let seat = seat.renewed(startup).await.map_err(|_| bay.not_connected(&route.server))?;
            let crossing = going.over(seat).await?;
            Ok(answered(&route.server, crossing))
        }
        lost => Ok(answered(&route.server, Crossing::Lost(lost))),
    }
}

/// A request on its way to a server.
struct Going<'g> {
    bay: &'g Inner,
    request: &'g Request,
    route: &'g Route,
    returning: &'g Return,
    cx: &'g Cx,
    binding: &'g Binding<'g>,
}

impl Going<'_> {
    /// Goes over one connection, to the end.
    async fn over(&self, seat: Seat) -> Result<Crossing, ErrorObject> {
        let Self { bay, request, route, returning, cx, binding } = self;
        let revision = seat.connection.meeting().revision;
        let params = conform_params(&request.method, &route.params, request.caller.introduction.revision, revision)
            .map_err(ErrorObject::from)?;
        let call = Call {
            behalf: Some(Arc::clone(&seat.told)),
            method: request.method.clone(),
            params: Some(params),
            wishes: self.wishes(&seat).await,
            returning: Return::clone(returning),
            patience: Patience { silence: bay.silence(&route.server), total: None },
        };
        match seat.connection.call(call).await {
            Ok(running) => {
                let ride = Ride { running, seat };
                Ok(cross(ride, banks(bay, revision, request, cx, &route.server, binding)).await)
            }
            Err(error) if Seat::is_unknown(&error) => {
                Ok(Crossing::Lost(Lost { error, ride: Some(seat), heard: Heard::Nothing }))
            }
            Err(error) => {
                Err(ErrorObject::internal(format!("server {:?} could not be called: {error}", route.server)))
            }
        }
    }

    /// What the caller wants beside the outcome.
    async fn wishes(&self, seat: &Seat) -> Wishes {
        let Self { bay, request, cx, .. } = self;
        let mut wishes = if cx.wants_progress() { Wishes::progress() } else { Wishes::default() };
        let states = request.caller.introduction.revision.has(Feature::Stateless);
        let level = if states {
            let level = request.params.get("_meta").and_then(|meta| meta.get(envelope::LOG_LEVEL));
            level.as_ref().and_then(Raw::as_text).and_then(|name| Level::parse(&name))
        } else {
            bay.sessions.level(&request.caller)
        };
        let Some(level) = level else { return wishes };
        if seat.connection.meeting().revision.has(Feature::Stateless) {
            wishes.log_level = Some(level.as_str().into());
        } else if states {
            seat.leg.raise(&seat.connection, level).await;
        }
        wishes
    }
}

/// A crossing whose link failed, in a caller's words: whose fault it is, and that it is not the caller's.
fn answered(server: &Arc<str>, crossing: Crossing) -> Crossing {
    let Crossing::Lost(Lost { error, ride, .. }) = crossing else { return crossing };
    let what = match error.kind() {
        Kind::Overdue => format!("server {server:?} did not answer in time: {error}"),
        Kind::Closed | Kind::SessionLost => {
            format!("server {server:?} was lost during the call, which may or may not have run: {error}")
        }
        _ => format!("server {server:?} failed: {error}"),
    };
    if let Some(seat) = ride {
        Inner::suspect(&seat, &error);
    }
    Crossing::Done(Err(ErrorObject::internal(what)))
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
    let Parked { mut ride, asks } = parked;
    let banks = banks(bay, ride.revision(), request, cx, server, binding);
    let brought = request.returning.answers.clone().unwrap_or_default();
    let missing: Asks = asks
        .iter()
        .filter(|(key, _)| brought.get(key).is_none())
        .map(|(key, ask)| (key.to_owned(), ask.clone()))
        .collect();
    if !missing.is_empty() {
        // spec: basic/patterns/mrtr, what is missing is asked for again
        return Ok(banks.ask_again(ride, asks).await);
    }
    let known: Answers = brought.into_iter().filter(|(key, _)| asks.get(key).is_some()).collect();
    if let Some(refused) = banks.refused(&asks, &known) {
        // There is no other way to say no, and the server need not wait for it.
        let error = ErrorObject::new(code::REFUSED, "the client answers with nothing that could be an answer");
        // The call is taken back right after, whatever became of this.
        let _ = ride.running.answer(Answers::refuse(&asks, &error)).await;
        return Err(refused);
    }
    let answers = banks.answers(&asks, known);
    ride.running
        .answer(answers)
        .await
        .map_err(|error| ErrorObject::internal(format!("server {server:?} failed: {error}")))?;
    Ok(answered(server, cross(ride, banks).await))
}
