//! `toolbay serve`: one of the embedded servers alone; and what `up` needs of it: stdio, HTTP, signals.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolbay_builtins::everything::Faults;
use toolbay_gateway::limits::Limits;
use toolbay_transport::{
    Service, duplex,
    http::server::{Endpoint, Names, Options, Pair, serve},
    stdio::{
        own::{OwnInput, OwnOutput},
        wire::{FrameLines, LineFrames},
    },
};

use crate::{
    args::{Embedded, Open, Serve},
    exit::Exit,
    target,
};

/// How long a caller may take to come back with an answer.
const LIFE: Duration = Duration::from_secs(15 * 60);

/// Runs it.
pub(crate) async fn run(command: Serve) -> Result<(), Exit> {
    let shutdown = CancellationToken::new();
    end_on_signals(shutdown.clone(), Hangup::Ends);
    match command.server {
        Embedded::Filesystem { path } => {
            let root = toolbay_builtins::filesystem::Root::open(&path);
            let root = root.map_err(|error| Exit::config(error.to_string()))?;
            alone(toolbay_builtins::filesystem::server(root), command.listen, command.open, shutdown).await
        }
        Embedded::Time => alone(toolbay_builtins::time::server(), command.listen, command.open, shutdown).await,
        Embedded::Everything { faults } => {
            let faults = if faults { Faults::Offered } else { Faults::Withheld };
            alone(toolbay_builtins::everything::server(faults), command.listen, command.open, shutdown).await
        }
    }
}

async fn alone(
    server: toolbay::Server,
    listen: Option<SocketAddr>,
    open: Open,
    shutdown: CancellationToken,
) -> Result<(), Exit> {
    // Two of them, each behind a replica of its own, take up what the other began.
    let service = match target::state_key()? {
        Some((_, secret)) => server.sealed_with(secret, LIFE),
        None => server,
    };
    let Some(address) = listen else {
        return over_stdio(Arc::new(service), Limits::default(), shutdown).await;
    };
    check_address(&address, open)?;
    let listener = bind(address).await?;
    if let Ok(address) = listener.local_addr() {
        eprintln!("endpoint http://{address}/mcp");
    }
    let endpoint = Endpoint::new(Arc::new(service), options(open, &Limits::default()));
    let served = serve(listener, endpoint, shutdown).await;
    served.map_err(|error| Exit::unreachable(format!("{address} can no longer be served: {error}")))
}

/// Serves standard input and output within these limits.
pub(crate) async fn over_stdio<S: Service>(
    service: Arc<S>,
    limits: Limits,
    shutdown: CancellationToken,
) -> Result<(), Exit> {
    let stdin = OwnInput::open().map_err(|error| Exit::failed(format!("standard input cannot be read: {error}")))?;
    let stdout = OwnOutput::open().map_err(|error| Exit::failed(format!("standard output is closed: {error}")))?;
    let options = duplex::Options { shutdown, allowance: limits.allowance(), ..duplex::Options::default() };
    let input = FrameLines::within(stdin, limits.request_bytes, limits.server.bounds.json());
    let served = duplex::serve(service, input, LineFrames::new(stdout), options).await;
    // The other end may leave whenever it likes.
    served
        .or_else(|error| if error.kind() == toolbay_transport::Kind::Closed { Ok(()) } else { Err(error) })
        .map_err(|error| Exit::failed(error.to_string()))
}

/// Takes the address.
pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener, Exit> {
    TcpListener::bind(address).await.map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::AddrInUse => "; something listens there already, choose another port with --listen",
            _ => "",
        };
        Exit::unreachable(format!("cannot listen on {address}: {error}{hint}"))
    })
}

/// Beyond this machine only where that was said: there is no authorization yet.
pub(crate) fn check_address(address: &SocketAddr, open: Open) -> Result<(), Exit> {
    if address.ip().is_loopback() || open == Open::ToAll {
        return Ok(());
    }
    let what = "can be reached from other machines, and nobody is asked who they are: add --open if that is meant";
    Err(Exit::usage(format!("{address} {what}")))
}

/// How an endpoint of ours is run.
pub(crate) fn options(open: Open, limits: &Limits) -> Options {
    let names = if open == Open::ToAll { Names::Any } else { Names::Loopback };
    Options { sse: Some(Pair::default()), hosts: names.clone(), origins: names, ..limits.endpoint() }
}

/// What SIGHUP means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hangup {
    /// The terminal is gone: the end.
    Ends,
    /// Something else, which somebody else hears.
    Elsewhere,
}

/// Ends `shutdown` at the first Ctrl-C or SIGTERM, and the process at the second.
pub(crate) fn end_on_signals(shutdown: CancellationToken, hangup: Hangup) {
    // Lives as long as the process.
    tokio::spawn(async move {
        signalled(hangup).await;
        shutdown.cancel();
        signalled(hangup).await;
        std::process::exit(130);
    });
}

#[cfg(unix)]
async fn signalled(meant: Hangup) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut hangup)) = (signal(SignalKind::terminate()), signal(SignalKind::hangup())) else {
        // Without handlers the system ends us by itself.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = hangup.recv(), if meant == Hangup::Ends => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

#[cfg(not(unix))]
async fn signalled(_: Hangup) {
    // Without a handler the system ends us by itself.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
