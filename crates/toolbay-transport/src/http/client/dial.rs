//! How a connection comes about: TCP, TLS where the address says so. Injectable, so that tests need no network.

use std::{
    fmt, io,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::{BoxFuture, FutureExt};
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{ConfigBuilderExt, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use rustls::ClientConfig;
use tokio::time;
use tower_service::Service;

use super::{
    guard::{Reach, Resolver},
    problem,
    target::Target,
};
use crate::{Error, Kind};

/// Opens connections.
#[derive(Clone)]
pub(crate) struct Dial(Arc<dyn Fn(Uri) -> Dialling + Send + Sync>);

/// A connection on its way.
pub(crate) type Dialling = BoxFuture<'static, Result<Stream, Error>>;

impl Dial {
    /// Opens connections to `url` over the network, each within `limit`.
    pub(super) fn network(url: &Uri, limit: Duration) -> Result<Self, Error> {
        Self::reaching(url, limit, Reach::Anywhere)
    }

    /// The same to the address of `target`, as far as its owner lets it reach.
    pub(super) fn to(target: &Target) -> Result<Self, Error> {
        Self::reaching(&target.url, target.limits.connect, target.reach)
    }

    fn reaching(url: &Uri, limit: Duration, reach: Reach) -> Result<Self, Error> {
        let mut tcp = HttpConnector::new_with_resolver(Resolver::new(reach));
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        // A peer that vanished without a word is noticed in the end.
        tcp.set_keepalive(Some(Duration::from_secs(60)));
        if url.scheme_str() != Some("https") {
            return Ok(Self::by(tcp, limit));
        }
        let tls = HttpsConnectorBuilder::new().with_tls_config(tls()?).https_only().enable_http1().wrap_connector(tcp);
        Ok(Self::by(tls, limit))
    }

    /// Opens connections with `connector`, each within `limit`.
    pub(super) fn by<C>(connector: C, limit: Duration) -> Self
    where
        C: Service<Uri> + Clone + Send + Sync + 'static,
        C::Response: Link + 'static,
        C::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        C::Future: Send,
    {
        Self::with(move |uri: Uri| {
            let mut connector = connector.clone();
            async move {
                let dialling = async {
                    std::future::poll_fn(|cx| connector.poll_ready(cx)).await?;
                    connector.call(uri.clone()).await
                };
                match time::timeout(limit, dialling).await {
                    Ok(Ok(stream)) => Ok(Stream::over(stream)),
                    Ok(Err(error)) => Err(problem::unreachable(&uri, error.into())),
                    Err(_) => Err(problem::slow(&uri, limit)),
                }
            }
            .boxed()
        })
    }

    /// Opens connections as `open` does.
    pub(super) fn with(open: impl Fn(Uri) -> Dialling + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }
}

/// The authorities that this machine trusts; those of browsers where it names none (a bare container).
fn tls() -> Result<ClientConfig, Error> {
    static CONFIG: OnceLock<Result<ClientConfig, rustls::Error>> = OnceLock::new();
    let made = CONFIG.get_or_init(|| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            || ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        Ok(match builder()?.with_native_roots() {
            Ok(native) => native.with_no_client_auth(),
            Err(_) => builder()?.with_webpki_roots().with_no_client_auth(),
        })
    });
    made.clone().map_err(|error| Error::new(Kind::Unreachable, "TLS cannot be set up on this machine").caused_by(error))
}

impl Service<Uri> for Dial {
    type Response = Stream;
    type Error = Error;
    type Future = Dialling;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Dialling {
        self.0(uri)
    }
}

impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dial")
    }
}

/// What a connection must be able to do.
pub(crate) trait Link: Read + Write + Connection + Send + Unpin {}

impl<L: Read + Write + Connection + Send + Unpin> Link for L {}

/// A connection of whichever sort.
pub(crate) struct Stream(Box<dyn Link>);

impl Stream {
    /// A connection over `link`.
    pub(super) fn over(link: impl Link + 'static) -> Self {
        Self(Box::new(link))
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        self.0.connected()
    }
}

impl Read for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, buf)
    }
}

impl Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write_vectored(cx, bufs)
    }
}
