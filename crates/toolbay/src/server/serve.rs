//! The transports that a server can be served over, in one word each.

use std::{fmt, future::Future, net::SocketAddr, sync::Arc, time::Duration};

use tokio::net::{TcpListener, ToSocketAddrs};
use tokio_util::sync::CancellationToken;
use toolbay_transport::{
    Error, Kind, duplex,
    http::server::{self as transport, Admit, Endpoint, Names, Pair},
    stdio::{
        own::{OwnInput, OwnOutput},
        wire::{FrameLines, LineFrames},
    },
};

use super::{builder::Server, signal};

/// Something that carries a server: [`stdio()`] or [`http()`].
pub trait Serve: Send {
    /// Serves to the end.
    fn serve<S: Send + Sync + 'static>(self, server: Server<S>) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Our own standard input and output, for whoever started this program.
///
/// Ends when the input does, or on SIGINT or SIGTERM; calls under way then have a few seconds left. A second signal ends the
/// process at once. Nothing else may write to standard output.
pub fn stdio() -> Stdio {
    Stdio { options: duplex::Options::default() }
}

/// See [`stdio()`].
#[derive(Clone, Debug)]
pub struct Stdio {
    options: duplex::Options,
}

impl Stdio {
    /// How long calls under way may go on after the end of input.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.options.grace = grace;
        self
    }

    /// Says when to come to an end, beside the end of input and signals:
    /// [`CancellationToken::cancel`](crate::CancellationToken) on another of its clones.
    #[must_use]
    pub fn shutdown(mut self, shutdown: CancellationToken) -> Self {
        self.options.shutdown = shutdown;
        self
    }
}

impl Serve for Stdio {
    async fn serve<S: Send + Sync + 'static>(self, server: Server<S>) -> Result<(), Error> {
        let broken = |error| Error::new(Kind::Closed, "standard input and output cannot be used").caused_by(error);
        let input = FrameLines::new(OwnInput::open().map_err(broken)?);
        let output = LineFrames::new(OwnOutput::open().map_err(broken)?);
        let _signals = signal::ending(&self.options.shutdown);
        match duplex::serve(Arc::new(server), input, output, self.options).await {
            // Whoever started us may leave whenever it likes.
            Err(error) if error.kind() == Kind::Closed => Ok(()),
            end => end,
        }
    }
}

/// An endpoint at `/mcp` on this address, for clients of every revision.
///
/// It may be called by the names of this machine alone (`localhost`, `127.0.0.1`), and from pages of this machine, until
/// [`Http::hosts`] and [`Http::origins`] say otherwise. Ends in order on SIGINT or SIGTERM; a second one ends the process at
/// once.
pub fn http<A: ToSocketAddrs + Send>(address: A) -> Http<A> {
    let (options, shutdown) = (transport::Options::default(), CancellationToken::new());
    Http { address, options, shutdown, bound: Box::new(|_| {}) }
}

/// See [`http()`].
pub struct Http<A> {
    address: A,
    options: transport::Options,
    shutdown: CancellationToken,
    bound: Box<dyn FnOnce(SocketAddr) + Send>,
}

impl<A> Http<A> {
    /// The transport's own options, all of them.
    #[must_use]
    pub fn options(self, options: transport::Options) -> Self {
        Self { options, ..self }
    }

    /// By which names it may be called (`Host`).
    #[must_use]
    pub fn hosts(mut self, hosts: Names) -> Self {
        self.options.hosts = hosts;
        self
    }

    /// Pages of which origins may call it (`Origin`).
    #[must_use]
    pub fn origins(mut self, origins: Names) -> Self {
        self.options.origins = origins;
        self
    }

    /// Who is calling, told from the head of each request.
    #[must_use]
    pub fn admit(mut self, admit: Admit) -> Self {
        self.options.admit = admit;
        self
    }

    /// Offers HTTP+SSE of 2024-11-05 beside it.
    #[must_use]
    pub fn with_sse(mut self, paths: Pair) -> Self {
        self.options.sse = Some(paths);
        self
    }

    /// Hears the address once it is taken; of use where its port was left to the system.
    #[must_use]
    pub fn on_bound(mut self, hear: impl FnOnce(SocketAddr) + Send + 'static) -> Self {
        self.bound = Box::new(hear);
        self
    }

    /// Says when to come to an end, beside signals: [`CancellationToken::cancel`](crate::CancellationToken) on another of
    /// its clones.
    #[must_use]
    pub fn shutdown(mut self, shutdown: CancellationToken) -> Self {
        self.shutdown = shutdown;
        self
    }
}

impl<A: ToSocketAddrs + Send> Serve for Http<A> {
    async fn serve<S: Send + Sync + 'static>(self, server: Server<S>) -> Result<(), Error> {
        let taken = |error| Error::new(Kind::Unreachable, "the address cannot be listened on").caused_by(error);
        let listener = TcpListener::bind(self.address).await.map_err(taken)?;
        (self.bound)(listener.local_addr().map_err(taken)?);
        let _signals = signal::ending(&self.shutdown);
        let endpoint = Endpoint::new(Arc::new(server), self.options);
        let lost = |error| Error::closed("the endpoint can no longer listen").caused_by(error);
        transport::serve(listener, endpoint, self.shutdown).await.map_err(lost)
    }
}

impl<A: fmt::Debug> fmt::Debug for Http<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("address", &self.address).field("options", &self.options).finish_non_exhaustive()
    }
}
