//! What stands around every request: measuring, limiting, refusing.

use std::{future::Future, pin::Pin, sync::Arc};

use toolbay_protocol::exchange::Outcome;
use toolbay_transport::{Cx, Request};

use super::{live::Live, service};

type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;
/// One thing that stands around requests.
pub(crate) type Around = Arc<dyn Fn(Request, Next) -> Work + Send + Sync>;

/// What comes after.
pub struct Next {
    pub(crate) live: Arc<Live>,
    pub(crate) line: Cx,
    pub(crate) place: usize,
}

impl Next {
    /// Goes on with a request, this one or another. Not going on is how a request is refused.
    pub fn run(self, request: Request) -> impl Future<Output = Outcome> + Send {
        let Self { live, line, place } = self;
        async move {
            match live.settings.around.get(place).cloned() {
                Some(around) => around(request, Self { live, line, place: place + 1 }).await,
                None => service::answer(&live, request, line).await,
            }
        }
    }
}

impl std::fmt::Debug for Next {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Next")
    }
}
