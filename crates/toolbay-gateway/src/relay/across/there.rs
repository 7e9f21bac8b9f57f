//! A task of the extension at its server.

use std::{sync::Arc, time::Duration};

use toolbay_protocol::{
    Method, Raw,
    exchange::Outcome,
    greeting::Introduction,
    peer::{Call, Patience},
};
use toolbay_transport::Error;

use super::declaring;
use crate::servers::{Seat, Server};

/// Where it is.
pub(super) struct There {
    pub(super) seat: Seat,
    behalf: Arc<Introduction>,
    id: Raw,
    silence: Duration,
}

impl There {
    /// What `server` calls `id`.
    pub(super) fn new(seat: Seat, id: &str, server: &Server) -> Self {
        Self { behalf: declaring(&seat.told), seat, id: Raw::of(id), silence: server.silence() }
    }

    /// On whose behalf it is looked after.
    pub(super) fn behalf(&self) -> Arc<Introduction> {
        Arc::clone(&self.behalf)
    }

    /// Where it stands.
    pub(super) async fn get(&self) -> Result<Outcome, Error> {
        self.request(Method::TasksGet, None).await
    }

    /// Answers what it asks.
    pub(super) async fn update(&self, responses: &Raw) -> Result<Outcome, Error> {
        self.request(Method::TasksUpdate, Some(responses)).await
    }

    /// Takes it back.
    pub(super) async fn cancel(&self) -> Result<Outcome, Error> {
        self.request(Method::TasksCancel, None).await
    }

    async fn request(&self, method: Method, responses: Option<&Raw>) -> Result<Outcome, Error> {
        let params = Raw::EMPTY.with(&[("taskId", Some(&self.id)), ("inputResponses", responses)]);
        let patience = Patience { silence: self.silence, total: Some(self.silence) };
        let call = Call { patience, behalf: Some(self.behalf()), ..Call::new(method, Some(params)) };
        self.seat.connection.request(call).await
    }
}
