//! The bridge itself.

use std::time::Duration;

use futures_util::{
    StreamExt,
    future::{AbortHandle, abortable},
    stream::FuturesUnordered,
};
use tokio::time;
use toolbay_protocol::{
    ErrorObject, Raw,
    exchange::{Answers, Asks, Outcome, Standing, Step},
    peer::Call,
    types::relay::conform_answer,
};
use toolbay_transport::{Error, Gone, Reply, Running, talk::Manner};

use super::{
    banks::Banks,
    errands::Hidden,
    park::{Heard, Ride, Then},
    seal::LIFE,
    tasks,
};
use crate::servers::{Hearer, Question, Questions, Seat};

/// What a crossing came to.
#[derive(Debug)]
pub(crate) enum Crossing {
    /// The outcome, in the caller's revision.
    Done(Outcome),
    /// The outcome, as the server wrote it, for whoever goes on with it here.
    Handed(Outcome, Seat),
    /// None: the link failed, or was too slow.
    Lost(Lost),
    /// The caller was asked and will return.
    WillReturn,
    /// The caller is gone; the server was told to stop.
    Abandoned,
}

/// A link that failed.
#[derive(Debug)]
pub(crate) struct Lost {
    pub(crate) error: Error,
    pub(crate) seat: Option<Seat>,
    pub(crate) heard: Heard,
}

/// How long a call waits before it is made again because its server said to come back; then longer.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// How long after one question another may come to be asked together with it.
const GATHER: Duration = Duration::from_millis(10);

/// Under which key a question is put that belongs to no call.
const QUESTION: &str = "question";

/// The next question that belongs to no call.
async fn unrelated(questions: Option<&Questions>) -> Question {
    match questions {
        Some(questions) => questions.next().await,
        None => std::future::pending().await,
    }
}

/// Nothing comes of what the server does not ask any more.
type Replied = Option<(Asks, Result<Reply, Gone>)>;
type Waiting<'w> = FuturesUnordered<std::pin::Pin<Box<dyn Future<Output = Replied> + Send + 'w>>>;

/// Carries a call to its end, or to where its caller leaves. A caller that was asked may be told more meanwhile.
///
/// `first` is what was said before, where somebody heard it already.
pub(crate) async fn cross(mut ride: Ride, banks: Banks<'_>, first: Option<Result<Step, Error>>) -> Crossing {
    let mut course = Course { waiting: Waiting::new(), first, open: vec![], rounds: 0, between: false };
    loop {
        match course.turn(&mut ride, &banks).await {
            Turn::On => {}
            Turn::Over(crossing) => return crossing,
            Turn::Handed(outcome) => return Crossing::Handed(outcome, ride.seat),
            Turn::Lost(error) => return Crossing::Lost(Lost { error, seat: Some(ride.seat), heard: ride.heard }),
            Turn::Part(asks) => return banks.part(ride, asks).await,
        }
    }
}

/// A crossing under way.
struct Course<'w> {
    /// What the caller is asked at the moment.
    waiting: Waiting<'w>,
    /// What the call said before anything else happened.
    first: Option<Result<Step, Error>>,
    /// What ends the wait for the answer to a question.
    open: Vec<(String, AbortHandle)>,
    rounds: u32,
    /// Whether the server waits for a request that brings it answers: until then it has nothing to say.
    between: bool,
}

