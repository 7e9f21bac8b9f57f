//! One request, front to back: the rooms that it goes through, in order.
//!
//! Before us, a transport has read the message and admitted its caller. Then: what is meant ([`crate::catalog`]), may it
//! be ([`crate::policy`]), which connection ([`crate::servers`]), and to and fro until the end ([`crate::bridge`]). All
//! the while a ticket of [`crate::audit`] is open.

mod across;
mod going;
mod own;
mod resolve;
mod tasks;

use std::{sync::Arc, time::SystemTime};

use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Answers, Asks, Level, Outcome, Return},
    fault::code,
};
use toolbay_transport::{Cx, Kind, Request};

use going::{Aim, Going};
use resolve::{Meant, resolve, resolve_at_once};
use tasks::Whose;

use crate::{
    audit::{End, Ticket},
    bay::Inner,
    bridge::{Banks, Binding, Carried, Crossing, Lost, Parked, cross},
    catalog::Listed,
    policy::{self, Permit, Wanted},
    telemetry::Trace,
};

/// Serves one request.
pub(crate) async fn call(bay: &Inner, request: &Request, cx: &Cx, trace: Option<Box<Trace>>) -> Outcome {
    let (mut request, sent) = (request, &request.params);
    let mut meant = Meant::of(request);
    // What stands for a call of another tool is that call from here on; what was sent is what its caller comes back with.
    let unwrapped = own::unwrapped(bay, request, &meant);
    if let Some(unwrapped) = &unwrapped {
        request = unwrapped;
        meant = Meant::of(request);
    }
    let mut ticket = bay.ledger.open(request.caller.principal.clone(), request.method.clone());
    ticket.traced_by(trace);
    let served = serve(bay, request, sent, &meant, cx, &mut ticket).await;
    ticket.about(|| meant.name());
    let (end, outcome) = match served {
        Ok(Crossing::Done(Ok(result))) => (End::Done, Ok(result)),
        Ok(Crossing::Done(Err(error))) | Err(error) => (End::Failed(error.code), Err(error)),
        Ok(Crossing::Lost(lost)) => (End::Failed(code::INTERNAL), Err(ErrorObject::internal(lost.error.to_string()))),
        // Whoever asks for that takes it.
        Ok(Crossing::Handed(outcome, _)) => (End::Done, outcome),
        Ok(Crossing::WillReturn) => (End::Asked, Ok(Raw::EMPTY)),
        Ok(Crossing::Abandoned) => (End::Abandoned, Err(ErrorObject::internal("the caller is gone"))),
    };
    if let Some(trace) = ticket.trace() {
        trace.comes_to(&outcome);
    }
    ticket.close(end);
    outcome
}

async fn serve(
    bay: &Inner,
    request: &Request,
    sent: &Raw,
    meant: &Meant,
    cx: &Cx,
    ticket: &mut Ticket,
) -> Result<Crossing, ErrorObject> {
    if let Some(listed) = Listed::of(&request.method) {
        if !bay.is_settled_for(&request.caller) {
            Box::pin(bay.settled_for(&request.caller)).await;
        }
        whole_list(&request.params)?;
        let catalog = bay.catalog_for(&request.caller);
        let own = if listed == Listed::Tools { bay.desk.list(&request.caller, &catalog) } else { None };
        let list = || Ok(catalog.result(listed, request.caller.introduction.revision));
        return own.unwrap_or_else(list).map(|list| Crossing::Done(Ok(list)));
    }
    if request.method == Method::SetLevel {
        let level = request.params.get("level");
        // The transport let no other through.
        if let Some(level) = level.as_ref().and_then(Raw::as_text).and_then(|name| Level::parse(&name)) {
            Box::pin(bay.set_level(&request.caller, level)).await;
        }
        return Ok(Crossing::Done(Ok(Raw::EMPTY)));
    }
    if request.method == Method::TasksList {
        return Box::pin(tasks::list(bay, request)).await.map(|page| Crossing::Done(Ok(page)));
    }
    let binding = Binding::new(&request.caller.principal, &request.method, sent);
    let carried = request.returning.state.as_ref().map(|state| {
        let opened = bay.sealer.open(state, &binding, SystemTime::now());
        // Rare, so that a call carries no room for it.
        Box::new(opened.map_err(|why| ErrorObject::invalid_params(why.to_string())))
    });
    let route = match request.method {
        Method::TasksGet | Method::TasksResult | Method::TasksCancel | Method::TasksUpdate => {
            match tasks::route(bay, request)? {
                Whose::Theirs(route) => route,
                Whose::Ours(task, public) => return across::ours(request, &task, &public).map(Crossing::Done),
            }
        }
        _ => match resolve_at_once(bay, request, meant) {
            Some(route) => route,
            // Our own have names that no other's tool has.
            None => {
                // It may take a while, and its caller may go meanwhile.
                ticket.about(|| meant.name());
                match Box::pin(own::answer(bay, request, meant)).await {
                    Some(answered) => return answered.map(|result| Crossing::Done(Ok(result))),
                    None => Box::pin(resolve(bay, request, meant)).await?,
                }
            }
        },
    };
    ticket.about(|| route.public.clone().or_else(|| meant.name()));
    ticket.at(&route.server);
    let there = bay.server(&route.server).ok_or_else(|| bay.not_connected(&route.server))?;
    ticket.counted_by(Arc::clone(there.counters()));
    if let Some(trace) = ticket.trace() {
        trace.calls(&there, &request.params, &route.params);
    }
    let permit = policy::decide(&Wanted { caller: &request.caller, server: &route.server })?;
    let going = Going {
        bay,
        request,
        route: &route,
        there: &there,
        returning: &NOTHING,
        cx,
        binding: &binding,
        aim: Aim::Answer,
    };
    if let Some(known) = across::known(&going) {
        return known.map(Crossing::Done);
    }
    match carried {
        None => going.go(permit).await,
        Some(carried) => Box::pin(come_back(going, permit, (*carried)?)).await,
    }
}

