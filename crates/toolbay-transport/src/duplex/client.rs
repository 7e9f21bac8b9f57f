//! The client's end of a duplex link: a handle that many may hold, and the task that owns the link.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    task::JoinHandle,
    time,
};
use toolbay_protocol::{
    Id,
    exchange::{Answers, Note, Outcome, Step},
    fault::{Fault, Malformed},
    frame::Rejected,
    greeting::Introduction,
    peer::{self, Call, CallId, ClientEvent},
    watch::legacy,
};

use super::{
    link::{Came, ReadFrames, WriteFrames},
    steps::{Steps, StepsIn, steps},
};
use crate::{Error, Kind, Listener, connect::Limits};

/// How many bytes may wait to be sent before nothing more is taken in.
const BACKLOG: usize = 8 << 20;
/// How long a server that closed its link may take to say how it ended.
const EPITAPH: Duration = Duration::from_millis(500);
/// How long what was told before a link is closed here may take to be sent.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How many frames are taken at once before anything is sent.
const GULP: usize = 64;

enum Command {
    Introduce(Arc<Introduction>),
    Call(CallId, Box<Call>, StepsIn),
    Answer(CallId, Answers),
    Cancel(CallId),
    Tell(Note),
    Close(oneshot::Sender<()>),
}

/// A handle on a link; the link closes with the last one.
pub struct Client {
    // Not bounded itself: calls are, by `places`, and all else belongs to a call.
    commands: mpsc::UnboundedSender<Command>,
    places: Arc<Semaphore>,
    next: AtomicU64,
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
        let (commands, inbox) = mpsc::unbounded_channel();
        let (end, ended) = watch::channel(None);
        let owner = Owner { peer: peer::Client::new(us), reader, writer, inbox, listener, calls: BTreeMap::new() };
        let task = tokio::spawn(async move {
            let error = owner.run().await;
            // Nobody may be left to hear it.
            let _ = end.send(Some(error));
        });
        Self {
            commands,
            places: Arc::new(Semaphore::new(limits.requests_in_flight)),
            next: AtomicU64::new(1),
            ended,
            task,
        }
    }

    fn send(&self, command: Command) -> Result<(), Error> {
        self.commands.send(command).map_err(|_| self.end_reason())
    }

    fn end_reason(&self) -> Error {
        self.ended.borrow().clone().unwrap_or_else(|| Error::closed("the link was closed"))
    }

    /// Speaks as `us` from here on.
    pub fn introduce(&self, us: Arc<Introduction>) -> Result<(), Error> {
        self.send(Command::Introduce(us))
    }

    /// Begins a call.
    pub async fn call(&self, call: Call) -> Result<RunningCall, Error> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| self.end_reason())?;
        let key = CallId(self.next.fetch_add(1, Ordering::Relaxed));
        let (push, steps) = steps();
        self.send(Command::Call(key, Box::new(call), push))?;
        Ok(RunningCall { key, steps, commands: self.commands.clone(), done: false, _place: place })
    }

    /// Sends a notification.
    pub fn tell(&self, note: Note) -> Result<(), Error> {
        self.send(Command::Tell(note))
    }

    /// Closes the link: what was told is sent, what is in flight fails.
    pub async fn close(&self) {
        let (done, wait) = oneshot::channel();
        if self.commands.send(Command::Close(done)).is_ok() {
            // An error here means that the task is gone, which is what was wanted.
            let _ = wait.await;
        }
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
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("duplex::Client").finish_non_exhaustive()
    }
}

/// A call in flight; dropping it takes it back.
#[derive(Debug)]
pub struct RunningCall {
    key: CallId,
    steps: Steps,
    commands: mpsc::UnboundedSender<Command>,
    done: bool,
    _place: tokio::sync::OwnedSemaphorePermit,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Command")
    }
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
        self.commands.send(Command::Answer(self.key, answers)).map_err(|_| Error::closed("the link was closed"))
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if !self.done {
            // A link that is gone has nothing left to cancel.
            let _ = self.commands.send(Command::Cancel(self.key));
        }
    }
}

type Replies = FuturesUnordered<std::pin::Pin<Box<dyn Future<Output = (Id, Outcome)> + Send>>>;

struct Owner<R, W> {
    peer: peer::Client,
    reader: R,
    writer: W,
    inbox: mpsc::UnboundedReceiver<Command>,
    listener: Arc<dyn Listener>,
    calls: BTreeMap<CallId, StepsIn>,
}

enum Woken {
    Came(Result<Option<Came>, Error>),
    Command(Option<Command>),
    Reply(Id, Outcome),
    Flushed(Result<(), Error>),
    Late,
}

impl<R: ReadFrames, W: WriteFrames> Owner<R, W> {
    async fn run(mut self) -> Error {
        let (mut error, waiter) = self.serve().await;
        if waiter.is_none()
            && let Ok(Some(epitaph)) = time::timeout(EPITAPH, self.writer.epitaph()).await
        {
            error = Error::closed(format!("the server {epitaph}"));
        }
        for call in std::mem::take(&mut self.calls).into_values() {
            call.fail(error.clone());
        }
        self.listener.lost(&error);
        self.writer.close().await;
        if let Some(waiter) = waiter {
            // Whoever closed the link may have stopped waiting.
            let _ = waiter.send(());
        }
        error
    }