/// Everything that a server asks at this moment, for a caller that leaves with it: several questions at once are several
/// messages, and each that is left behind would cost another round.
async fn gathered(mut asks: Asks, ride: &mut Ride, banks: &Banks<'_>) -> Turn {
    let until = time::Instant::now() + GATHER;
    loop {
        let step = match time::timeout_at(until, ride.running.step()).await {
            Ok(Ok(step)) => step,
            Ok(Err(error)) => return Turn::Lost(error),
            Err(_) => return Turn::Part(asks),
        };
        match step {
            Step::Ask(more) => {
                if let Err(error) = banks.admit(&more) {
                    if let Err(error) = ride.running.answer(Answers::refuse(&more, &error)).await {
                        return Turn::Lost(error);
                    }
                    continue;
                }
                more.iter().for_each(|(key, ask)| asks.insert(key, ask.clone()));
            }
            Step::Withdrawn(key) => {
                asks = asks
                    .iter()
                    .filter(|(open, _)| *open != key)
                    .map(|(open, ask)| (open.to_owned(), ask.clone()))
                    .collect();
                if asks.is_empty() {
                    return Turn::On;
                }
            }
            Step::Note(note) => {
                if banks.note(note).await.is_err() {
                    return Turn::Over(Crossing::Abandoned);
                }
            }
            // A caller that leaves has no connection to let go of.
            Step::Away(_) => {}
            Step::Done(outcome) => return ended(outcome, ride, banks).await,
        }
    }
}

/// The end of a call; or, where it only began a task, the wait for what comes of that.
async fn ended(outcome: Outcome, ride: &mut Ride, banks: &Banks<'_>) -> Turn {
    if let Some(hidden) = &mut ride.hidden {
        hidden.is_over();
    }
    let (result, call) = match (outcome, std::mem::replace(&mut ride.then, Then::Answer)) {
        (Ok(result), Then::Await(call)) => (result, call),
        (outcome, Then::HandOver) => return Turn::Handed(outcome),
        (outcome, Then::Answer | Then::Await(_)) => return Turn::Over(banks.done(outcome, &ride.seat).await),
    };
    let failed = |what: String| {
        let error = ErrorObject::internal(format!("server {:?} {what}", banks.server));
        Turn::Over(Crossing::Done(Err(error)))
    };
    let Some(awaited) = tasks::awaited(&result) else {
        return failed("answers without the task that it must begin".into());
    };
    if let Some(id) = awaited.get("taskId") {
        let seat = ride.seat.again();
        let behalf = seat.told.clone();
        ride.hidden = Some(Hidden::new(banks.errands, seat, behalf, &id));
    }
    if banks.cx.wants_progress()
        && let Some(id) = awaited.get("taskId").as_ref().and_then(Raw::as_text)
    {
        ride.seat.leg.hearers.add(id.into_owned(), Hearer::Call(banks.cx.clone()));
    }
    match ride.seat.connection.call(Call { params: Some(awaited), ..*call }).await {
        Ok(running) => {
            ride.running = running;
            Turn::On
        }
        Err(error) => failed(format!("began a task whose result cannot be awaited: {error}")),
    }
}

/// What one thing that happened came to.
enum Turn {
    On,
    Over(Crossing),
    /// The outcome is for somebody here.
    Handed(Outcome),
    Lost(Error),
    /// The caller returns with the answers.
    Part(Asks),
}

impl From<Result<(), Error>> for Turn {
    fn from(done: Result<(), Error>) -> Self {
        done.map_or_else(Self::Lost, |()| Self::On)
    }
}

async fn next(first: &mut Option<Result<Step, Error>>, running: &mut Running) -> Result<Step, Error> {
    match first.take() {
        Some(first) => first,
        None => running.step().await,
    }
}

