//! Follows a task of the core for a caller of the extension: its result is waited for, and what it asks meanwhile is kept
//! until the caller comes to see.

use std::{
    collections::VecDeque,
    future,
    sync::{Arc, Weak},
    time::Duration,
};

use futures_util::FutureExt;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    time::{self, Instant},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw,
    exchange::{Answers, Asks, Outcome, Step},
    fault::code,
    greeting::Introduction,
    peer::{Call, Patience},
    types::TaskStatus,
};
use toolbay_transport::{Error, Running};

use crate::{
    bridge::{Follower, KeptTask, Left, View, asked, wording},
    servers::Seat,
};

/// How many answers may be on their way.
const ANSWERS: usize = 64;
/// How often in a row its server may not be reached, and how soon that is tried again.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How often a task is looked at for whose end there is no place to wait.
const LOOK: Duration = Duration::from_secs(2);
/// How long a question waits for its caller to come: a connection has places for few.
const ASKED: Duration = Duration::from_secs(600);

/// What follows one task.
struct Follow {
    task: Weak<KeptTask>,
    seat: Seat,
    call: Call,
    caller: Arc<Introduction>,
    answers: mpsc::Receiver<Answers>,
    left: Left,
    /// How long its server may take to say where it stands.
    silence: Duration,
}

/// Follows `task` until it is over or forgotten.
pub(super) fn begin(
    task: &Arc<KeptTask>,
    seat: Seat,
    caller: &Arc<Introduction>,
    (left, life, silence): (Left, Duration, Duration),
    view: View,
) {
    let params = Raw::EMPTY.with(&[("taskId", Some(&Raw::of(&task.id)))]);
    // It may be silent for as long as it lives.
    let patience = Patience { silence: life, total: Some(life) };
    let behalf = Some(Arc::clone(&seat.told));
    let call = Call { patience, behalf, ..Call::new(Method::TasksResult, Some(params)) };
    let (to, answers) = mpsc::channel(ANSWERS);
    let connection = seat.connection.clone();
    let follow = Follow { task: Arc::downgrade(task), seat, call, caller: Arc::clone(caller), answers, left, silence };
    let job = tokio::spawn(async move {
        // Its caller sees a task that is not over; it is forgotten soon.
        let _ = time::timeout(life, follow.until_over()).await;
    });
    task.follow(Follower { connection, answers: to, view, job });
}

impl Follow {
    async fn until_over(mut self) {
        let (mut tries, mut pause) = (0, PAUSE);
        let outcome = loop {
            let place = self.place().await;
            let failed = match self.seat.connection.call(self.call.clone()).await {
                Ok(running) => match self.along(running).await {
                    Ok(Some(outcome)) => break outcome,
                    Ok(None) => return,
                    Err(error) => error,
                },
                Err(error) => error,
            };
            drop(place);
            if let Some(task) = self.task.upgrade() {
                task.closes_all();
            }
            tries += 1;
            if tries > TRIES {
                match self.state().await {
                    // The task is well; only the wait for its result is cut, again and again.
                    Ok(Ok(_)) => (tries, pause) = (0, pause.saturating_mul(2).min(LONGEST_PAUSE)),
                    Ok(Err(error)) => break Err(error),
                    Err(_) => {
                        break Err(ErrorObject::internal(format!("the server was lost while its task ran: {failed}")));
                    }
                }
            }
            time::sleep(pause).await;
            self.renew(&failed).await;
        };
        // One that was taken back at its server fails as well, and says so only where it is asked.
        if outcome.is_err()
            && let Ok(Ok(state)) = self.state().await
            && let Some(task) = self.task.upgrade()
        {
            task.stands(&state);
        }
        if let Some(task) = self.task.upgrade() {
            self.left.came_to(&task, outcome.map(|result| wording::untagged(&result)));
        }
    }

    /// A place to wait at for its end. While there is none it is looked at from time to time, until a wait is short, or for
    /// a question of its.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(place) = Arc::clone(&self.seat.leg.followers).try_acquire_owned() {
                return Some(place);
            }
            if let Ok(Ok(state)) = self.state().await {
                self.task.upgrade()?.stands(&state);
                let ready = |status: TaskStatus| status.is_final() || status == TaskStatus::InputRequired;
                if wording::status(&state).is_some_and(ready) {
                    return None;
                }
            }
            time::sleep(LOOK).await;
        }
    }

    /// Asks where it stands.
    async fn state(&self) -> Result<Outcome, Error> {
        let patience = Patience { silence: self.silence, total: Some(self.silence) };
        self.seat.connection.request(Call { method: Method::TasksGet, patience, ..self.call.clone() }).await
    }

    /// Goes on over the connection that took the place of one which is no more.
    async fn renew(&mut self, failed: &Error) {
        if !Seat::is_unknown(failed) && self.seat.connection.ended().now_or_never().is_none() {
            return;
        }
        if let Ok(seat) = self.seat.again().renewed(self.silence).await {
            if let Some(task) = self.task.upgrade() {
                task.moves_to(&seat.connection);
            }
            self.seat = seat;
        }
    }

    /// Goes along until it is over; nothing comes of one that nobody remembers.
    async fn along(&mut self, mut running: Running) -> Result<Option<Outcome>, Error> {
        let mut open: VecDeque<(Instant, String)> = VecDeque::new();
        loop {
            let due = open.front().map(|(due, _)| *due);
            tokio::select! {
                step = running.step() => match step? {
                    Step::Done(outcome) => return Ok(Some(outcome)),
                    Step::Ask(asks) => {
                        let refused = self.opens(&asks, &mut open);
                        if !refused.is_empty() {
                            running.answer(refused).await?;
                        }
                    }
                    Step::Withdrawn(key) => {
                        let Some(task) = self.task.upgrade() else { return Ok(None) };
                        task.closes(&key);
                    }
                    Step::Note(_) | Step::Away(_) => {}
                },
                answers = self.answers.recv() => match answers {
                    Some(answers) => running.answer(answers).await?,
                    None => return Ok(None),
                },
                () = until(due) => {
                    let Some(task) = self.task.upgrade() else { return Ok(None) };
                    // What was answered or taken back meanwhile is not open any more.
                    if let Some((_, key)) = open.pop_front() && task.closes(&key) {
                        running.answer(refusing(&key, "nobody came to answer within ten minutes")).await?;
                    }
                }
            }
        }
    }

    /// Keeps what is asked until the caller comes to see; what it cannot be asked is refused.
    fn opens(&self, asks: &Asks, open: &mut VecDeque<(Instant, String)>) -> Answers {
        let mut refused = Answers::default();
        let Some(task) = self.task.upgrade() else { return refused };
        for (key, ask) in asks.iter() {
            match self.caller.admits(ask) {
                Err(fault) => refused.insert(key, Err(fault.into())),
                Ok(()) if !self.left.admits(asked(key, ask)) || !task.opens(key, ask) => {
                    refused.insert(
                        key,
                        Err(ErrorObject::new(
                            code::REFUSED,
                            "too much is asked at once, in one task or by all of this user (limit `taskBytes`)",
                        )),
                    );
                }
                Ok(()) => open.push_back((Instant::now() + ASKED, key.to_owned())),
            }
        }
        refused
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => time::sleep_until(due).await,
        None => future::pending().await,
    }
}

fn refusing(key: &str, why: &str) -> Answers {
    let mut refused = Answers::default();
    refused.insert(key, Err(ErrorObject::new(code::REFUSED, why)));
    refused
}
