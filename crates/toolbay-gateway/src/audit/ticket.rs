//! Tickets, and the ledger they are closed into.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use toolbay_protocol::Method;
use toolbay_transport::Principal;

use super::event::{End, Event};
use crate::{
    metrics::{Counted, Counters},
    telemetry::Trace,
};

/// How many calls are remembered.
const KEPT: usize = 1000;

/// The last calls, and how many there were.
#[derive(Clone, Default)]
pub struct Ledger(Arc<Book>);

#[derive(Default)]
struct Book {
    last: Mutex<VecDeque<Box<Event>>>,
    all: Counters,
}

impl Ledger {
    /// Opens a ticket for a call.
    pub fn open(&self, principal: Principal, method: Method) -> Ticket {
        let event =
            Event { principal, method, target: None, server: None, end: End::Abandoned, took: Default::default() };
        let event = Box::new(event);
        Ticket { ledger: self.clone(), event: Some(event), counters: None, trace: None, begun: Instant::now() }
    }

    /// The last calls, oldest first.
    pub fn recent(&self) -> Vec<Event> {
        self.0.last.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|event| Event::clone(event)).collect()
    }

    /// How many there were, and how they ended.
    pub fn counted(&self) -> Counted {
        self.0.all.read()
    }

    fn record(&self, event: Box<Event>) {
        let mut events = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() >= KEPT {
            events.pop_front();
        }
        events.push_back(event);
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ledger")
    }
}

/// A call that is under way.
#[derive(Debug)]
pub struct Ticket {
    ledger: Ledger,
    event: Option<Box<Event>>,
    /// Those of the server that is called.
    counters: Option<Arc<Counters>>,
    /// What a collector is told of it.
    trace: Option<Box<Trace>>,
    begun: Instant,
}

impl Ticket {
    /// Notes what the call is of, where that is not known yet.
    pub(crate) fn about(&mut self, target: impl FnOnce() -> Option<Arc<str>>) {
        if let Some(Event { target: unknown @ None, .. }) = self.event.as_deref_mut() {
            *unknown = target();
        }
    }

    /// Notes which server is called.
    pub fn at(&mut self, server: &Arc<str>) {
        if let Some(event) = &mut self.event {
            event.server = Some(Arc::clone(server));
        }
    }

    /// Has it counted for that server too.
    pub(crate) fn counted_by(&mut self, counters: Arc<Counters>) {
        self.counters = Some(counters);
    }

    /// Has it told to a collector too.
    pub(crate) fn traced_by(&mut self, trace: Option<Box<Trace>>) {
        self.trace = trace;
    }

    /// What a collector is told of it, where there is one.
    pub(crate) fn trace(&mut self) -> Option<&mut Trace> {
        self.trace.as_deref_mut()
    }

    /// Closes it.
    pub fn close(mut self, end: End) {
        if let Some(event) = &mut self.event {
            event.end = end;
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(mut event) = self.event.take() {
            event.took = self.begun.elapsed();
            self.ledger.0.all.count(&event.end, event.took);
            if let Some(counters) = &self.counters {
                counters.count(&event.end, event.took);
            }
            if let Some(trace) = self.trace.take() {
                trace.close(&event.end, event.took);
            }
            self.ledger.record(event);
        }
    }
}
