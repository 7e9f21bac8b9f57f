//! One call over a connection, to its end; and again over another one where it surely did not run.

use std::sync::Arc;

use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw, Revision,
    exchange::{Asks, Level, Meta, Return, Step, Wishes},
    fault::code,
    frame::Part,
    greeting::envelope,
    peer::{Call, Patience},
    raw,
    types::relay::conform_params,
};
use toolbay_transport::{Cx, Error, Request, Running};

use super::{across, answered, banks, resolve::Route};
use crate::{
    bay::Inner,
    bridge::{Banks, Binding, Crossing, Heard, Lost, Ride, Then, cross, tasks},
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
    pub(super) aim: Aim,
}

/// What a call is to come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Its answer.
    Answer,
    /// A task, where the server's revision has such; what comes of the call is handed over.
    Task,
}

/// A call that began, or cannot begin at once.
type Begun = (Option<Result<Running, Error>>, Option<Box<Later>>);

/// What is left to do for a call after its first step.
enum Rest {
    /// Its caller is sent away to answer this.
    SendOff(Asks),
    /// It is carried to its end.
    Cross(Option<Result<Step, Error>>),
}

/// A call that cannot begin at once.
struct Later {
    call: Call,
    /// From which level on the server's log is wanted before that.
    raised: Option<Level>,
}