    async fn serve(&mut self) -> (Error, Option<oneshot::Sender<()>>) {
        let mut replies = Replies::new();
        loop {
            self.settle(&mut replies);
            match self.wait(&mut replies).await {
                Woken::Came(Ok(Some(came))) => {
                    if let Err(error) = self.gulp(came) {
                        self.settle(&mut replies);
                        return (error, None);
                    }
                }
                Woken::Came(Ok(None)) => {
                    self.settle(&mut replies);
                    return (Error::closed("the server closed the link"), None);
                }
                Woken::Came(Err(error)) | Woken::Flushed(Err(error)) => return (error, None),
                Woken::Command(Some(command)) => {
                    let mut next = Some(command);
                    while let Some(command) = next {
                        if let Command::Close(waiter) = command {
                            self.settle(&mut replies);
                            // The link is being given up: what cannot be sent now is not.
                            let _ = time::timeout(LAST_WORDS, self.writer.flush()).await;
                            return (Error::closed("the link was closed here"), Some(waiter));
                        }
                        self.obey(command);
                        next = self.inbox.try_recv().ok();
                    }
                }
                Woken::Command(None) => return (Error::closed("the link was closed here"), None),
                Woken::Reply(id, outcome) => self.peer.reply(id, outcome),
                Woken::Flushed(Ok(())) => {}
                Woken::Late => self.peer.expire(time::Instant::now().into_std()),
            }
        }
    }

    async fn wait(&mut self, replies: &mut Replies) -> Woken {
        let backlog = self.writer.backlog();
        let due = self.peer.timeout();
        if backlog > 0
            && let Some(flushed) = self.writer.flush().now_or_never()
        {
            return Woken::Flushed(flushed);
        }
        // In no order, so that a server that never falls silent keeps neither calls nor deadlines from being heard.
        tokio::select! {
            flushed = self.writer.flush(), if backlog > 0 => Woken::Flushed(flushed),
            came = self.reader.read(), if backlog < BACKLOG => Woken::Came(came),
            command = self.inbox.recv(), if backlog < BACKLOG => Woken::Command(command),
            Some((id, outcome)) = replies.next() => Woken::Reply(id, outcome),
            () = sleep_until(due) => Woken::Late,
        }
    }

    /// Takes what came, and at once what came with it, so that what it causes is sent at once.
    fn gulp(&mut self, came: Came) -> Result<(), Error> {
        self.take(came)?;
        for _ in 1..GULP {
            let Some(came) = self.reader.at_hand() else { break };
            self.take(came)?;
        }
        Ok(())
    }

    fn take(&mut self, came: Came) -> Result<(), Error> {
        let now = time::Instant::now().into_std();
        match came {
            // Nobody can tell whose answer it was, so nobody may be left waiting for it.
            Came::One(Err(Rejected { id: None, fault: Fault::Malformed(Malformed::TooLarge(limit)) })) => {
                let what = format!("the server sent a message of more than {limit} bytes (limit `message_bytes`)");
                return Err(Error::new(Kind::Limit, what));
            }
            Came::One(frame) => self.peer.receive(frame, now),
            Came::Batch(frames) => frames.into_iter().for_each(|frame| self.peer.receive(frame, now)),
            Came::Junk(what) => self.listener.stray(&format!("server writes what is no message: {what}")),
        }
        Ok(())
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Introduce(us) => self.peer.introduce(us),
            Command::Call(key, call, steps) => {
                self.calls.insert(key, steps);
                self.peer.call(key, *call, time::Instant::now().into_std());
            }
            Command::Answer(key, answers) => self.peer.answer(key, answers, time::Instant::now().into_std()),
            Command::Cancel(key) => {
                self.calls.remove(&key);
                self.peer.cancel(key, "the caller took it back");
            }
            Command::Tell(note) => self.peer.tell(note),
            Command::Close(_) => {}
        }
    }

    /// Hands out what happened and puts what is due into the backlog.
    fn settle(&mut self, replies: &mut Replies) {
        while let Some(event) = self.peer.event() {
            match event {
                ClientEvent::Step(key, step @ Step::Done(_)) => {
                    if let Some(call) = self.calls.remove(&key) {
                        call.push(step);
                    }
                }
                ClientEvent::Step(key, step) => {
                    if let Some(call) = self.calls.get(&key) {
                        call.push(step);
                    }
                }
                ClientEvent::Overdue(key) => {
                    if let Some(call) = self.calls.remove(&key) {
                        call.fail(Error::new(Kind::Overdue, "the server did not answer in time"));
                    }
                }
                ClientEvent::Note(note) => match legacy::change(&note.method, note.params.as_ref()) {
                    Some(change) => self.listener.changed(change),
                    None => self.listener.noted(note),
                },
                ClientEvent::Asked(id, ask) => {
                    let answer = self.listener.asked(ask);
                    replies.push(Box::pin(async move { (id, answer.await) }));
                }
                ClientEvent::Stray(what) => self.listener.stray(&what),
            }
        }
        while let Some(frame) = self.peer.transmit() {
            self.writer.push(frame);
        }
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
