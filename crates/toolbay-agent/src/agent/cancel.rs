//! Ending a turn from elsewhere.

use tokio::sync::watch;

/// Ends the turn that an agent is in; does nothing between turns. Calls in flight are taken back, and each intent of the
/// transcript is answered.
#[derive(Clone, Debug)]
pub struct Canceller(watch::Sender<u64>);

/// Who hears of it.
#[derive(Clone, Debug)]
pub(super) struct Cancelled(watch::Receiver<u64>);

impl Canceller {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// Ends the turn.
    pub fn cancel(&self) {
        self.0.send_modify(|times| *times += 1);
    }

    /// Hears of what comes from here on.
    pub(super) fn heard(&self) -> Cancelled {
        Cancelled(self.0.subscribe())
    }
}

impl Cancelled {
    /// Returns when somebody cancels.
    pub(super) async fn wait(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