impl Going<'_> {
    /// Goes to the end.
    pub(super) async fn go(&self, permit: Permit) -> Result<Crossing, ErrorObject> {
        let seat = self.bay.seat(&permit, self.there, &self.request.caller).await?;
        if let Some(way) = across::way(self, &seat) {
            return Box::pin(across::go(*self, seat, way)).await;
        }
        match self.over(seat).await? {
            crossing @ (Crossing::Lost(_) | Crossing::Done(Err(_))) => Box::pin(self.otherwise(permit, crossing)).await,
            crossing => Ok(crossing),
        }
    }

    /// What becomes of a call that did not come to a result.
    async fn otherwise(&self, permit: Permit, crossing: Crossing) -> Result<Crossing, ErrorObject> {
        let crossing = match crossing {
            Crossing::Lost(lost) => self.once_more(lost).await?,
            crossing => crossing,
        };
        match crossing {
            // It surely did not run: the server would have it as a task alone.
            Crossing::Done(Err(error)) if across::wants_task(self, &error) => {
                let seat = self.bay.seat(&permit, self.there, &self.request.caller).await?;
                across::go(*self, seat, across::Way::Hidden).await
            }
            crossing => Ok(crossing),
        }
    }

    /// Goes over this connection; and over the one that takes its place, where the server does not know it any more.
    pub(super) async fn reach(&self, seat: Seat) -> Result<Crossing, ErrorObject> {
        match self.over(seat).await? {
            Crossing::Lost(lost) => Box::pin(self.once_more(lost)).await,
            crossing => Ok(crossing),
        }
    }

    /// Goes over the connection that takes the place of one that was lost, if the call surely did not run.
    async fn once_more(&self, lost: Lost) -> Result<Crossing, ErrorObject> {
        let Self { bay, route, there, .. } = self;
        match lost {
            // The server does not know the session, and refused the call for that.
            Lost { error, seat: Some(seat), heard: Heard::Nothing } if Seat::is_unknown(&error) => {
                let seat = seat.renewed(there.spec.startup).await;
                let seat = seat.map_err(|_| bay.not_connected(&route.server))?;
                Ok(answered(&route.server, self.over(seat).await?))
            }
            lost => Ok(answered(&route.server, Crossing::Lost(lost))),
        }
    }

    /// Goes over one connection. (Whatever is rare has a place of its own: a call carries no room for it.)
    async fn over(&self, seat: Seat) -> Result<Crossing, ErrorObject> {
        let (mut begun, later) = self.begin_at_once(&seat)?;
        if let Some(later) = later {
            begun = Some(Box::pin(self.begin(&seat, *later)).await);
        }
        let mut running = match begun.take() {
            Some(Ok(running)) => running,
            Some(Err(error)) => return self.not_begun(error, seat),
            None => return Err(ErrorObject::internal("the call did not begin")),
        };
        // Most calls say nothing before their outcome, and nobody asks anything.
        let first = match seat.leg.questions {
            None if self.aim == Aim::Answer && !self.hides_task(&seat) => Some(running.step().await),
            Some(_) | None => None,
        };
        let rest = match self.done_at_once(first, &seat) {
            Ok(crossing) => return Ok(crossing),
            Err(rest) => rest,
        };
        Ok(Box::pin(self.rest(*rest, running, seat)).await)
    }

    /// The end of a call that came first; or what is left to do.
    fn done_at_once(&self, first: Option<Result<Step, Error>>, seat: &Seat) -> Result<Crossing, Box<Rest>> {
        match first {
            Some(Ok(Step::Done(outcome))) => {
                self.banks(seat).done_at_once(outcome, seat).map_err(|asks| Box::new(Rest::SendOff(asks)))
            }
            first => Err(Box::new(Rest::Cross(first))),
        }
    }

    async fn rest(&self, rest: Rest, running: Running, seat: Seat) -> Crossing {
        let banks = self.banks(&seat);
        match rest {
            Rest::SendOff(asks) => banks.send_off(asks).await,
            Rest::Cross(first) => {
                // A tool that runs as a task alone was called by somebody whose revision has none.
                let awaits = || Box::new(Call { method: Method::TasksResult, ..self.call(&seat, Raw::EMPTY).0 });
                let then = match self.aim {
                    Aim::Task => Then::HandOver,
                    Aim::Answer if self.hides_task(&seat) => Then::Await(awaits()),
                    Aim::Answer => Then::Answer,
                };
                cross(Ride { running, seat, heard: Heard::Nothing, then, hidden: None }, banks, first).await
            }
        }
    }

    fn not_begun(&self, error: Error, seat: Seat) -> Result<Crossing, ErrorObject> {
        if Seat::is_unknown(&error) {
            return Ok(Crossing::Lost(Lost { error, seat: Some(seat), heard: Heard::Nothing }));
        }
        Err(ErrorObject::internal(format!("server {:?} could not be called: {error}", self.route.server)))
    }

    pub(super) fn banks(&self, seat: &Seat) -> Banks<'_> {
        let Self { bay, request, route, cx, binding, .. } = self;
        banks(bay, seat.connection.meeting().revision, request, cx, &route.server, binding)
    }

    /// Whether the call runs as a task of which its caller need not know.
    fn hides_task(&self, seat: &Seat) -> bool {
        self.route.task == TaskNeed::Must
            && seat.connection.meeting().revision.has(Feature::CoreTasks)
            && !self.request.caller.introduction.revision.has(Feature::CoreTasks)
    }

    /// What a caller writes as `task` means nothing where its revision knows no such parameter, and would be an order there.
    fn without_task(&self, params: Raw, to: Revision) -> Raw {
        let means = |revision: Revision| revision.has(Feature::CoreTasks);
        if self.request.method != Method::ToolsCall || !means(to) || means(self.request.caller.introduction.revision) {
            return params;
        }
        if params.get("task").is_none() { params } else { params.with(&[("task", None)]) }
    }

    /// Begins where nothing has to be waited for.
    fn begin_at_once(&self, seat: &Seat) -> Result<Begun, ErrorObject> {
        let Self { request, route, .. } = self;
        if self.aim == Aim::Answer {
            self.refuse_task(seat)?;
        }
        let (theirs, revision) = (request.caller.introduction.revision, seat.connection.meeting().revision);
        let params = conform_params(&request.method, &route.params, theirs, revision).map_err(ErrorObject::from)?;
        let params = self.without_task(params, revision);
        let asks_for_one = revision.has(Feature::CoreTasks) && (self.aim == Aim::Task || self.hides_task(seat));
        let (mut call, raised) = self.call(seat, if asks_for_one { tasks::as_task(&params) } else { params });
        if self.aim == Aim::Task && revision.has(Feature::Stateless) {
            call.behalf = Some(across::declaring(&seat.told));
        }
        if raised.is_some() || asks_for_one || self.aim == Aim::Task {
            return Ok((None, Some(Box::new(Later { call, raised }))));
        }
        Ok(match seat.connection.call_at_once(call) {
            Ok(begun) => (Some(begun), None),
            Err(call) => (None, Some(Box::new(Later { call, raised: None }))),
        })
    }

    async fn begin(&self, seat: &Seat, Later { call, raised }: Later) -> Result<Running, Error> {
        if let Some(level) = raised {
            seat.leg.raise(&seat.connection, level).await;
        }
        seat.connection.call(call).await
    }

    pub(super) fn call(&self, seat: &Seat, params: Raw) -> (Call, Option<Level>) {
        let Self { request, there, returning, cx, .. } = self;
        let (wishes, raised) = self.wishes(seat);
        let call = Call {
            presence: cx.presence(),
            behalf: Some(Arc::clone(&seat.told)),
            method: request.method.clone(),
            params: Some(params),
            wishes,
            returning: Return::clone(returning),
            patience: Patience { silence: there.silence(), total: None },
            // Nothing that is done to parameters here adds one.
            meta: if request.parts.has(Part::Meta) { Meta::Unknown } else { Meta::None },
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
        if request.method != Method::ToolsCall || !wishes_for_task(request) {
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
}

/// Whether a caller of the core asks for its call to run as a task.
pub(super) fn wishes_for_task(request: &Request) -> bool {
    request.caller.introduction.revision.has(Feature::CoreTasks)
        && request.part(Part::Task).is_some_and(|task| task.kind() == raw::Kind::Object)
}
