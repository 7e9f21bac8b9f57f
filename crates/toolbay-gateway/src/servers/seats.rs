//! Which connection of a server a caller has a place on: the first one, or one of its own. What becomes of connections is
//! told in `legs` and `tend`.

use std::sync::Arc;

use toolbay_protocol::{Feature, greeting::Introduction};
use toolbay_transport::{Caller, Error, Principal};

use super::{
    isolation::{Open, Who},
    leg::{Leg, Seat},
    legs::{Found, NoLeg, Slot, slot},
    server::Server,
};
use crate::{
    callers::Declared,
    config::Isolation,
    sessions::{Full, Session, Visitor},
};

/// Why a caller has no place on any connection.
#[derive(Debug)]
pub(crate) enum NoSeat {
    /// The server is not connected.
    Away,
    /// A connection of the caller's own could not be opened.
    Failed(Error),
    /// There are too many.
    Full(usize),
    /// The user has too many devices.
    Devices(usize),
}

impl Server {
    /// A place for `caller` on the first connection, where that is open and serves it.
    pub(crate) fn seat_at_once(&self, caller: &Caller, declared: &Declared) -> Option<Seat> {
        let first = self.base.seat(declared.nobody())?;
        self.on_first(first, caller, declared).ok()
    }

    /// The first connection for `caller`; or that one all the same, for whom another is wanted, and what is told on it.
    fn on_first(
        &self,
        first: Seat,
        caller: &Caller,
        declared: &Declared,
    ) -> Result<Seat, (Seat, Who, Arc<Introduction>)> {
        let revision = first.connection.meeting().revision;
        if self.spec.isolation == Isolation::PerDevice {
            return Err((first, Who::of(caller, self.spec.isolation), declared.told(&caller.introduction, revision)));
        }
        if revision.has(Feature::Stateless) {
            return Ok(first.told(declared.told(&caller.introduction, revision)));
        }
        let bare = declared.bare(revision);
        if self.spec.isolation == Isolation::Shared {
            return Ok(first.told(Arc::clone(bare)));
        }
        let told = declared.told(&caller.introduction, revision);
        let alike = Arc::ptr_eq(&told, bare) || told.capabilities == bare.capabilities;
        // Most callers are the user of this program.
        if alike && caller.principal == Principal::Local && !self.is_for_session(caller) {
            return Ok(first.told(Arc::clone(bare)));
        }
        Err((first, Who::of(caller, self.spec.isolation), told))
    }

    /// Whether what serves `caller` serves its session alone.
    fn is_for_session(&self, caller: &Caller) -> bool {
        self.spec.isolation == Isolation::PerSession && caller.session.is_some()
    }

    /// A place for `caller` on a connection that it may use: the first one, or one of its own.
    pub(crate) async fn seat(self: &Arc<Self>, caller: &Caller, declared: &Declared) -> Result<Seat, NoSeat> {
        let first = match self.base.seat(declared.nobody()) {
            Some(seat) => seat,
            // It rests, or a session that its server forgot is being opened again.
            None => self.awake().base.seated(declared.nobody(), self.spec.startup).await.map_err(|_| NoSeat::Away)?,
        };
        match self.on_first(first, caller, declared) {
            Ok(seat) => Ok(seat),
            Err((first, who, told)) => {
                let visitor = || match caller.session {
                    Some(_) => Visitor::Session(Open::of(caller)),
                    None => Visitor::Request,
                };
                let own = self.own_seat(&who, &told, declared, visitor).await;
                // Until here, so that the server does not come to rest meanwhile.
                drop(first);
                own
            }
        }
    }

    pub(super) fn awake(&self) -> &Self {
        self.wake();
        self
    }

    async fn own_seat(
        self: &Arc<Self>,
        who: &Who,
        told: &Arc<Introduction>,
        declared: &Declared,
        visitor: impl Fn() -> Visitor,
    ) -> Result<Seat, NoSeat> {
        // A connection of the newer era declares nothing: each request does.
        let first = if told.revision.has(Feature::Stateless) { declared.bare(told.revision) } else { told };
        loop {
            let session = self.session_of(who, visitor()).map_err(|full| match full {
                Full::Devices(most) => NoSeat::Devices(most),
                Full::Closed => NoSeat::Away,
            })?;
            let (leg, found) = match self.legs.get(self, who.clone(), first, session.as_ref()) {
                Ok(found) => found,
                Err(NoLeg::Full(most)) => return Err(NoSeat::Full(most)),
                Err(NoLeg::Closed) => return Err(NoSeat::Away),
                Err(NoLeg::Over) => continue,
            };
            if let Some(seat) = leg.seat(told) {
                return Ok(seat);
            }
            match leg.seated(told, self.spec.startup).await {
                Ok(seat) => return Ok(seat),
                // It may have been lost this moment; a new one is a fair trial.
                Err(_) if found == Found::Before && self.legs.forgot(&leg) => {}
                // Somebody cleared it while it was being opened: what comes after that has another.
                Err(_) if session.is_some_and(|session| session.is_over()) => {}
                Err(error) => return Err(NoSeat::Failed(error)),
            }
        }
    }

    /// The session of a device, where it is one whom a connection is to serve.
    pub(super) fn session_of(&self, who: &Who, visitor: Visitor) -> Result<Option<Arc<Session>>, Full> {
        match who {
            Who::Device(holder) => self.devices.enter(holder, visitor).map(Some),
            Who::Everyone | Who::User(_) | Who::Session(_) => Ok(None),
        }
    }

    /// Where the connection stands that serves them, or would.
    pub(super) fn slot(&self, who: Who, told: &Introduction) -> Slot {
        let session = match &who {
            Who::Device(holder) => self.devices.find(holder),
            Who::Everyone | Who::User(_) | Who::Session(_) => None,
        };
        slot(who, told, session.as_ref())
    }

    /// Closes a connection.
    pub(crate) fn end_leg(&self, leg: &Arc<Leg>) {
        self.legs.forget(leg);
    }
}
