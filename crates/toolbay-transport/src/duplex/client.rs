//! The client's end of a duplex link: a handle that many may hold, and the calls made with it.

use std::{fmt, sync::Arc};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinHandle,
};
use toolbay_protocol::{
    exchange::{Answers, Note, Step},
    greeting::Introduction,
    peer::{self, Call, CallId},
};

use super::{
    link::{ReadFrames, WriteFrames},
    owner::Owner,
    port::{Port, Saying, Shared, Unsaid},
    steps::{Steps, steps},
};
use crate::{Error, Listener, connect::Limits};

/// A handle on a link; the link closes with the last one.
pub struct Client {
    port: Arc<dyn Port>,
    places: Arc<Semaphore>,
    ended: watch::Receiver<Option<Error>>,
    task: JoinHandle<()>,
}

impl Client {
    /// Takes over a link, as `us`, within the usual limits.
    pub fn start<R: ReadFrames, W: WriteFrames>(
        us: Arc<Introduction>,
        reader: R,
        writer: W,
        listener: Arc<dyn Listener>,
    ) -> Self {
        Self::within(&Limits::default(), us, reader, writer, listener)
    }

    /// Takes over a link, as `us`; how long a message may be is up to the reader.
    pub fn within<R: ReadFrames, W: WriteFrames>(
        limits: &Limits,
        us: Arc<Introduction>,
        reader: R,
        writer: W,
        listener: Arc<dyn Listener>,
    ) -> Self {
        let peer = peer::Client::new(us).with_questions(limits.questions_in_flight);
        let shared = Arc::new(Shared::new(peer, writer, *limits));
        let (end, ended) = watch::channel(None);
        let owner = Owner::new(Arc::clone(&shared), reader, listener);
        let task = tokio::spawn(async move {
            let error = owner.run().await;
            // Nobody may be left to hear it.
            let _ = end.send(Some(error));
        });
        Self { port: shared, places: Arc::new(Semaphore::new(limits.requests_in_flight)), ended, task }
    }

    fn say(&self, saying: Saying) -> Result<(), Error> {
        self.port.say(saying).map_err(|unsaid| self.because(unsaid))
    }

    fn because(&self, unsaid: Unsaid) -> Error {
        match unsaid {
            Unsaid::Over => self.end_reason(),
            Unsaid::Full(error) => error,
        }
    }

    fn end_reason(&self) -> Error {
        self.ended.borrow().clone().unwrap_or_else(|| Error::closed("the link was closed"))
    }

    /// Speaks as `us` from here on.
    pub fn introduce(&self, us: Arc<Introduction>) -> Result<(), Error> {
        self.say(Saying::Introduce(us))
    }

    /// Begins a call.
    pub async fn call(&self, call: Call) -> Result<RunningCall, Error> {
        let place = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => place,
            Err(_) => crate::places::wait(&self.places, &call.patience).await?.ok_or_else(|| self.end_reason())?,
        };
        self.begin(call, place)
    }

    /// Begins a call, unless as many as may be are in flight.
    #[expect(clippy::result_large_err, reason = "what is given back is no error, and is wanted as it is")]
    pub fn call_at_once(&self, call: Call) -> Result<Result<RunningCall, Error>, Call> {
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => Ok(self.begin(call, place)),
            Err(_) => Err(call),
        }
    }

    fn begin(&self, call: Call, place: OwnedSemaphorePermit) -> Result<RunningCall, Error> {
        let (push, steps) = steps();
        let key = self.port.call(call, push).map_err(|unsaid| self.because(unsaid))?;
        Ok(RunningCall { key, steps, port: Arc::clone(&self.port), done: false, _place: place })
    }

    /// Sends a notification.
    pub fn tell(&self, note: Note) -> Result<(), Error> {
        self.say(Saying::Tell(note))
    }

    /// Closes the link: what was told is sent, what is in flight fails.
    pub async fn close(&self) {
        // One that has ended already is waited for all the same: it ends what it started.
        let _ = self.port.say(Saying::Close);
        self.ended().await;
    }

    /// Waits for the end of the link and says why it came.
    pub async fn ended(&self) -> Error {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await.ok().and_then(|end| end.clone());
        end.unwrap_or_else(|| Error::closed("the link was closed"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.task.abort();
        self.port.cut();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("duplex::Client").finish_non_exhaustive()
    }
}

/// A call in flight; dropping it takes it back.
pub struct RunningCall {
    key: CallId,
    steps: Steps,
    port: Arc<dyn Port>,
    done: bool,
    _place: OwnedSemaphorePermit,
}

impl RunningCall {
    /// What happens next.
    pub async fn step(&mut self) -> Result<Step, Error> {
        let step = self.steps.next().await;
        self.done = matches!(step, Ok(Step::Done(_)) | Err(_));
        step
    }

    /// Answers what was asked.
    pub fn answer(&self, answers: Answers) -> Result<(), Error> {
        self.port.say(Saying::Answer(self.key, answers)).map_err(|unsaid| match unsaid {
            Unsaid::Over => Error::closed("the link was closed"),
            Unsaid::Full(error) => error,
        })
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if !self.done {
            // A link that is gone has nothing left to cancel.
            let _ = self.port.say(Saying::Cancel(self.key));
        }
    }
}

impl fmt::Debug for RunningCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningCall").field("key", &self.key).finish_non_exhaustive()
    }
}