impl<'w> Course<'w> {
    /// Waits for one thing to happen and carries it over.
    async fn turn(&mut self, ride: &mut Ride, banks: &Banks<'w>) -> Turn {
        let questions = ride.seat.leg.questions.as_deref().filter(|_| banks.cx.manner() == Manner::Stays);
        let step = tokio::select! {
            biased;
            Some(replied) = self.waiting.next() => return match replied {
                None => Turn::On,
                Some((asks, Ok(Reply::Answers(answers)))) => {
                    self.between = false;
                    self.open.retain(|(key, _)| asks.get(key).is_none());
                    ride.running.answer(banks.answers(&asks, answers)).await.into()
                }
                // A caller that stays never returns.
                Some((_, Ok(Reply::WillReturn))) => Turn::Over(Crossing::WillReturn),
                Some((_, Err(Gone))) => Turn::Over(Crossing::Abandoned),
            },
            question = unrelated(questions), if questions.is_some() => {
                self.question(question, banks);
                return Turn::On;
            }
            step = next(&mut self.first, &mut ride.running), if !self.between => step,
        };
        let step = match step {
            Ok(step) => step,
            Err(error) => return Turn::Lost(error),
        };
        ride.heard = Heard::Something;
        match step {
            Step::Note(note) => match banks.note(note).await {
                Ok(()) => Turn::On,
                Err(Gone) => Turn::Over(Crossing::Abandoned),
            },
            // The caller may be let go of as well, and come back when the server is come back to.
            Step::Away(pause) => {
                banks.cx.hang_up(pause);
                Turn::On
            }
            Step::Ask(asks) => self.asked(asks, ride, banks).await,
            Step::Withdrawn(key) => {
                // What is not waited for any more is taken back from the caller.
                if let Some(place) = self.open.iter().position(|(open, _)| *open == key) {
                    self.open.swap_remove(place).1.abort();
                }
                Turn::On
            }
            Step::Done(outcome) => ended(outcome, ride, banks).await,
        }
    }

    /// The server asks what belongs to no call; this one carries it.
    fn question(&mut self, mut question: Question, banks: &Banks<'w>) {
        let asks = Asks::one(QUESTION, question.ask.clone());
        if let Err(error) = banks.admit(&asks) {
            return question.answered(Err(error));
        }
        let (cx, shown, to, from) = (banks.cx, banks.asks(&asks), banks.revision, banks.caller.introduction.revision);
        self.waiting.push(Box::pin(async move {
            let reply = tokio::select! {
                reply = cx.ask(shown, None) => reply,
                () = question.withdrawn() => return None,
            };
            if let Ok(Reply::Answers(answers)) = reply
                && let Some((_, answer)) = answers.into_iter().next()
            {
                let method = question.ask.method.clone();
                question.answered(answer.map(|answer| conform_answer(&method, &answer, from, to).unwrap_or(answer)));
            }
            // Nothing of it is an answer to this call.
            None
        }));
    }

    /// The server asks.
    async fn asked(&mut self, asks: Asks, ride: &mut Ride, banks: &Banks<'w>) -> Turn {
        let over = *asks.standing() != Standing::Open;
        if over && self.rounds >= ride.seat.leg.rounds {
            let (server, most) = (banks.server, ride.seat.leg.rounds);
            let what = format!("server {server:?} asks more than {most} times in one call (limit `rounds`)");
            return Turn::Over(Crossing::Done(Err(ErrorObject::internal(what))));
        }
        if let Err(error) = banks.admit(&asks) {
            return ride.running.answer(Answers::refuse(&asks, &error)).await.into();
        }
        if banks.cx.manner() == Manner::Returns {
            return if over { Turn::Part(asks) } else { gathered(asks, ride, banks).await };
        }
        (self.between, self.rounds) = (over, self.rounds + u32::from(over));
        if asks.is_empty() {
            // spec: basic/patterns/mrtr, nothing is asked but to come back later
            let pause = FIRST_PAUSE.saturating_mul(self.rounds).min(LONGEST_PAUSE);
            self.waiting.push(Box::pin(async move {
                time::sleep(pause).await;
                Some((asks, Ok(Reply::Answers(Answers::default()))))
            }));
        } else {
            let (cx, shown) = (banks.cx, banks.asks(&asks));
            let keys: Vec<_> = asks.iter().map(|(key, _)| key.to_owned()).collect();
            let (replied, abort) = abortable(async move {
                let reply = time::timeout(LIFE, cx.ask(shown, None)).await;
                (asks, reply.unwrap_or(Err(Gone)))
            });
            self.open.extend(keys.into_iter().map(|key| (key, abort.clone())));
            self.waiting.push(Box::pin(async move { replied.await.ok() }));
        }
        Turn::On
    }
}
