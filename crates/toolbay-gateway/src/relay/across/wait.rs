//! The wait for the end of a task of the extension: it is asked for at its server's pace, and what it asks is put to the
//! caller meanwhile.

use std::{collections::HashMap, pin::Pin, time::Duration};

use futures_util::{
    StreamExt,
    future::{AbortHandle, Aborted, abortable},
    stream::FuturesUnordered,
};
use tokio::time::{self, Instant};
use toolbay_protocol::{
    ErrorObject, Raw,
    exchange::{Answers, Ask, Asks, Note, Outcome},
};
use toolbay_transport::{Gone, Reply};

use super::there::There;
use crate::bridge::{Banks, KeptTask, Put, wording};

/// How soon it is asked for again where its server does not say; never sooner, and never later, than this.
const USUAL: Duration = Duration::from_secs(1);
const SOONEST: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_secs(10);
/// How often in a row its server may not be reached.
const TRIES: u32 = 3;
/// How long whoever is asked may take.
const THINKS: Duration = Duration::from_secs(600);
/// How often at least a caller hears that its call goes on, where nothing else is to be said.
const BEAT: Duration = Duration::from_secs(5);

/// One wait.
pub(super) struct Wait<'w> {
    pub(super) there: &'w There,
    pub(super) banks: &'w Banks<'w>,
    pub(super) task: &'w KeptTask,
    /// Under which name its caller knows it, if it does.
    pub(super) public: Option<&'w str>,
}

/// What came of it.
pub(super) enum Waited {
    /// The task is over.
    Over(Outcome),
    /// The caller is gone.
    Gone,
}

/// A question that its caller was asked: its key, itself, and what came of it; nothing where nobody answered.
type Replied<'w> = (String, Ask, Put<'w>, Result<Option<Outcome>, Aborted>);
type Asking<'w> = FuturesUnordered<Pin<Box<dyn Future<Output = Replied<'w>> + Send + 'w>>>;

/// What the caller is asked at the moment.
struct Open<'w> {
    asking: Asking<'w>,
    aborts: HashMap<String, AbortHandle>,
}

impl<'w> Wait<'w> {
    /// Waits; `begun` is what its server said last, if that was just now.
    pub(super) async fn over(&self, begun: Option<&Raw>) -> Result<Waited, ErrorObject> {
        let mut open = Open { asking: Asking::new(), aborts: HashMap::new() };
        let (mut beat, mut tries, mut pause) = (Beat::default(), 0, begun.map_or(USUAL, pause));
        let mut next = Instant::now() + begun.map_or(Duration::ZERO, |_| pause);
        loop {
            tokio::select! {
                biased;
                () = self.task.cancelled.cancelled() => return Ok(Waited::Over(Err(wording::cancelled()))),
                Some((key, ask, put, replied)) = open.asking.next() => {
                    open.aborts.remove(&key);
                    match replied {
                        Ok(answer) => {
                            let answer = answer.map_or_else(|| self.unanswered(), Ok)?;
                            self.answer(&key, ask, answer, put).await?;
                            next = Instant::now();
                        }
                        Err(Aborted) if self.banks.cx.is_gone() => return Ok(Waited::Gone),
                        Err(Aborted) => {}
                    }
                }
                () = time::sleep_until(next) => {
                    match self.there.get().await {
                        Ok(state) => {
                            let state = state.map_err(|error| self.unknown(error))?;
                            (tries, pause) = (0, self.said(&state, &mut open, &mut beat).await?);
                        }
                        Err(error) if tries >= TRIES => return Err(self.lost(&error.to_string())),
                        Err(_) => tries += 1,
                    }
                    if let Some(outcome) = beat.outcome.take() {
                        return Ok(Waited::Over(outcome));
                    }
                    if Instant::now() >= self.task.until() {
                        let server = self.banks.server;
                        return Err(ErrorObject::internal(format!("the task of server {server:?} is not over, but its time is")));
                    }
                    next = Instant::now() + pause;
                }
            }
        }
    }

    fn lost(&self, why: &str) -> ErrorObject {
        ErrorObject::internal(format!("server {:?} was lost while its task ran: {why}", self.banks.server))
    }

    /// Who knows of the task is told what its server says of it; to others it would make no sense.
    fn unknown(&self, error: ErrorObject) -> ErrorObject {
        match self.public {
            Some(public) => wording::of_task(self.banks.error(error), public),
            None => self.lost(&error.to_string()),
        }
    }

