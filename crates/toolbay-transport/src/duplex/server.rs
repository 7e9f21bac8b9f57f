//! The server's end of a duplex link: one task that reads, serves and writes.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{
    FutureExt, Stream, StreamExt, future, poll,
    stream::{self, AbortHandle, Abortable, SelectAll},
    task::AtomicWaker,
};
use tokio::{sync::oneshot, task::coop::has_budget_remaining, time};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use toolbay_protocol::{
    Feature, Method, Raw,
    exchange::{Answers, Round},
    fault::ErrorObject,
    greeting::{Device, Introduction},
    peer::{self, Allowance, Called, Presence, ServeId, ServerEvent},
    watch::{Filter, legacy},
};

use super::{
    gate::Gate,
    link::{Came, ReadFrames, WriteFrames},
    serving::{Beginning, Did, listening, subscribing},
    works::Works,
};
use crate::{
    Error,
    service::{Caller, Headers, Principal, Request, Service},
    talk::{Manner, Progress, Said, talk_with},
    watch::Watch,
};

/// How many bytes may wait to be sent before nothing more is taken in.
const BACKLOG: usize = 8 << 20;
/// How many frames are taken at once before anything is sent; how often work may go on before anything else does.
const GULP: usize = 64;

/// How a link is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whom the other end is taken for.
    pub principal: Principal,
    /// How long calls in flight may go on after the end of input, or after `shutdown`.
    pub grace: Duration,
    /// Says when to come to an end.
    pub shutdown: CancellationToken,
    /// Names the session, where one is opened.
    pub session: Option<Arc<str>>,
    /// What the client may have going at once.
    pub allowance: Allowance,
    /// On which device the other end is, where it says nothing of that itself.
    pub device: Option<Device>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            principal: Principal::Local,
            grace: Duration::from_secs(5),
            shutdown: CancellationToken::new(),
            session: Some("link".into()),
            allowance: Allowance::default(),
            device: None,
        }
    }
}

/// Serves a link to its end.
pub async fn serve<S: Service, R: ReadFrames, W: WriteFrames>(
    service: Arc<S>,
    reader: R,
    writer: W,
    options: Options,
) -> Result<(), Error> {
    let peer = peer::Server::new(service.profile()).allowing(options.allowance);
    let task = Arc::new(AtomicWaker::new());
    let shutdown = Box::pin(options.shutdown.clone().cancelled_owned());
    let mut host = Host {
        service,
        peer,
        reader,
        writer,
        options,
        caller: None,
        works: Works::of(&task),
        work: SelectAll::new(),
        aborts: BTreeMap::new(),
        asked: BTreeMap::new(),
        watches: SelectAll::new(),
        subscriptions: BTreeMap::new(),
        ending: CancellationToken::new(),
        presence: Presence::new(),
        in_a_row: 0,
        since_yield: 0,
        turn: 0,
        input: Gate::of(&task),
        streams: Gate::of(&task),
        end: Gate::of(&task),
        task,
        shutdown,
        grace: None,
    };
    let end = host.run().await;
    host.writer.close().await;
    end
}

type Work = Pin<Box<dyn Stream<Item = (ServeId, Did)> + Send>>;
type Changes = Pin<Box<dyn Stream<Item = toolbay_protocol::watch::Change> + Send>>;

struct Host<S: Service, R, W> {
    service: Arc<S>,
    peer: peer::Server,
    reader: R,
    writer: W,
    options: Options,
    caller: Option<Arc<Caller>>,
    works: Works,
    /// Subscriptions that are asked for, or have a request of their own.
    work: SelectAll<Abortable<Work>>,
    aborts: BTreeMap<ServeId, AbortHandle>,
    asked: BTreeMap<(ServeId, Round), oneshot::Sender<Answers>>,
    watches: SelectAll<Abortable<Changes>>,
    subscriptions: BTreeMap<String, AbortHandle>,
    /// Ends what would never end by itself.
    ending: CancellationToken,
    /// Whether the client is there: at the end of input it has left, whatever still goes on.
    presence: Presence,
    /// How often work went on since anything else could.
    in_a_row: usize,
    /// How often anything happened since other tasks could go on.
    since_yield: usize,
    /// Who is heard first next time.
    turn: u8,
    /// Wakes the task that serves the link.
    task: Arc<AtomicWaker>,
    input: Gate,
    streams: Gate,
    end: Gate,
    shutdown: Pin<Box<WaitForCancellationFutureOwned>>,
    /// When calls in flight are no longer waited for.
    grace: Option<Pin<Box<time::Sleep>>>,
}

