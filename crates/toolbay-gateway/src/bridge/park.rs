//! Calls that wait here until their caller comes back: a server that asks while a call is open, and a caller that
//! answers by a request of its own. Bounded in number and time; a call is taken out once, so it never runs twice.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{task::JoinHandle, time};
use toolbay_protocol::{Revision, exchange::Asks, peer::Call};
use toolbay_transport::Running;

use super::{errands::Hidden, seal::LIFE};
use crate::servers::Seat;

/// A call that waits, and what it asked.
#[derive(Debug)]
pub(crate) struct Parked {
    pub(crate) ride: Ride,
    pub(crate) asks: Asks,
}

/// A call in flight and its place on a connection, which stays open for it.
#[derive(Debug)]
pub(crate) struct Ride {
    // First, so that it is taken back while the connection is there.
    pub(crate) running: Running,
    pub(crate) seat: Seat,
    pub(crate) heard: Heard,
    /// What follows its outcome.
    pub(crate) then: Then,
    /// The task that it runs as, where its caller need not know of that.
    pub(crate) hidden: Option<Hidden>,
}

/// What follows the outcome of a call.
#[derive(Debug)]
pub(crate) enum Then {
    /// It is the answer to its caller.
    Answer,
    /// The wait, by this call, for the result of the task that it begins.
    Await(Box<Call>),
    /// Somebody here goes on with it.
    HandOver,
}

/// Whether a server surely took a call up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Nothing,
    Something,
}

impl Ride {
    /// The revision in which the server is spoken to.
    pub(crate) fn revision(&self) -> Revision {
        self.seat.connection.meeting().revision
    }
}

/// Where they wait.
#[derive(Clone, Default)]
pub(crate) struct Parking(Arc<Mutex<Places>>);

#[derive(Default)]
struct Places {
    last: u64,
    /// How many calls may wait (limit `parkedCalls`).
    most: usize,
    cars: HashMap<u64, (Parked, Meter)>,
}

/// Waits until a call's time is over; gone with its call.
struct Meter(JoinHandle<()>);

impl Drop for Meter {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Parking {
    /// A place for so many calls.
    pub(crate) fn holding(most: usize) -> Self {
        Self(Arc::new(Mutex::new(Places { most, ..Places::default() })))
    }

    /// Lets more wait, or fewer; those that do go on.
    pub(crate) fn allow(&self, most: usize) {
        self.places().most = most;
    }

    /// How many wait.
    pub(crate) fn count(&self) -> usize {
        self.places().cars.len()
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle that nobody had before; `None` where there is no room.
    pub(crate) fn reserve(&self) -> Option<u64> {
        let mut places = self.places();
        places.last += 1;
        (places.cars.len() < places.most).then_some(places.last)
    }

    /// Lets a call wait. When its time is over it is dropped, which takes it back from the server; and so it is when that
    /// one ends, since nobody can answer it any more.
    pub(crate) fn park(&self, handle: u64, parked: Parked) {
        let (parking, connection) = (Arc::downgrade(&self.0), parked.ride.seat.connection.clone());
        // Held until it is there: its time may be over at once.
        let mut places = self.places();
        let meter = tokio::spawn(async move {
            tokio::select! {
                () = time::sleep(LIFE) => {}
                _ = connection.ended() => {}
            }
            drop(connection);
            drop(parking.upgrade().map(Self).and_then(|parking| parking.take(handle)));
        });
        places.cars.insert(handle, (parked, Meter(meter)));
    }

    /// Takes a call out.
    pub(crate) fn take(&self, handle: u64) -> Option<Parked> {
        self.places().cars.remove(&handle).map(|(parked, _)| parked)
    }
}

impl std::fmt::Debug for Parking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parking").field("cars", &self.places().cars.len()).finish()
    }
}
