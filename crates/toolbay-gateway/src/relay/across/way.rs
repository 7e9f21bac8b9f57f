//! Which calls go across eras as tasks, and where.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use tokio::time;
use toolbay_protocol::{
    ErrorObject, Fault, Feature, Method, Raw, exchange::Outcome, fault::code, frame::Part, greeting::Introduction,
    method::TASKS,
};
use toolbay_transport::Request;

use super::{
    super::{
        answered,
        going::{Aim, Going, wishes_for_task},
    },
    extension, hidden,
    wished::{self, Theirs},
};
use crate::{
    bay::Inner,
    bridge::{Banks, Crossing, Hidden, KeptTask, Room, Sort, wording},
    catalog::TaskNeed,
    policy::{self, Wanted},
    servers::Seat,
};

/// How long a list of tasks waits for their servers to say where they stand.
const REFRESH: Duration = Duration::from_secs(2);

/// What is to be done for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::relay) enum Way {
    /// Begin a task that its caller looks after.
    Begin(Side),
    /// Begin one of which its caller knows nothing.
    Hidden,
    /// Look after one.
    LookAfter(Side),
}

/// Which kind of task the caller knows; the server knows the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::relay) enum Side {
    Core,
    Extension,
}

/// The way of a request, where it is one of these.
pub(in crate::relay) fn way(going: &Going<'_>, seat: &Seat) -> Option<Way> {
    let (ours, theirs) = (going.request.caller.introduction.revision, seat.connection.meeting().revision);
    let side = if ours.has(Feature::CoreTasks) && theirs.has(Feature::Stateless) {
        Side::Core
    } else if ours.has(Feature::Stateless) && theirs.has(Feature::CoreTasks) {
        Side::Extension
    } else {
        return None;
    };
    match going.request.method {
        Method::ToolsCall => begins(going, seat, side).then_some(Way::Begin(side)),
        Method::TasksGet | Method::TasksResult | Method::TasksCancel | Method::TasksUpdate => {
            Some(Way::LookAfter(side))
        }
        _ => None,
    }
}

fn begins(going: &Going<'_>, seat: &Seat, side: Side) -> bool {
    let profile = &seat.connection.meeting().profile;
    match side {
        Side::Core => wishes_for_task(going.request) && profile.declares(&["extensions", TASKS]),
        Side::Extension => {
            going.route.task != TaskNeed::None
                && going.request.caller.introduction.declares(&["extensions", TASKS])
                && profile.declares(&["tasks", "requests", "tools", "call"])
        }
    }
}

/// Whether a call of somebody who knows nothing of the extension was refused because it can only run as a task of that.
// spec: tasks extension, missing capability
pub(in crate::relay) fn wants_task(going: &Going<'_>, error: &ErrorObject) -> bool {
    let demands = || {
        let required = error.data.as_ref()?.get("requiredCapabilities")?;
        required.get("extensions")?.get(TASKS)
    };
    error.code == code::MISSING_CAPABILITY
        && going.request.method == Method::ToolsCall
        && going.request.caller.introduction.revision.has(Feature::Handshake)
        && going.there.meeting().is_some_and(|meeting| meeting.revision.has(Feature::Stateless))
        && demands().is_some()
}

/// The same introduction with the extension declared.
pub(in crate::relay) fn declaring(told: &Introduction) -> Arc<Introduction> {
    let extensions = told.capabilities.get("extensions").unwrap_or(Raw::EMPTY);
    let extensions = extensions.with(&[(TASKS, Some(&Raw::EMPTY))]);
    let capabilities = told.capabilities.with(&[("extensions", Some(&extensions))]);
    Arc::new(Introduction { capabilities, ..told.clone() })
}

/// Goes that way.
pub(in crate::relay) async fn go(going: Going<'_>, seat: Seat, way: Way) -> Result<Crossing, ErrorObject> {
    let bay = going.bay;
    let going = Going { aim: Aim::Task, ..going };
    let room = match way {
        Way::LookAfter(Side::Core) => return wished::look_after(&going, seat).await,
        Way::LookAfter(Side::Extension) => return extension::look_after(&going, &seat).await.map(Crossing::Done),
        // First of all: what could not be kept is not begun.
        Way::Begin(side) => match bay.kept.room(&going.request.caller.principal) {
            Ok(room) => Some(room),
            // Nobody wished for a task, and the tool need not run as one.
            Err(_) if side == Side::Extension && going.route.task == TaskNeed::May => {
                return Going { aim: Aim::Answer, ..going }.reach(seat).await;
            }
            Err(error) => return Err(error),
        },
        Way::Hidden => None,
    };
    let (outcome, seat) = match going.reach(seat).await? {
        Crossing::Handed(outcome, seat) => (outcome, seat),
        crossing => return Ok(answered(&going.route.server, crossing)),
    };
    match room {
        None => hidden::end(&going, outcome, seat).await,
        Some(room) => Ok(kept(bay, going.request, &going.banks(&seat), outcome, seat, room).await),
    }
}

