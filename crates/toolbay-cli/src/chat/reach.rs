//! The servers whose tools the model has: those of a configuration, one at an address, or one that is started.

use std::sync::Arc;

use toolbay_agent::bay::{Offer, Reach, approach};
use toolbay_gateway::{
    Bay,
    config::{Child, Endpoint, Remote, Url},
    servers,
};

use super::Chat;
use crate::{
    exit::Exit,
    target::{self, Configured},
};

/// Our name, as servers hear it.
const NAME: &str = "toolbay";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is reached, and the bay in between where there is one.
pub(super) struct Reached {
    pub(super) toolbox: Arc<Reach>,
    bay: Option<Bay>,
}

impl Reached {
    /// Ends everything in order.
    pub(super) async fn close(self) {
        self.toolbox.close().await;
        if let Some(bay) = self.bay {
            bay.close().await;
        }
    }
}

/// Opens what the command line means: the servers of a configuration, where that was read.
pub(super) async fn open(chat: &Chat, configured: Option<Configured>, offer: Offer) -> Result<Reached, Exit> {
    match (&chat.target.url, chat.target.command.split_first()) {
        (Some(url), _) => {
            let url = Url::parse(url).map_err(|error| Exit::usage(error.to_string()))?;
            let name = url.uri().host().unwrap_or("server").to_owned();
            one(&name, Endpoint::Http(Remote::bare(url)), offer).await
        }
        (None, Some((command, args))) => {
            let name = std::path::Path::new(command).file_stem().map_or("server".into(), |name| name.to_string_lossy());
            one(&name, Endpoint::Child(Child::literal(command, args.iter().cloned())), offer).await
        }
        (None, None) => several(chat, configured, offer).await,
    }
}

async fn one(name: &str, endpoint: Endpoint, offer: Offer) -> Result<Reached, Exit> {
    let (approach, changes) = approach(NAME, VERSION, offer);
    let connection = servers::endpoint(endpoint)(approach).await;
    let connection = connection.map_err(|error| Exit::unreachable(error.to_string()))?;
    Ok(Reached { toolbox: Arc::new(Reach::over(connection, name, changes).await), bay: None })
}

async fn several(chat: &Chat, configured: Option<Configured>, offer: Offer) -> Result<Reached, Exit> {
    let configured = configured.map_or_else(|| target::configured(chat.target.config.as_deref()), Ok);
    let Configured { mut specs, limits, .. } = configured?;
    if let Some(unknown) = chat.servers.iter().find(|name| specs.iter().all(|spec| *spec.name != ***name)) {
        let there: Vec<_> = specs.iter().map(|spec| &*spec.name).collect();
        return Err(Exit::unknown(format!("no server {unknown:?} is configured; there are: {}", there.join(", "))));
    }
    specs.retain(|spec| chat.servers.is_empty() || chat.servers.iter().any(|name| **name == *spec.name));
    let bay = target::open(specs, limits)?;
    let reach = Reach::bay(bay.clone(), NAME, VERSION, offer).await;
    let reach = reach.map_err(|error| Exit::failed(error.to_string()))?;
    Ok(Reached { toolbox: Arc::new(reach), bay: Some(bay) })
}
