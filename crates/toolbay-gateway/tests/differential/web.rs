//! Endpoints over HTTP on the loopback, and a line to one that breaks off again and again.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::config::{Endpoint, Remote, Url};
use toolbay_transport::{Service, http::server};

/// How an endpoint is reached.
pub(crate) enum Line {
    /// By the two endpoints of 2024-11-05.
    Pair,
    /// By Streamable HTTP.
    Whole,
    /// By Streamable HTTP, over a line that breaks off after each event of a stream.
    Cut,
}

/// Serves, and says where.
pub(crate) async fn listen<S: Service>(service: Arc<S>, line: Line, end: &CancellationToken) -> Endpoint {
    let (listener, address) = bound().await;
    let options = server::Options {
        sse: Some(server::Pair::default()),
        retry: Duration::from_millis(10),
        ..server::Options::default()
    };
    tokio::spawn(server::serve(listener, server::Endpoint::new(service, options), end.clone()));
    let at = |address, path| Remote::bare(Url::parse(&format!("http://{address}{path}")).unwrap());
    match line {
        Line::Pair => Endpoint::Sse(at(address, "/sse")),
        Line::Whole => Endpoint::Http(at(address, "/mcp")),
        Line::Cut => Endpoint::Http(at(cut(address, end.clone()).await, "/mcp")),
    }
}

async fn bound() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// A line to `there` that is cut.
async fn cut(there: SocketAddr, end: CancellationToken) -> SocketAddr {
    let (listener, here) = bound().await;
    tokio::spawn(end.run_until_cancelled_owned(async move {
        loop {
            let (near, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let far = TcpStream::connect(there).await.unwrap();
                let ((mut asks, mut hears), (mut says, mut told)) = (near.into_split(), far.into_split());
                tokio::select! {
                    _ = tokio::io::copy(&mut asks, &mut told) => {}
                    () = until_an_event(&mut says, &mut hears) => {}
                }
            });
        }
    }));
    here
}

/// Passes on what is said until an event with a message in it went by.
async fn until_an_event(says: &mut (impl AsyncReadExt + Unpin), hears: &mut (impl AsyncWriteExt + Unpin)) {
    let (mut piece, mut tail) = (vec![0; 1 << 16], vec![]);
    loop {
        let Ok(read @ 1..) = says.read(&mut piece).await else { return };
        if hears.write_all(&piece[..read]).await.is_err() {
            return;
        }
        tail.extend_from_slice(&piece[..read]);
        // The line after a whole answer is as good as new.
        if tail.ends_with(b"\r\n0\r\n\r\n") {
            tail.clear();
        }
        let has = |what: &[u8]| tail.windows(what.len()).rposition(|window| window == what);
        if has(b"data: {").is_some_and(|at| has(b"\n\n").is_some_and(|end| end > at)) {
            return;
        }
        tail.drain(..tail.len().saturating_sub(1 << 16));
    }
}
