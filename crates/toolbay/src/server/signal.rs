//! Ending in order when the system asks for it.

use tokio_util::sync::{CancellationToken, DropGuard};

/// Says `shutdown` at the first SIGINT or SIGTERM, for as long as what is returned is held; ends the process at the
/// second.
pub(crate) fn ending(shutdown: &CancellationToken) -> DropGuard {
    let (over, shutdown) = (CancellationToken::new(), shutdown.clone());
    let served = over.clone();
    // Ends with whoever holds the guard.
    tokio::spawn(async move {
        tokio::select! {
            () = served.cancelled() => return,
            () = asked() => shutdown.cancel(),
        }
        tokio::select! {
            () = served.cancelled() => {}
            () = asked() => std::process::exit(130),
        }
    });
    over.drop_guard()
}

#[cfg(unix)]
async fn asked() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        // Without handlers the system ends us by itself.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

#[cfg(not(unix))]
async fn asked() {
    // Without a handler the system ends us by itself.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
