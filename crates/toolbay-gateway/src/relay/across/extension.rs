//! Callers of the extension, servers of the core: each call of theirs of a tool that can run as a task becomes one.

use std::{sync::Arc, time::Duration};

use tokio::time;
use toolbay_protocol::{
    ErrorObject, Fault, Method, Raw,
    exchange::{Answers, Asks, Outcome},
    frame::Part,
    peer::{Call, Patience},
    types::TaskStatus,
};
use toolbay_transport::Connection;

use super::{super::going::Going, follow};
use crate::{
    bay::Inner,
    bridge::{Banks, Crossing, KeptTask, Room, View, life, wording},
    servers::Seat,
};

/// How long a task that is over may take to say what it came to, before it is shown as running still; and how long an answer
/// may take on its way to it.
const SOON: Duration = Duration::from_secs(5);

/// The end of a call that may have become a task.
pub(super) async fn begun(bay: &Inner, banks: &Banks<'_>, outcome: Outcome, seat: Seat, room: Room) -> Crossing {
    let begun = outcome.as_ref().ok().and_then(|result| {
        let task = result.get("task").filter(|_| result.get("content").is_none())?;
        let id = task.get("taskId")?.as_text()?.into_owned();
        Some((task, id))
    });
    let Some((task, id)) = begun else { return banks.done(outcome, &seat).await };
    let life = life(task.get("ttl").as_ref());
    seat.leg.keep_for(Some(life));
    let name = bay.kept.name(bay.sealer.bay(), &id);
    let (left, public) = (room.left(), banks.tasks().kept(&name));
    let status = wording::status(&task).unwrap_or(TaskStatus::Working);
    let mut created = wording::to_extension(&task, &public, &status);
    let kept = room.keep(KeptTask::new(banks.server, &id, &task, life).under(name));
    let caller = &banks.caller.introduction;
    let view = View { hub: bay.hub.clone(), public, from: banks.revision, to: caller.revision };
    let silence = bay.server(banks.server).map_or(SOON, |server| server.silence());
    follow::begin(&kept, seat, caller, (left, life, silence), view);
    created.put_text("resultType", "task");
    Crossing::Done(Ok(created.finish()))
}

/// A task of the core that a caller of the extension looks after.
struct Ours<'o> {
    going: &'o Going<'o>,
    banks: Banks<'o>,
    kept: Arc<KeptTask>,
    view: View,
    connection: Connection,
}

/// Looks after a task of the core for a caller of the extension.
pub(super) async fn look_after(going: &Going<'_>, seat: &Seat) -> Result<Outcome, ErrorObject> {
    let (request, route) = (going.request, going.route);
    let public = request.part(Part::TaskId).as_ref().and_then(Raw::as_text).unwrap_or_default().into_owned();
    let known = route.kept.as_deref();
    let known = known.and_then(|name| going.bay.kept.find(&request.caller.principal, (&route.server, name)));
    let known = known.and_then(|kept| Some((kept.follower()?, kept.view()?, kept)));
    let Some(((connection, answers), view, kept)) = known else {
        return Err(ErrorObject::invalid_params(format!("unknown task: {public:?}")));
    };
    let ours = Ours { going, banks: going.banks(seat), kept, view, connection };
    match request.method {
        Method::TasksGet => ours.state().await.map(Ok),
        Method::TasksUpdate => {
            for answer in ours.answers()? {
                // One that is over waits for no answer.
                let _ = answers.send_timeout(answer, SOON).await;
            }
            Ok(Ok(Raw::EMPTY))
        }
        Method::TasksCancel => ours.cancel().await.map(Ok),
        _ => Err(Fault::method(&request.method).into()),
    }
}

impl Ours<'_> {
    async fn ask(&self, method: Method) -> Result<Outcome, ErrorObject> {
        let params = Raw::EMPTY.with(&[("taskId", Some(&Raw::of(&self.kept.id)))]);
        let silence = self.going.there.silence();
        let patience = Patience { silence, total: Some(silence) };
        let call = Call { patience, ..Call::new(method, Some(params)) };
        self.connection.request(call).await.map_err(|error| {
            let server = &self.kept.server;
            ErrorObject::internal(format!("server {server:?} does not say where its task stands: {error}"))
        })
    }

    /// Where it stands, and what it came to or asks.
    async fn state(&self) -> Result<Raw, ErrorObject> {
        if !self.kept.is_over() {
            match self.ask(Method::TasksGet).await? {
                Ok(task) => {
                    self.kept.stands(&task);
                    if wording::status(&task).is_some_and(|status| status.is_final()) {
                        self.ended().await;
                    }
                }
                // It may have been forgotten there once it was over.
                Err(error) if !self.kept.is_over() => return Err(wording::of_task(error, &self.view.public)),
                Err(_) => {}
            }
        }
        self.shown()
    }

    /// Waits until it is known what it came to.
    async fn ended(&self) {
        let ended = async {
            loop {
                let moved = self.kept.moved.notified();
                if self.kept.is_over() {
                    return;
                }
                moved.await;
            }
        };
        // Else the caller comes again.
        let _ = time::timeout(SOON, ended).await;
    }

    fn shown(&self) -> Result<Raw, ErrorObject> {
        shown(&self.kept, &self.view)
    }

    /// What the caller answers, as its server is answered; what nobody asks (any more) is left out.
    fn answers(&self) -> Result<Vec<Answers>, ErrorObject> {
        let responses = self.going.request.params.get("inputResponses").unwrap_or(Raw::EMPTY);
        let (open, brought) = (self.kept.open(), Answers::read(&responses));
        let brought: Answers = brought.into_iter().filter(|(key, _)| open.get(key).is_some()).collect();
        if let Some(refused) = self.banks.refused(&open, &brought) {
            return Err(refused);
        }
        let answered = |(public, answer): (String, Outcome)| {
            let asks = Asks::one(&*public, self.kept.open().get(&public)?.clone());
            let (key, _) = self.kept.answers(&public)?;
            let answers = self.banks.answers(&asks, Answers::one(public, answer));
            answers.into_iter().next().map(|(_, answer)| Answers::one(key, answer))
        };
        Ok(brought.into_iter().filter_map(answered).collect())
    }

    /// Takes it back, unless it is over.
    async fn cancel(&self) -> Result<Raw, ErrorObject> {
        // spec: tasks extension, whatever became of it the caller is told that it was heard
        if let Ok(task) = self.ask(Method::TasksCancel).await? {
            self.kept.is_taken_back(&task);
            // It was taken back by whom it belongs to.
            self.kept.is_told();
        }
        Ok(Raw::EMPTY)
    }
}

/// Where a task stands, as its caller is told; whoever was told the end needs it kept no longer.
fn shown(kept: &KeptTask, view: &View) -> Result<Raw, ErrorObject> {
    let over = kept.is_over();
    let mut shown = view.of(kept)?;
    shown.put_text("resultType", "complete");
    if over {
        kept.is_told();
    }
    Ok(shown.finish())
}

/// What is known of a task that is over without its server, which may be away.
pub(super) fn known(kept: &KeptTask, method: &Method) -> Option<Result<Outcome, ErrorObject>> {
    let view = kept.view().filter(|_| kept.is_over())?;
    match method {
        Method::TasksGet => Some(shown(kept, &view).map(Ok)),
        // spec: tasks extension, whatever became of it the caller is told that it was heard
        Method::TasksUpdate | Method::TasksCancel => Some(Ok(Ok(Raw::EMPTY))),
        _ => None,
    }
}
