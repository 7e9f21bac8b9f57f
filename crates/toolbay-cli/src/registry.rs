//! `toolbay registry`.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::SystemTime};

use clap::{Args as ClapArgs, Subcommand};
use http::StatusCode;
use tokio_util::sync::CancellationToken;
use toolbay_gateway::registry::{self as tools, shelf::Shelf};
use toolbay_transport::http::server::{Endpoint, Options, Page, Pages, serve};

use crate::{
    args::Open,
    exit::Exit,
    serve::{self as single, Hangup},
    target::{self, Configured},
};

#[derive(Debug, ClapArgs)]
pub(crate) struct Registry {
    #[command(subcommand)]
    pub(crate) what: RegistryWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RegistryWhat {
    /// Serve the registry API v0.1
    Serve {
        /// Where to listen
        #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7333")]
        listen: SocketAddr,
        /// Let other machines in, without asking who they are
        #[arg(long, num_args = 0, default_value = "local", default_missing_value = "open")]
        open: Open,
        /// The configuration that holds the entries (default: as for `up`)
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

/// Runs it.
pub(crate) async fn run(registry: Registry) -> Result<(), Exit> {
    let RegistryWhat::Serve { listen, open, config } = registry.what;
    single::check_address(&listen, open)?;
    let Configured { file, limits, .. } = target::configured(config.as_deref())?;
    let file = file.ok_or_else(|| Exit::config("there is no configuration whose entries could be offered"))?;
    let listener = single::bind(listen).await?;
    if let Ok(address) = listener.local_addr() {
        eprintln!("registry http://{address}/v0.1/servers");
    }
    let shutdown = CancellationToken::new();
    single::end_on_signals(shutdown.clone(), Hangup::Ends);
    let options = Options { pages: pages(tools::Registry::at(file)), ..single::options(open, &limits) };
    // Beside the registry there is nothing to be called.
    let nothing = toolbay::Server::new("registry", env!("CARGO_PKG_VERSION"));
    let served = serve(listener, Endpoint::new(Arc::new(nothing), options), shutdown).await;
    served.map_err(|error| Exit::unreachable(format!("{listen} can no longer be served: {error}")))
}

/// What the API answers, from the file as it is at that moment.
fn pages(registry: tools::Registry) -> Pages {
    Pages::by(move |path, query| {
        let api = path.starts_with("/v0.1/") || path == "/v0.1";
        api.then(|| match registry.get_enabled_tools(SystemTime::now()) {
            Ok(entries) => {
                let changed = std::fs::metadata(registry.file()).and_then(|about| about.modified());
                let shelf = Shelf::of_entries(&entries, changed.unwrap_or(SystemTime::UNIX_EPOCH));
                let answer = shelf.answer(path, query);
                let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                Page { status, kind: "application/json", text: answer.body.to_string() }
            }
            Err(error) => {
                let text = serde_json::json!({"error": error.to_string()}).to_string();
                Page { status: StatusCode::INTERNAL_SERVER_ERROR, kind: "application/json", text }
            }
        })
    })
}
