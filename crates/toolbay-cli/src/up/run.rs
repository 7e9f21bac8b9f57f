//! The main job.

use std::{io::IsTerminal as _, net::SocketAddr, sync::Arc, time::Instant};

use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use toolbay_gateway::{Bay, limits::Limits};
use toolbay_transport::http::server::{Endpoint, Options, serve};

use super::{
    acquire::Acquiring,
    board::{Board, Manner},
    embedding::Embedding,
    pages::pages,
    registry, telemetry,
};
use crate::{
    args::Up,
    control::{self, House},
    exit::Exit,
    reload,
    serve::{self as single, Hangup},
    show,
    target::{self, Configured},
};

/// Runs it.
pub(crate) async fn run(up: Up) -> Result<(), Exit> {
    single::check_address(&up.listen, up.open)?;
    let Configured { specs, limits, telemetry: told, expose, acquire, embeddings, file, .. } =
        target::configured(up.config.as_deref())?;
    // The address first: it is what most often fails, and nothing is started in vain.
    let listener = if up.stdio { None } else { Some(single::bind(up.listen).await?) };
    let observer = telemetry::wanted(&told);
    let bay = target::open_observed(specs, limits, observer.as_ref())?;
    bay.expose(expose);
    let acquiring = Acquiring::begin(&bay, file.clone(), acquire);
    let embedding = Embedding::begin(&bay, embeddings);
    let exporting = telemetry::export(observer.as_ref(), &bay);
    let shutdown = CancellationToken::new();
    // Without a terminal that could be gone, it asks to read the configuration anew.
    let hangup = if std::io::stdin().is_terminal() { Hangup::Ends } else { Hangup::Elsewhere };
    single::end_on_signals(shutdown.clone(), hangup);
    let endpoint = listener.as_ref().and_then(|listener| listener.local_addr().ok()).map(|address| url(&address));
    let begun = Instant::now();
    let hot = file.as_deref().map(|file| registry::follow(&bay, file)).transpose()?;
    let (named, house_file) = (up.config, file.clone());
    let house = House { bay: bay.clone(), named, file: house_file, told, hot, acquiring, embedding, endpoint, begun };
    let house = Arc::new(house);
    let hearing = (hangup == Hangup::Elsewhere).then(|| AbortOnDropHandle::new(tokio::spawn(hear(Arc::clone(&house)))));
    let control = control::open(house);
    if let Err(why) = &control {
        eprintln!("{}", show::dim(&format!("`status`, `logs` and `reload` are not answered: {}", show::safe(why))));
    }
    let mut board = Board::new(Manner::of(up.stdio, up.json), file);
    let served = match listener {
        None => over_stdio(&bay, limits, &mut board, &shutdown).await,
        Some(listener) => over_http(&bay, listener, options(&bay, up.open, &limits), &mut board, &shutdown).await,
    };
    drop((control, hearing));
    board.closing();
    bay.close().await;
    if let Some(exporting) = exporting {
        exporting.finish().await;
    }
    board.closed();
    served
}

/// Reads the configuration anew at each SIGHUP.
#[cfg(unix)]
async fn hear(house: Arc<House>) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
    while hangup.recv().await.is_some() {
        let said = match house.reload() {
            Ok(changes) => reload::told(&changes),
            Err(why) => show::safe(&why),
        };
        eprintln!("reload: {}", said.replace('\n', "\nreload: "));
    }
}

#[cfg(not(unix))]
async fn hear(_: Arc<House>) {}

/// How the endpoint is run.
fn options(bay: &Bay, open: crate::args::Open, limits: &Limits) -> Options {
    Options { pages: pages(bay.clone()), ..single::options(open, limits) }
}

async fn over_stdio(bay: &Bay, limits: Limits, board: &mut Board, shutdown: &CancellationToken) -> Result<(), Exit> {
    // A task of its own: what comes in does not wake the board each time.
    let mut serving = tokio::spawn(single::over_stdio(Arc::new(bay.clone()), limits, shutdown.clone()));
    let served = tokio::select! {
        served = &mut serving => served,
        () = board.follow(bay, None) => serving.await,
    };
    served.unwrap_or_else(|error| Err(Exit::failed(format!("the link failed: {error}"))))
}

async fn over_http(
    bay: &Bay,
    listener: TcpListener,
    options: Options,
    board: &mut Board,
    shutdown: &CancellationToken,
) -> Result<(), Exit> {
    let address = listener.local_addr().map_err(|error| Exit::unreachable(error.to_string()))?;
    let endpoint = Endpoint::new(Arc::new(bay.clone()), options);
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
