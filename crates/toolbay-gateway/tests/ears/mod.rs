//! A client of a bay that hears what changes, and the passing of time on a test's own clock.

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc;
use toolbay_gateway::Bay;
use toolbay_protocol::{Revision, greeting::Introduction, watch::Change};
use toolbay_transport::{Approach, Connection, Listener, connect, duplex};

/// Lets time pass on the test's own clock.
pub(crate) async fn pass(time: Duration) {
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}

/// Hears what changes.
struct Ears(mpsc::UnboundedSender<Change>);

impl Listener for Ears {
    fn changed(&self, change: Change) {
        let _ = self.0.send(change);
    }
}

/// A client of the bay, and what it hears of changes.
pub(crate) async fn client(bay: &Bay, revision: Revision) -> (Connection, mpsc::UnboundedReceiver<Change>) {
    let (ears, heard) = mpsc::unbounded_channel();
    let mut approach = Approach::new(Introduction::anonymous(Revision::LATEST)).heard_by(Arc::new(Ears(ears)));
    approach.revision = Some(revision);
    (connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap(), heard)
}