/// What most callers bring back.
static NOTHING: Return = Return { answers: None, state: None };

/// Serves a request that comes back after its caller was asked.
async fn come_back(going: Going<'_>, permit: Permit, carried: Carried) -> Result<Crossing, ErrorObject> {
    let Going { bay, request, route, .. } = going;
    match carried {
        Carried::Parked { bay: there, .. } if there != bay.sealer.bay() => {
            let what = "the call waits in another replica of this gateway (or in one that has ended), where an older server \
                        waits for the answer: send the same request there within ten minutes, best all requests of a \
                        client to one replica; or begin the call anew, which may run it a second time";
            Err(ErrorObject::internal(what))
        }
        Carried::Parked { handle, .. } => {
            let parked = bay.parking.take(handle);
            let gone = "the call that waited is no longer there: it was answered, its time was over, or its server ended; call anew";
            let parked = parked.ok_or_else(|| ErrorObject::invalid_params(gone))?;
            // The call has a connection already; a permit is wanted all the same.
            drop(permit);
            resume(parked, bay, request, going.cx, &route.server, going.binding).await
        }
        Carried::Through { server, state } if *server == *route.server => {
            let returning = Return { answers: request.returning.answers.clone(), state };
            Going { returning: &returning, ..going }.go(permit).await
        }
        Carried::Anew { server } if *server == *route.server => {
            visited(request)?;
            going.go(permit).await
        }
        Carried::Through { .. } | Carried::Anew { .. } => {
            Err(ErrorObject::invalid_params("`requestState` is for another server than this request"))
        }
    }
}

/// An error where the caller did not say yes to every page that it was sent to.
fn visited(request: &Request) -> Result<(), ErrorObject> {
    let accepts = |answer: &Outcome| {
        let action = answer.as_ref().ok().and_then(|answer| answer.get("action"));
        action.is_some_and(|action| action.as_bytes() == b"\"accept\"")
    };
    let answers = request.returning.answers.as_ref();
    if answers.is_some_and(|answers| answers.iter().all(|(_, answer)| accepts(answer))) {
        return Ok(());
    }
    Err(ErrorObject::new(code::REFUSED, "the server wants its user to visit a page first, and the user declined"))
}

/// Our lists have one page, so no cursor is ours.
fn whole_list(params: &Raw) -> Result<(), ErrorObject> {
    match params.get("cursor").filter(|cursor| *cursor != Raw::NULL) {
        Some(_) => Err(ErrorObject::invalid_params("unknown `cursor`: this list has one page")),
        None => Ok(()),
    }
}

/// A crossing whose link failed, in a caller's words: whose fault it is, and that it is not the caller's.
fn answered(server: &Arc<str>, crossing: Crossing) -> Crossing {
    let Crossing::Lost(Lost { error, seat, .. }) = crossing else { return crossing };
    let what = match error.kind() {
        Kind::Overdue => format!("server {server:?} did not answer in time: {error}"),
        Kind::Closed | Kind::SessionLost => {
            format!("server {server:?} was lost during the call, which may or may not have run: {error}")
        }
        _ => format!("server {server:?} failed: {error}"),
    };
    if let Some(seat) = seat {
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
        params: &request.params,
        caller: &request.caller,
        cx,
        server,
        revision,
        binding,
        sealer: &bay.sealer,
        parking: &bay.parking,
        errands: &bay.errands,
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
    match cross(ride, banks, None).await {
        Crossing::Handed(outcome, seat) => {
            let banks = self::banks(bay, seat.connection.meeting().revision, request, cx, server, binding);
            Ok(Box::pin(across::begun(bay, request, &banks, outcome, seat)).await)
        }
        crossing => Ok(answered(server, crossing)),
    }
}
