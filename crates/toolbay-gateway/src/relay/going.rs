//! One call over a connection, to its end; and again over another one where it surely did not run.

use std::sync::Arc;

use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw,
    exchange::{Level, Return, Step, Wishes},
    fault::code,
    frame::Part,
    greeting::envelope,
    peer::{Call, Patience},
    raw,
    types::relay::conform_params,
};
use toolbay_transport::{Cx, Error, Kind, Request, Running};

use super::{answered, banks, resolve::Route};
use crate::{
    bay::Inner,
    bridge::{Binding, Crossing, Heard, Lost, Ride, cross, tasks},
    catalog::TaskNeed,
    policy::Permit,
    servers::{Seat, Server},
};

/// A request on its way to a server.
#[derive(Clone, Copy)]
pub(super) struct Going<'g> {
    pub(super) bay: &'g Inner,
    pub(super) request: &'g Request,
    pub(super) route: &'g Route,
    pub(super) there: &'g Arc<Server>,
    pub(super) returning: &'g Return,
    pub(super) cx: &'g Cx,
    pub(super) binding: &'g Binding<'g>,
}

impl Going<'_> {
    /// Goes to the end.
    pub(super) async fn go(&self, permit: Permit) -> Result<Crossing, ErrorObject> {
        let Self { bay, request, route, there, .. } = self;
        let seat = bay.seat(&permit, there, &request.caller).await?;
        match self.over(seat).await? {
            // It surely did not run: the server does not know the session, and refused it for that.
            Crossing::Lost(Lost { error, seat: Some(seat), heard: Heard::Nothing }) if Seat::is_unknown(&error) => {
                Box::pin(async move {
                    let seat = seat.renewed(there.spec.startup).await;
                    let seat = seat.map_err(|_| bay.not_connected(&route.server))?;
                    Ok(answered(&route.server, self.over(seat).await?))
                })
                .await
            }
            crossing => Ok(answered(&route.server, crossing)),
        }
    }

    /// Goes over one connection.
    async fn over(&self, seat: Seat) -> Result<Crossing, ErrorObject> {
        let Self { bay, request, route, cx, binding, .. } = self;
        let revision = seat.connection.meeting().revision;
        let theirs = request.caller.introduction.revision;
        self.refuse_task(&seat)?;
        let params = conform_params(&request.method, &route.params, theirs, revision).map_err(ErrorObject::from)?;
        let hidden =
            route.task == TaskNeed::Must && revision.has(Feature::CoreTasks) && !theirs.has(Feature::CoreTasks);
        let begun = match self.begin_at_once(&seat, if hidden { tasks::as_task(&params) } else { params }) {
            Ok(begun) => begun,
            Err(later) => Box::pin(self.begin(&seat, *later)).await,
        };
        let begun = match begun {
            Ok(running) if hidden => Box::pin(self.begun(running, &seat)).await,
            begun => begun,
        };
        match begun {
            Ok(mut running) => {
                let banks = banks(bay, revision, request, cx, &route.server, binding);
                // Most calls say nothing before their outcome, and nobody asks anything.
                let first = match seat.leg.questions {
                    None => Some(running.step().await),
                    Some(_) => None,
                };
                if let Some(Ok(Step::Done(outcome))) = first {
                    return Ok(match banks.done_at_once(outcome, &seat) {
                        Ok(crossing) => crossing,
                        Err(asks) => Box::pin(banks.send_off(asks)).await,
                    });
                }
                // A task that began is not begun again.
                let heard = if hidden { Heard::Something } else { Heard::Nothing };
                Ok(Box::pin(cross(Ride { running, seat, heard }, banks, first)).await)
            }
            Err(error) if Seat::is_unknown(&error) => {
                Ok(Crossing::Lost(Lost { error, seat: Some(seat), heard: Heard::Nothing }))
            }
            Err(error) => Err(ErrorObject::internal(format!("server {:?} could not be called: {error}", route.server))),
        }
    }

    /// Begins where nothing has to be waited for.
    fn begin_at_once(&self, seat: &Seat, params: Raw) -> Result<Result<Running, Error>, Box<(Call, Option<Level>)>> {
        let (call, raised) = self.call(seat, params);
        if raised.is_some() {
            return Err(Box::new((call, raised)));
        }
        seat.connection.call_at_once(call).map_err(|call| Box::new((call, None)))
    }

    async fn begin(&self, seat: &Seat, (call, raised): (Call, Option<Level>)) -> Result<Running, Error> {
        if let Some(level) = raised {
            seat.leg.raise(&seat.connection, level).await;
        }
        seat.connection.call(call).await
    }

    fn call(&self, seat: &Seat, params: Raw) -> (Call, Option<Level>) {
        let Self { request, there, returning, .. } = self;
        let (wishes, raised) = self.wishes(seat);
        let call = Call {
            behalf: Some(Arc::clone(&seat.told)),
            method: request.method.clone(),
            params: Some(params),
            wishes,
            returning: Return::clone(returning),
            patience: Patience { silence: there.silence(), total: None },
        };
        (call, raised)
    }

    /// What the caller wants beside the outcome; and from which level on its session's log is to be heard, where a request
    /// says so and the server's session must be told.
    fn wishes(&self, seat: &Seat) -> (Wishes, Option<Level>) {
        let Self { bay, request, cx, .. } = self;
        let mut wishes = if cx.wants_progress() { Wishes::progress() } else { Wishes::default() };
        let states = request.caller.introduction.revision.has(Feature::Stateless);
        let level = if states {
            let level = request.part(Part::Meta).and_then(|meta| meta.get(envelope::LOG_LEVEL));
            level.as_ref().and_then(Raw::as_text).and_then(|name| Level::parse(&name))
        } else {
            bay.sessions.level(&request.caller)
        };
        let Some(level) = level else { return (wishes, None) };
        if seat.connection.meeting().revision.has(Feature::Stateless) {
            wishes.log_level = Some(level.as_str().into());
            return (wishes, None);
        }
        (wishes, states.then_some(level))
    }

    /// A caller that wants a task of a server that knows of none is told so: the server would never learn of the wish.
    // spec: 2025-11-25 basic/utilities/tasks, tool-level negotiation
    fn refuse_task(&self, seat: &Seat) -> Result<(), ErrorObject> {
        let Self { request, route, .. } = self;
        let theirs = request.caller.introduction.revision;
        if request.method != Method::ToolsCall
            || !theirs.has(Feature::CoreTasks)
            || request.part(Part::Task).is_none_or(|task| task.kind() != raw::Kind::Object)
        {
            return Ok(());
        }
        let meeting = seat.connection.meeting();
        if meeting.revision.has(Feature::CoreTasks) && meeting.profile.declares(&["tasks", "requests", "tools", "call"])
        {
            return Ok(());
        }
        let what = format!("server {:?} runs no tool as a task; call it without `task`", route.server);
        Err(ErrorObject::new(code::METHOD_NOT_FOUND, what))
    }

    /// Waits for a task that its caller need not know of: a tool that runs as nothing else was called by somebody whose
    /// revision has no tasks.
    async fn begun(&self, mut running: Running, seat: &Seat) -> Result<Running, Error> {
        let refused = |what: String| Error::new(Kind::Misbehaved, what);
        let result = loop {
            match running.step().await? {
                Step::Done(Ok(result)) => break result,
                Step::Done(Err(error)) => return Err(refused(format!("it does not begin the task: {error}"))),
                // Of what the task says and asks its result tells.
                Step::Note(_) => {}
                Step::Ask(_) => return Err(refused("it asks before it begins the task".into())),
            }
        };
        let awaited =
            tasks::awaited(&result).ok_or_else(|| refused("it answers without the task it must begin".into()))?;
        let call = Call { method: Method::TasksResult, ..self.call(seat, awaited).0 };
        let begun = seat.connection.call(call).await;
        begun.map_err(|error| refused(format!("its task began, but its result cannot be awaited: {error}")))
    }
}