/// Goes on with a call that waited for its caller, and that runs as a task now.
pub(in crate::relay) async fn begun(
    bay: &Inner,
    request: &Request,
    banks: &Banks<'_>,
    outcome: Outcome,
    seat: Seat,
) -> Crossing {
    match bay.kept.room(&request.caller.principal) {
        Ok(room) => kept(bay, request, banks, outcome, seat, room).await,
        Err(error) => {
            let task = outcome.as_ref().ok().filter(|result| result.get("content").is_none());
            let core = task.and_then(|result| result.get("task")?.get("taskId"));
            let (id, behalf) = match (core, task.and_then(wished::began)) {
                (Some(id), _) => (id, Arc::clone(&seat.told)),
                (None, Some(id)) => (Raw::of(&id), declaring(&seat.told)),
                // It is no task, and is the answer.
                (None, None) => return banks.done(outcome, &seat).await,
            };
            // Nobody will ever know of it, so it is taken back.
            drop(Hidden::new(&bay.errands, seat, behalf, &id));
            Crossing::Done(Err(error))
        }
    }
}

async fn kept(bay: &Inner, request: &Request, banks: &Banks<'_>, outcome: Outcome, seat: Seat, room: Room) -> Crossing {
    if request.caller.introduction.revision.has(Feature::CoreTasks) {
        return Crossing::Done(wished::begun(bay, request, banks, outcome, &seat, room));
    }
    extension::begun(bay, banks, outcome, seat, room).await
}

/// What is known here of a task that is over; its server may be away, but not out of reach for good.
pub(in crate::relay) fn known(going: &Going<'_>) -> Option<Result<Outcome, ErrorObject>> {
    let (request, route) = (going.request, going.route);
    let looks =
        matches!(request.method, Method::TasksGet | Method::TasksResult | Method::TasksCancel | Method::TasksUpdate);
    if !looks || going.there.is_off() {
        return None;
    }
    let kept = going.bay.kept.find(&request.caller.principal, (&route.server, route.kept.as_deref()?))?;
    let stateless = request.caller.introduction.revision.has(Feature::Stateless);
    match (stateless, kept.is_listed()) {
        (true, false) => extension::known(&kept, &request.method),
        (false, true) => wished::known(&kept, &request.method, &request.part(Part::TaskId)?.as_text()?).map(Ok),
        (true, true) | (false, false) => None,
    }
}

/// Looks after a task of our own making: it is over, and was from the beginning.
pub(in crate::relay) fn ours(request: &Request, task: &KeptTask, public: &str) -> Result<Outcome, ErrorObject> {
    // No server is called; but who may not reach it has nothing to do with its tasks either.
    drop(policy::decide(&Wanted { caller: &request.caller, server: &task.server })?);
    match request.method {
        Method::TasksGet => Ok(Ok(task.task())),
        Method::TasksResult => {
            task.is_told();
            let outcome = task.outcome().unwrap_or_else(|| Err(wording::cancelled()));
            Ok(outcome.map(|result| wording::tagged(&result, public)))
        }
        Method::TasksCancel => Err(wished::is_over(public)),
        _ => Err(Fault::method(&request.method).into()),
    }
}

/// How these tasks stand, asked of those servers that say so soon. What a request for it would not find is not shown.
pub(in crate::relay) async fn shown(bay: &Inner, request: &Request, tasks: &[(u64, Arc<KeptTask>)]) -> Vec<Raw> {
    let one = async |task: &Arc<KeptTask>| {
        let permit = policy::decide(&Wanted { caller: &request.caller, server: &task.server }).ok()?;
        let there = bay.server(&task.server)?;
        let over = wording::status(&task.task()).is_some_and(|status| status.is_final());
        if task.outcome().is_none() && !over {
            let fresh = async {
                let seat = bay.seat(&permit, &there, &request.caller).await.ok()?;
                let public = bay.sealer.name(Sort::Kept, &request.caller.principal, &task.server, &task.name);
                Some(Theirs::new(Arc::clone(task), public, seat, &there).task().await)
            };
            match time::timeout(REFRESH, fresh).await {
                Ok(Some(Err(error))) if error.code == code::INVALID_PARAMS => return None,
                // What is not known in time is shown as it was last.
                Ok(_) | Err(_) => {}
            }
        }
        Some(task.task())
    };
    join_all(tasks.iter().map(|(_, task)| one(task))).await.into_iter().flatten().collect()
}