/// A session is left also where whoever carries the link drops it.
impl<S: Service, R, W> Drop for Host<S, R, W> {
    fn drop(&mut self) {
        if let Some(caller) = &self.caller {
            self.service.left(caller);
        }
    }
}

enum Woken {
    Came(Result<Option<Came>, Error>),
    Did(ServeId, Did),
    Changed(toolbay_protocol::watch::Change),
    Flushed(Result<(), Error>),
    Shutdown,
    GraceOver,
}

impl<S: Service, R: ReadFrames, W: WriteFrames> Host<S, R, W> {
    async fn run(&mut self) -> Result<(), Error> {
        loop {
            self.settle().await;
            if self.grace.is_some() && self.is_idle() {
                return Ok(());
            }
            match poll_fn(|cx| self.poll_woken(cx)).await {
                Woken::Came(Ok(Some(came))) => self.gulp(came),
                Woken::Came(Ok(None)) => {
                    self.come_to_an_end();
                    // Whoever was asked cannot answer any more, and nobody else is to be.
                    self.presence.leave();
                    self.asked.clear();
                }
                Woken::Shutdown => self.come_to_an_end(),
                Woken::Came(Err(error)) | Woken::Flushed(Err(error)) => return Err(error),
                Woken::Did(key, did) => self.did(key, did),
                Woken::Changed(change) => self.peer.tell(legacy::note(&change)),
                Woken::Flushed(Ok(())) => {}
                Woken::GraceOver => return Ok(()),
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.works.is_empty() && self.aborts.is_empty() && self.writer.backlog() == 0
    }

    fn come_to_an_end(&mut self) {
        self.grace = Some(Box::pin(time::sleep(self.options.grace)));
        self.end.open();
        self.end_listening();
    }

    fn poll_woken(&mut self, cx: &mut Context<'_>) -> Poll<Woken> {
        self.since_yield += 1;
        if self.since_yield > GULP || !has_budget_remaining() {
            // Other tasks want to go on too.
            self.since_yield = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.task.register(cx.waker());
        let woken = self.poll_sources(cx);
        if woken.is_pending() {
            self.since_yield = 0;
        }
        woken
    }

    fn poll_sources(&mut self, cx: &mut Context<'_>) -> Poll<Woken> {
        let open = self.grace.is_none();
        // What is done at once is sent together; but who never falls silent is not heard alone, nor without end.
        self.in_a_row += 1;
        let done = self.in_a_row < GULP && self.writer.backlog() < BACKLOG;
        if done && let Poll::Ready((key, did)) = self.works.poll_next() {
            return Poll::Ready(Woken::Did(key, did));
        }
        self.in_a_row = 0;
        if self.writer.backlog() > 0
            && let Poll::Ready(flushed) = self.writer.poll_flush(cx)
            && (flushed.is_err() || !open)
        {
            return Poll::Ready(Woken::Flushed(flushed));
        }
        let room = self.writer.backlog() < BACKLOG;
        // In turns, so that nobody who is always ready keeps another from being heard.
        self.turn = (self.turn + 1) % 3;
        for who in 0..3 {
            let woken = match (self.turn + who) % 3 {
                0 if room && open => self.input.poll(|cx| self.reader.poll_read(cx)).map(Woken::Came),
                1 if room && !done => self.works.poll_next().map(|(key, did)| Woken::Did(key, did)),
                2 if room => self.poll_streams(),
                _ => Poll::Pending,
            };
            if woken.is_ready() {
                return woken;
            }
        }
        self.poll_end()
    }

    fn poll_streams(&mut self) -> Poll<Woken> {
        let Self { streams, work, watches, peer, .. } = self;
        streams.poll(|cx| {
            if let Poll::Ready(Some((key, did))) = work.poll_next_unpin(cx) {
                return Poll::Ready(Woken::Did(key, did));
            }
            if peer.is_initialized()
                && let Poll::Ready(Some(change)) = watches.poll_next_unpin(cx)
            {
                return Poll::Ready(Woken::Changed(change));
            }
            Poll::Pending
        })
    }

    fn poll_end(&mut self) -> Poll<Woken> {
        let Self { end, shutdown, grace, .. } = self;
        end.poll(|cx| match grace {
            None => shutdown.as_mut().poll(cx).map(|()| Woken::Shutdown),
            Some(grace) => grace.as_mut().poll(cx).map(|()| Woken::GraceOver),
        })
    }

    /// Takes what came, and what came with it.
    fn gulp(&mut self, came: Came) {
        // A service may offer more than it did when the link began, or less.
        self.peer.present(self.service.profile());
        self.take(came);
        for _ in 1..GULP {
            let Some(came) = self.reader.at_hand() else { break };
            self.take(came);
        }
    }

    fn take(&mut self, came: Came) {
        match came {
            Came::One(frame) => self.peer.receive(frame),
            Came::Batch(frames) => self.peer.receive_batch(frames),
            Came::Junk(_) => {
                let flaw = toolbay_protocol::scan::Flaw::Syntax(0);
                self.peer.receive(Err(toolbay_protocol::frame::Rejected { id: None, fault: flaw.into() }));
            }
        }
    }

    async fn settle(&mut self) {
        while let Some(event) = self.peer.event() {
            match event {
                ServerEvent::Opened(introduction) => self.opened(introduction).await,
                ServerEvent::Called(called) => self.called(called),
                ServerEvent::Cancelled(key) => {
                    match self.aborts.remove(&key) {
                        Some(abort) => abort.abort(),
                        None => self.works.abort(key),
                    }
                    self.asked.retain(|(asking, _), _| *asking != key);
                }
                ServerEvent::Answered(key, round, answers) => {
                    if let Some(waiting) = self.asked.remove(&(key, round)) {
                        // Its service may have stopped waiting.
                        let _ = waiting.send(answers);
                    }
                }
                ServerEvent::Note(note) => {
                    // A session that is open on both sides is told of changes.
                    self.streams.open();
                    if let Some(caller) = self.caller.clone() {
                        self.service.note(&caller, note).await;
                    }
                }
                ServerEvent::Stray(_) => {}
            }
        }
        while let Some(frame) = self.peer.transmit() {
            self.writer.push(frame);
        }
    }

    async fn opened(&mut self, introduction: Arc<Introduction>) {
        let caller = Arc::new(self.caller(introduction, self.options.session.clone()));
        self.service.joined(&caller);
        let filter = Filter::lists().honoured_by(&self.service.profile());
        if !filter.is_empty() {
            let mut watch = self.watching(&caller, filter);
            // Begun at once where that can be, so that no change is missed.
            let changes = match poll!(&mut watch) {
                Poll::Ready(begun) => begun.ok().map(changes),
                Poll::Pending => Some(Box::pin(stream::once(watch).flat_map(|begun| {
                    let none: Changes = Box::pin(stream::empty());
                    begun.map_or(none, changes)
                })) as Changes),
            };
            self.watches.extend(changes.map(|changes| stream::abortable(changes).0));
            self.streams.open();
        }
        self.caller = Some(caller);
    }

    /// Begins a watch, at once where that can be: what is asked for after it may change something already. Whoever is
    /// slow at that keeps nobody waiting.
    fn watching(&self, caller: &Arc<Caller>, filter: Filter) -> Beginning {
        let (service, caller) = (Arc::clone(&self.service), Arc::clone(caller));
        let mut watch: Beginning = Box::pin(async move { service.watch(&caller, filter).await });
        match (&mut watch).now_or_never() {
            Some(begun) => Box::pin(future::ready(begun)),
            None => watch,
        }
    }

    fn called(&mut self, called: Called) {
        let Called { key, id, method, params, parts, caller, returning, wants_progress } = called;
        let caller = self.caller_of(caller);
        match method {
            Method::Listen => match Filter::asked(params.as_ref(), &caller.introduction, &self.service.profile()) {
                Ok(filter) => {
                    let watch = self.watching(&caller, filter);
                    self.work_on(key, Box::pin(listening(key, id, watch, self.ending.clone())));
                }
                Err(fault) => self.peer.done(key, Err(fault.into())),
            },
            Method::Subscribe => match self.subscribable(params.as_ref()) {
                Ok(Some(uri)) => {
                    let watch = self.watching(&caller, Filter::resource(&uri));
                    self.work_on(key, Box::pin(subscribing(key, uri, watch)));
                }
                Ok(None) => self.peer.done(key, Ok(Raw::EMPTY)),
                Err(error) => self.peer.done(key, Err(error)),
            },
            Method::Unsubscribe => {
                if let Some(abort) = uri_of(params.as_ref()).and_then(|uri| self.subscriptions.remove(&uri)) {
                    abort.abort();
                }
                self.peer.done(key, Ok(Raw::EMPTY));
            }
            method => {
                let manner = manner(&caller);
                let progress = if wants_progress { Progress::Wanted } else { Progress::Unwanted };
                let (cx, talk) = talk_with(manner, progress, self.presence.clone());
                let (params, headers) = (params.unwrap_or(Raw::EMPTY), Headers::NONE);
                let request = Request { method, params, parts, caller, returning, headers };
                self.works.push(key, self.service.begin(request, cx), talk);
            }
        }
    }

    fn caller_of(&self, introduction: Arc<Introduction>) -> Arc<Caller> {
        match &self.caller {
            Some(caller) if Arc::ptr_eq(&caller.introduction, &introduction) => Arc::clone(caller),
            Some(_) | None => Arc::new(self.caller(introduction, None)),
        }
    }

    fn caller(&self, introduction: Arc<Introduction>, session: Option<Arc<str>>) -> Caller {
        let device = self.options.device.clone().filter(|_| introduction.device.is_none());
        Caller { introduction, principal: self.options.principal.clone(), session, device }
    }

    fn work_on(&mut self, key: ServeId, work: Work) {
        let (abort, registration) = AbortHandle::new_pair();
        self.aborts.insert(key, abort);
        self.work.push(Abortable::new(work, registration));
        self.streams.open();
    }

    /// The resource to subscribe to; nothing where that was done before.
    fn subscribable(&self, params: Option<&Raw>) -> Result<Option<String>, ErrorObject> {
        let uri = uri_of(params).ok_or_else(|| ErrorObject::invalid_params("`uri` must be a string"))?;
        if self.subscriptions.contains_key(&uri) {
            return Ok(None);
        }
        self.options.allowance.one_more_subscription(self.subscriptions.len())?;
        Ok(Some(uri))
    }

    fn subscribe(&mut self, uri: String, watch: Watch) {
        let (stream, abort) = stream::abortable(changes(watch));
        if let Some(before) = self.subscriptions.insert(uri, abort) {
            before.abort();
        }
        self.watches.push(stream);
        self.streams.open();
    }

    fn did(&mut self, key: ServeId, did: Did) {
        match did {
            Did::Said(Said::Note(note)) => self.peer.note(key, note),
            Did::Said(Said::Ask(asks, waiting)) => {
                if let Some(round) = self.peer.ask(key, &asks, None) {
                    self.asked.insert((key, round), waiting);
                }
            }
            Did::Said(Said::Withdrawn) => {
                let withdrawn = self.asked.extract_if(.., |(asking, _), waiting| *asking == key && waiting.is_closed());
                for ((_, round), _) in withdrawn {
                    self.peer.withdraw(key, round);
                }
            }
            // A link that is held open all the time has nothing to let go of.
            Did::Said(Said::HangUp(_)) => {}
            Did::Done(outcome) => {
                self.aborts.remove(&key);
                self.peer.done(key, outcome);
            }
            Did::Parted(asks, state) => {
                self.aborts.remove(&key);
                self.peer.ask(key, &asks, state.as_ref());
            }
            Did::Subscribed(uri, watch) => {
                self.aborts.remove(&key);
                let outcome = watch.map(|watch| self.subscribe(uri, watch));
                self.peer.done(key, outcome.map(|()| Raw::EMPTY));
            }
        }
    }

    /// At the end nobody waits for changes any more.
    fn end_listening(&mut self) {
        self.watches.clear();
        self.subscriptions.clear();
        self.ending.cancel();
    }
}

/// How a caller of this revision answers questions.
pub(crate) fn manner(caller: &Caller) -> Manner {
    if caller.introduction.revision.has(Feature::Stateless) { Manner::Returns } else { Manner::Stays }
}

fn uri_of(params: Option<&Raw>) -> Option<String> {
    params?.get("uri")?.as_text().map(std::borrow::Cow::into_owned)
}

fn changes(watch: Watch) -> Changes {
    Box::pin(stream::unfold(watch, |mut watch| async move {
        let change = watch.next().await?;
        Some((change, watch))
    }))
}
