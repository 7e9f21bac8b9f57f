//! The transports that a server can be served over, in one word each.

use std::{future::Future, sync::Arc, time::Duration};

use toolbay_transport::{
    Error, Kind,
    duplex::{self, Options},
    stdio::{
        own::{OwnInput, OwnOutput},
        wire::{FrameLines, LineFrames},
    },
};

use super::builder::Server;

/// Something that carries a server: [`stdio()`].
pub trait Serve: Send {
    /// Serves to the end.
    fn serve<S: Send + Sync + 'static>(self, server: Server<S>) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Our own standard input and output, for whoever started this program.
///
/// Ends when the input does; calls under way then have a few seconds left. Nothing else may write to standard output.
pub fn stdio() -> Stdio {
    Stdio { options: Options::default() }
}

/// See [`stdio()`].
#[derive(Clone, Debug)]
pub struct Stdio {
    options: Options,
}

impl Stdio {
    /// How long calls under way may go on after the end of input.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.options.grace = grace;
        self
    }

    /// The transport's own options.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options }
    }
}

impl Serve for Stdio {
    async fn serve<S: Send + Sync + 'static>(self, server: Server<S>) -> Result<(), Error> {
        let broken = |error| Error::new(Kind::Closed, "standard input and output cannot be used").caused_by(error);
        let input = FrameLines::new(OwnInput::open().map_err(broken)?);
        let output = LineFrames::new(OwnOutput::open().map_err(broken)?);
        duplex::serve(Arc::new(server), input, output, self.options).await
    }
}