    /// Takes up what its server says of it; how long to wait before it is asked again.
    async fn said(&self, state: &Raw, open: &mut Open<'w>, beat: &mut Beat) -> Result<Duration, ErrorObject> {
        beat.outcome = wording::outcome(state);
        if beat.outcome.is_some() {
            return Ok(Duration::ZERO);
        }
        if self.public.is_none() && self.banks.cx.wants_progress() {
            beat.strike(state, self.banks);
        }
        let asks = wording::asks(state)?;
        open.aborts.retain(|key, abort| {
            let asked = asks.get(key).is_some();
            if !asked {
                // Nobody waits for that answer any more.
                abort.abort();
            }
            asked
        });
        for (key, ask) in asks {
            let Some(put) = self.task.put(&key, self.banks.cx.presence()) else { continue };
            if let Err(error) = self.banks.admit(&Asks::one(&*key, ask.clone())) {
                self.answer(&key, ask, Err(error), put).await?;
                continue;
            }
            self.ask(key, ask, put, open);
        }
        Ok(pause(state))
    }

    /// Puts a question to the caller.
    fn ask(&self, key: String, ask: Ask, put: Put<'w>, open: &mut Open<'w>) {
        let mut shown = self.banks.asks(&Asks::one(&*key, ask.clone()));
        if let Some(public) = self.public {
            let tagged =
                |ask: Ask| Ask { params: Some(wording::tagged(&ask.params.unwrap_or(Raw::EMPTY), public)), ..ask };
            shown = shown.into_iter().map(|(key, ask)| (key, tagged(ask))).collect();
        }
        let (cx, over) = (self.banks.cx, put.taken_over());
        let (replied, abort) = abortable(async move {
            let replied = tokio::select! {
                replied = time::timeout(THINKS, cx.ask(shown, None)) => replied,
                () = over.cancelled() => return None,
            };
            match replied {
                Ok(Ok(Reply::Answers(answers))) => answers.into_iter().next().map(|one| one.1),
                // A caller that stays never returns; one that is gone answers nothing.
                Ok(Ok(Reply::WillReturn) | Err(Gone)) => std::future::pending().await,
                Err(_) => None,
            }
        });
        open.aborts.insert(key.clone(), abort);
        open.asking.push(Box::pin(async move { (key, ask, put, replied.await) }));
    }

    /// Nobody answered. Whoever knows of the task may ask for its result again, and be asked; a call is over with that.
    fn unanswered(&self) -> Result<Outcome, ErrorObject> {
        let late = |then: &str| ErrorObject::internal(format!("nobody answered in time{then}"));
        match self.public {
            Some(public) => {
                Err(late(&format!(" what task {public:?} asks; ask for its result again to be asked again")))
            }
            None => Ok(Err(late(""))),
        }
    }

    /// Carries an answer over; the question counts as answered once its server took that. Where nothing can be said for
    /// it, the task is taken back, and its caller told why.
    async fn answer(&self, key: &str, ask: Ask, answer: Outcome, put: Put<'w>) -> Result<(), ErrorObject> {
        let asks = Asks::one(key, ask);
        let written = self.banks.answers(&asks, Answers::one(key, answer)).write(&asks);
        let taken = match &written {
            Ok(responses) => self.updated(responses).await?,
            // It may be over by now; what is said is the reason all the same.
            Err(_) => self.there.cancel().await.is_ok_and(|cancelled| cancelled.is_ok()),
        };
        if taken {
            put.answered_now();
        }
        written.map(drop)
    }

    /// Brings its server an answer; once more where it may not have come there.
    // spec: tasks extension, what was answered already is ignored
    async fn updated(&self, responses: &Raw) -> Result<bool, ErrorObject> {
        let mut tries = 0;
        loop {
            match self.there.update(responses).await {
                Ok(Ok(_)) => return Ok(true),
                Ok(Err(error)) => {
                    let what = format!("server {:?} does not take the answer: {}", self.banks.server, error.message);
                    return Err(ErrorObject { message: what, ..error });
                }
                Err(error) if tries >= TRIES => return Err(self.lost(&error.to_string())),
                Err(_) => tries += 1,
            }
            time::sleep(USUAL).await;
        }
    }
}

/// How long its server wants to be left alone.
fn pause(state: &Raw) -> Duration {
    let millis: Option<f64> = state.get("pollIntervalMs").and_then(|millis| millis.read().ok());
    let pause = millis.and_then(|millis| Duration::try_from_secs_f64(millis / 1e3).ok());
    pause.unwrap_or(USUAL).clamp(SOONEST, LATEST)
}

/// What a caller hears of a task of which it does not know: that its call goes on.
#[derive(Default)]
struct Beat {
    struck: u32,
    last: Option<(Instant, Raw)>,
    outcome: Option<Outcome>,
}

impl Beat {
    fn strike(&mut self, state: &Raw, banks: &Banks<'_>) {
        let now = Instant::now();
        if self.last.as_ref().is_some_and(|(when, before)| before == state && now - *when < BEAT) {
            return;
        }
        self.struck += 1;
        let message = state.get("statusMessage");
        let message = message.as_ref().and_then(Raw::as_text);
        banks.cx.note_now(Note::progress(f64::from(self.struck), None, message.as_deref()));
        self.last = Some((now, state.clone()));
    }
}
