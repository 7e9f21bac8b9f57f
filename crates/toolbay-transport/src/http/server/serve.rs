//! An endpoint on a socket.

use std::{convert::Infallible, io, pin::pin, sync::Arc, time::Duration};

use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    endpoint::Endpoint,
    pulse::{Marked, Pulse},
    run::Runs,
};
use crate::Service;

/// How much more than the head of a request may have is read of a connection at once: one that is a little too large is told
/// so in words. A body is gathered from such pieces, whose room is used again; with more of it, long bodies would cost up to
/// their length once more.
const BEYOND: usize = 8 << 10;

/// Serves connections until `shutdown`, then lets calls in flight end within the endpoint's grace.
///
/// # Errors
/// If the listener fails for good. A connection that fails ends alone.
pub async fn serve<S: Service>(
    listener: TcpListener,
    endpoint: Endpoint<S>,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(endpoint.shared().options.connections));
    let connections = TaskTracker::new();
    // Said to those that outlast everything.
    let cut = CancellationToken::new();
    let _cut = cut.clone().drop_guard();
    let going = shutdown.child_token();
    let accepting = async {
        loop {
            let Ok(place) = Arc::clone(&room).acquire_owned().await else { return Ok(()) };
            let stream = accept(&listener).await?;
            let (endpoint, going, cut) = (endpoint.clone(), going.clone(), cut.clone());
            connections.spawn(async move {
                tokio::select! {
                    biased;
                    () = cut.cancelled() => {}
                    () = connection(stream, endpoint, going) => {}
                }
                drop(place);
            });
        }
    };
    let end = tokio::select! {
        biased;
        () = shutdown.cancelled() => Ok(()),
        end = accepting => end,
    };
    drop(listener);
    going.cancel();
    connections.close();
    endpoint.shutdown().await;
    // All that is left is to be written out.
    let _ = time::timeout(Duration::from_secs(1), connections.wait()).await;
    end
}

/// The next connection. Those that fail before they are ours, and moments without room, are passed over.
async fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // No reply ever waits for an acknowledgement of what went before it.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted => {}
                io::ErrorKind::InvalidInput | io::ErrorKind::NotConnected | io::ErrorKind::Unsupported => {
                    return Err(error);
                }
                // Out of descriptors or memory: others may give some back.
                _ => time::sleep(Duration::from_millis(100)).await,
            },
        }
    }
}

async fn connection<S: Service>(stream: TcpStream, endpoint: Endpoint<S>, going: CancellationToken) {
    let (limit, room) = (endpoint.shared().options.connection_idle, endpoint.shared().options.head_bytes + BEYOND);
    let pulse = Arc::new(Pulse::default());
    let marked = Marked::new(TokioIo::new(stream), Arc::clone(&pulse));
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let busy = pulse.busy();
        // On the heap, so that a connection without a request, or with an open stream, keeps no room for one.
        let response = Box::pin(endpoint.handle(request));
        async move {
            let response = response.await;
            drop(busy);
            Ok::<_, Infallible>(response.map(Runs))
        }
    });
    let mut http = http1::Builder::new();
    // spec: RFC 6585, what is larger still is answered with a bare 431
    http.half_close(false).max_buf_size(room);
    let mut connection = pin!(http.serve_connection(marked, service));
    tokio::select! {
        biased;
        // What went wrong on a connection is its client's business.
        _ = connection.as_mut() => return,
        () = pulse.stopped(limit) => return,
        () = going.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
