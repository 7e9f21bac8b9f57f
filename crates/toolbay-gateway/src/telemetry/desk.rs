//! The handle that requests and the exporter share.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::SystemTime,
};

use tokio::sync::mpsc;
use toolbay_transport::{Error, Request};

use super::{
    context::{Context, Sampled, SpanId, TraceId},
    durations::Durations,
    export::{self, Delivery, Exporting},
    settings::Settings,
    span::Span,
    trace::Trace,
};
use crate::Bay;

/// Tells a collector what happens; cheap to clone.
#[derive(Clone)]
pub struct Telemetry(pub(super) Arc<Desk>);

/// What all requests share.
pub(super) struct Desk {
    pub(super) settings: Settings,
    pub(super) durations: Durations,
    pub(super) since: SystemTime,
    queue: mpsc::Sender<Span>,
    /// Until somebody exports them.
    waiting: Mutex<Option<mpsc::Receiver<Span>>>,
    pub(super) sent: AtomicU64,
    pub(super) dropped: AtomicU64,
}

/// What became of spans so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// How many the collector has.
    pub sent: u64,
    /// How many were dropped: there was no room for them, or the collector did not take them.
    pub dropped: u64,
}

impl Telemetry {
    /// As these settings want it. Nothing is sent before [`export`](Self::export).
    pub fn new(settings: Settings) -> Self {
        let (queue, waiting) = mpsc::channel(settings.queue);
        Self(Arc::new(Desk {
            settings,
            durations: Durations::default(),
            since: SystemTime::now(),
            queue,
            waiting: Mutex::new(Some(waiting)),
            sent: AtomicU64::default(),
            dropped: AtomicU64::default(),
        }))
    }

    /// Begins to send what there is, until it is finished. `tell` is told, once each time, when that begins to fail, and
    /// when it goes on. Only the first of several calls sends anything.
    pub fn export(&self, bay: &Bay, tell: impl Fn(&str) + Send + Sync + 'static) -> Result<Exporting, Error> {
        let waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let tell: export::Tell = Arc::new(tell);
        let delivery = |place: &_| Delivery::to(place, Arc::clone(&tell));
        export::begin(&self.0, waiting, bay, delivery)
    }

    /// What became of spans so far.
    pub fn told(&self) -> Told {
        Told { sent: self.0.sent.load(Relaxed), dropped: self.0.dropped.load(Relaxed) }
    }

    /// A request comes in; it goes on as one of the trace that it belongs to.
    pub(crate) fn begin(&self, request: &mut Request) -> Box<Trace> {
        Box::new(Trace::begin(&self.0, request))
    }
}

impl Desk {
    /// The contexts of both sides of a request; nothing where no trace goes through here.
    pub(super) fn contexts(&self, parent: Option<&Context>) -> Option<[Context; 2]> {
        self.settings.spans.as_ref()?;
        let mut random = [0; 32];
        // Without random numbers there are no names.
        getrandom::fill(&mut random).ok()?;
        let [a, b, c, d] = std::array::from_fn(|place| {
            let mut part = [0; 8];
            part.copy_from_slice(&random[place * 8..place * 8 + 8]);
            part
        });
        let mut trace = [0; 16];
        trace[..8].copy_from_slice(&a);
        trace[8..].copy_from_slice(&b);
        let trace = parent.map_or(TraceId(trace), |parent| parent.trace);
        let decided = parent.map(|parent| if parent.is_sampled() { Sampled::Yes } else { Sampled::No });
        let sampled = self.settings.sampler.decide(trace, decided);
        let (flags, state) = parent.map_or((0, None), |parent| (parent.flags, parent.state.clone()));
        let of = |span| Context { trace, span: SpanId(span), flags, state: state.clone() }.flagged(sampled);
        Some([of(c), of(d)])
    }

    /// Has a span sent, where there is room.
    pub(super) fn hand_over(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            self.dropped.fetch_add(1, Relaxed);
        }
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Telemetry").field(&self.0.settings).finish()
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("settings", &self.settings).finish_non_exhaustive()
    }
}
