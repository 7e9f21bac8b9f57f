//! Places for the calls of one connection (limit `requests_in_flight`).

use std::sync::Arc;

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};
use toolbay_protocol::peer::Patience;

use crate::{Error, Kind};

/// Waits for a place while all are taken, no longer than the call may be silent; nothing where the connection is no more.
pub(crate) async fn wait(places: &Arc<Semaphore>, patience: &Patience) -> Result<Option<OwnedSemaphorePermit>, Error> {
    match time::timeout(patience.silence, Arc::clone(places).acquire_owned()).await {
        Ok(place) => Ok(place.ok()),
        Err(_) => {
            let seconds = patience.silence.as_secs_f64();
            let what = format!(
                "no place for another call on this connection within {seconds:.1} s: it has as many in flight as it may \
                 (limit `requests_in_flight`)"
            );
            Err(Error::new(Kind::Limit, what))
        }
    }
}
