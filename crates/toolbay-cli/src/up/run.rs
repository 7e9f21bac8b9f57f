//! The main job.

use std::{net::SocketAddr, sync::Arc};

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolbay_gateway::Bay;
use toolbay_transport::http::server::{Endpoint, serve};

use super::board::{Board, Manner};
use crate::{args::Up, exit::Exit, serve as single, target};

/// Runs it.
pub(crate) async fn run(up: Up) -> Result<(), Exit> {
    single::check_address(&up.listen, up.open)?;
    let (specs, file) = target::specs(up.config.as_deref())?;
    // The address first: it is what most often fails, and nothing is started in vain.
    let listener = if up.stdio { None } else { Some(single::bind(up.listen).await?) };
    let bay = target::open(specs)?;
    let shutdown = CancellationToken::new();
    single::end_on_signals(shutdown.clone());
    let mut board = Board::new(Manner::of(up.stdio, up.json), file);
    let served = match listener {
        None => over_stdio(&bay, &mut board, &shutdown).await,
        Some(listener) => over_http(&bay, listener, up.open, &mut board, &shutdown).await,
    };
    board.closing();
    bay.close().await;
    board.closed();
    served
}

async fn over_stdio(bay: &Bay, board: &mut Board, shutdown: &CancellationToken) -> Result<(), Exit> {
    let serving = single::over_stdio(Arc::new(bay.clone()), shutdown.clone());
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => return served,
        () = board.follow(bay, None) => {}
    }
    serving.await
}

async fn over_http(
    bay: &Bay,
    listener: TcpListener,
    open: crate::args::Open,
    board: &mut Board,
    shutdown: &CancellationToken,
) -> Result<(), Exit> {
    let address = listener.local_addr().map_err(|error| Exit::unreachable(error.to_string()))?;
    let endpoint = Endpoint::new(Arc::new(bay.clone()), single::options(open));
    let mut serving = tokio::spawn(serve(listener, endpoint, shutdown.clone()));
    let served = tokio::select! {
        served = &mut serving => served,
        // The board is followed for ever, but is not what is waited for.
        () = async { board.follow(bay, Some(url(&address))).await; std::future::pending().await } => return Ok(()),
    };
    match served {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Exit::unreachable(format!("{address} can no longer be served: {error}"))),
        Err(error) => Err(Exit::failed(format!("the endpoint failed: {error}"))),
    }
}

fn url(address: &SocketAddr) -> String {
    // An address that means "everywhere" is no address to call.
    match (address.ip().is_unspecified(), address) {
        (true, SocketAddr::V4(_)) => format!("http://127.0.0.1:{}", address.port()),
        (true, SocketAddr::V6(_)) => format!("http://[::1]:{}", address.port()),
        (false, _) => format!("http://{address}"),
    }
}
