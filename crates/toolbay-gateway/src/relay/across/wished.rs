//! Callers of the core, servers of the extension.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use toolbay_protocol::{
    ErrorObject, Fault, Method, Raw,
    exchange::Outcome,
    frame::Part,
    moment::iso,
    raw::Object,
    types::{TaskStatus, conform_result},
};
use toolbay_transport::Request;

use super::{
    super::going::Going,
    there::There,
    wait::{Wait, Waited},
};
use crate::{
    bay::Inner,
    bridge::{Banks, Crossing, KeptTask, LONGEST, Room, Sort, life, wording},
    servers::{Seat, Server},
};

/// How soon a caller may come back for what is over already.
const SOON: u64 = 100;

/// The answer to a caller that wished for a task.
pub(super) fn begun(
    bay: &Inner,
    request: &Request,
    banks: &Banks<'_>,
    outcome: Outcome,
    seat: &Seat,
    room: Room,
) -> Outcome {
    let result = outcome.map_err(|error| banks.error(error))?;
    let task = match began(&result) {
        Some(id) => {
            let life = life(result.get("ttlMs").as_ref());
            seat.leg.keep_for(Some(life));
            // spec: 2025-11-25 basic/utilities/tasks, a task begins as working, whatever became of it by now
            let name = bay.kept.name(bay.sealer.bay(), &id);
            let task = wording::to_core(&result, &banks.tasks().kept(&name), &TaskStatus::Working);
            room.keep(KeptTask::new(banks.server, &id, &task, life).under(name).begun_on(&seat.connection));
            task
        }
        None => done_already(bay, request, banks, &result, room),
    };
    let mut created = Object::with_capacity(256);
    created.put("task", &task);
    Ok(created.finish())
}

/// What the server calls the task that a result begins.
pub(super) fn began(result: &Raw) -> Option<String> {
    let kind = result.get("resultType")?;
    let id = result.get("taskId").filter(|_| kind.as_bytes() == br#""task""#)?;
    id.as_text().map(Into::into)
}

/// A task that was over before it began: the server chose to answer at once, and the answer waits for its caller here.
fn done_already(bay: &Inner, request: &Request, banks: &Banks<'_>, result: &Raw, room: Room) -> Raw {
    let caller = &request.caller;
    let result = conform_result(&Method::ToolsCall, result, banks.revision, caller.introduction.revision);
    let wish = request.part(Part::Task).and_then(|task| task.get("ttl")).filter(|ttl| *ttl != Raw::NULL);
    let life = life(wish.as_ref()).clamp(Duration::from_secs(1), LONGEST);
    let id = bay.kept.mint(bay.sealer.bay());
    let public = bay.sealer.name(Sort::Own, &caller.principal, banks.server, &id);
    let now = iso(SystemTime::now());
    let shown = |status: &TaskStatus| {
        let mut task = Object::with_capacity(256);
        task.put_text("taskId", &public);
        task.put_text("status", status.as_str());
        task.put_text("createdAt", &now);
        task.put_text("lastUpdatedAt", &now);
        task.put_value("ttl", &u64::try_from(life.as_millis()).unwrap_or(u64::MAX));
        task.put_value("pollInterval", &SOON);
        task.finish()
    };
    let left = room.left();
    let kept = room.keep(KeptTask::new(banks.server, &id, &shown(&TaskStatus::Working), life));
    left.came_to(&kept, result.map_err(ErrorObject::from));
    let completed = matches!(kept.outcome(), Some(Ok(result)) if !wording::says_failure(&result));
    kept.shows(&shown(if completed { &TaskStatus::Completed } else { &TaskStatus::Failed }));
    shown(&TaskStatus::Working)
}

/// What to say of a task that cannot be taken back any more.
pub(super) fn is_over(public: &str) -> ErrorObject {
    // spec: 2025-11-25 basic/utilities/tasks, what is over stays as it is
    ErrorObject::invalid_params(format!("task {public:?} is over and cannot be cancelled"))
}

/// A task of the extension that a caller of the core looks after.
pub(super) struct Theirs {
    kept: Arc<KeptTask>,
    public: String,
    there: There,
}

/// Looks after a task of the extension for a caller of the core.
pub(super) async fn look_after(going: &Going<'_>, seat: Seat) -> Result<Crossing, ErrorObject> {
    let (bay, request, route) = (going.bay, going.request, going.route);
    let principal = &request.caller.principal;
    let id = route.params.get("taskId").as_ref().and_then(Raw::as_text).unwrap_or_default().into_owned();
    let public = request.part(Part::TaskId).as_ref().and_then(Raw::as_text).unwrap_or_default().into_owned();
    let name = route.kept.as_deref().unwrap_or(&id);
    let known = bay.kept.find(principal, (&route.server, name));
    // One that began at another replica is looked after all the same; what only that one knows of it is not known.
    let unknown = || Arc::new(KeptTask::new(&route.server, &id, &Raw::EMPTY, LONGEST).under(name));
    let kept = known.clone().unwrap_or_else(unknown);
    let theirs = Theirs::new(kept, public, seat, going.there);
    match request.method {
        Method::TasksGet => theirs.task().await.map(|task| Crossing::Done(Ok(task))),
        Method::TasksResult => theirs.result(going).await,
        Method::TasksCancel => {
            // Where there is no room, its server is told all the same.
            let room = if known.is_none() { bay.kept.room(principal).ok() } else { None };
            theirs.cancel(room).await.map(|task| Crossing::Done(Ok(task)))
        }
        _ => Err(Fault::method(&request.method).into()),
    }
}

impl Theirs {
    pub(super) fn new(kept: Arc<KeptTask>, public: String, seat: Seat, server: &Server) -> Self {
        // Elsewhere its server may call another one so.
        let seat = match kept.home() {
            Some(home) => seat.over(home),
            None => seat,
        };
        let there = There::new(seat, &kept.id, server);
        Self { kept, public, there }
    }

    /// Where it stands.
    pub(super) async fn task(&self) -> Result<Raw, ErrorObject> {
        if self.kept.cancelled.is_cancelled() {
            return Ok(self.kept.task());
        }
        let state = self.there.get().await.map_err(|error| self.failed(&error.to_string()))?;
        let state = state.map_err(|error| wording::of_task(error, &self.public))?;
        if self.kept.cancelled.is_cancelled() {
            return Ok(self.kept.task());
        }
        let task = self.shown(&state);
        self.kept.shows(&task);
        Ok(task)
    }

    fn shown(&self, state: &Raw) -> Raw {
        let answered = || wording::asks(state).is_ok_and(|asks| self.kept.answered(&asks));
        let failed = || state.get("result").is_some_and(|result| wording::says_failure(&result));
        let status = match wording::status(state) {
            Some(TaskStatus::Completed) if failed() => TaskStatus::Failed,
            // What was answered is not asked again, though its server may not have read it yet.
            Some(TaskStatus::InputRequired) if answered() => TaskStatus::Working,
            Some(status) => status,
            None => TaskStatus::Working,
        };
        wording::to_core(state, &self.public, &status)
    }

    fn failed(&self, why: &str) -> ErrorObject {
        ErrorObject::internal(format!("server {:?} does not say where its task stands: {why}", self.kept.server))
    }

    /// What it came to, once it has; what it asks until then is asked.
    async fn result(&self, going: &Going<'_>) -> Result<Crossing, ErrorObject> {
        let banks = going.banks(&self.there.seat);
        let wait = Wait { there: &self.there, banks: &banks, task: &self.kept, public: Some(&self.public) };
        let Waited::Over(outcome) = wait.over(None).await? else { return Ok(Crossing::Abandoned) };
        self.kept.is_told();
        let caller = going.request.caller.introduction.revision;
        let conformed = |result: Raw| {
            let result = conform_result(&Method::ToolsCall, &result, banks.revision, caller)?;
            Ok(wording::tagged(&result, &self.public))
        };
        let outcome = outcome.map_err(|error| banks.error(error));
        Ok(Crossing::Done(outcome.and_then(|result| conformed(result).map_err(|fault: Fault| fault.into()))))
    }

    /// Takes it back; it stays so, though its server may still finish it.
    async fn cancel(self, room: Option<Room>) -> Result<Raw, ErrorObject> {
        let task = self.task().await?;
        if wording::status(&task).is_some_and(|status| status.is_final()) {
            return Err(is_over(&self.public));
        }
        let cancelled = self.there.cancel().await.map_err(|error| self.failed(&error.to_string()))?;
        cancelled.map_err(|error| wording::of_task(error, &self.public))?;
        let (status, now) = (Raw::of(TaskStatus::Cancelled.as_str()), Raw::of(&iso(SystemTime::now())));
        let task = task.with(&[("status", Some(&status)), ("lastUpdatedAt", Some(&now))]);
        let kept = match room {
            None => Arc::clone(&self.kept),
            Some(room) => {
                let life = life(task.get("ttl").as_ref());
                room.keep(KeptTask::new(&self.kept.server, &self.kept.id, &task, life).under(&*self.kept.name))
            }
        };
        kept.is_taken_back(&task);
        Ok(task)
    }
}

/// What is known of such a task without its server, which may be away: that it was taken back here.
pub(super) fn known(kept: &KeptTask, method: &Method, public: &str) -> Option<Outcome> {
    match (kept.cancelled.is_cancelled(), method) {
        (true, Method::TasksGet) => Some(Ok(kept.task())),
        (true, Method::TasksResult) => Some(Err(wording::cancelled())),
        (true, Method::TasksCancel) => Some(Err(is_over(public))),
        _ => None,
    }
}
