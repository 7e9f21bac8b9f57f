//! Connecting an entry that is a service: and finding out whether one over `sse` is not a server of the protocol after all.

use std::{sync::Arc, time::Duration};

use tokio::time;
use toolbay_transport::{
    Approach, Connection, Error, Kind,
    http::client::{self, Errands, Mode, Opened, Reach, Target},
};

use super::outlet::Outlet;
use crate::{
    config::{Answering, Service},
    servers::{Connector, embedded},
};

/// How long an MCP server over HTTP+SSE may take to name its endpoint: it does so at once.
const NAMES_ENDPOINT: Duration = Duration::from_secs(5);

/// Connects such an entry.
pub(crate) fn connector(service: Service) -> Connector {
    Arc::new(move |approach: Approach| {
        let service = service.clone();
        Box::pin(connect(service, approach))
    })
}

async fn connect(service: Service, approach: Approach) -> Result<Connection, Error> {
    let target = target(&service, &approach);
    let errands = Errands::to(&target)?;
    let polled = match &service.answering {
        Answering::AtOnce | Answering::Polled(_) => true,
        Answering::Unknown(_) => !speaks(&errands).await?,
    };
    if polled {
        return embedded(Arc::new(Outlet::new(service, errands)))(approach).await;
    }
    client::connect(Target { mode: Mode::LegacySse, ..target }, approach).await
}

fn target(service: &Service, approach: &Approach) -> Target {
    let limits = client::Limits {
        message_bytes: approach.limits.message_bytes,
        requests_in_flight: approach.limits.requests_in_flight,
        ..client::Limits::default()
    };
    let headers = service.remote.headers.clone();
    Target { headers, limits, reach: Reach::AsNamed, ..Target::new(service.remote.url.uri().clone()) }
}

/// Whether it is an MCP server: its stream begins with the event `endpoint`.
// spec: 2024-11-05 basic/transports, "HTTP with SSE"
async fn speaks(errands: &Errands) -> Result<bool, Error> {
    let asking = async {
        let mut events = match errands.events().await? {
            Opened::Events(events) => events,
            Opened::Answer(answer)
                if answer.status.is_server_error() || matches!(answer.status.as_u16(), 401 | 403 | 429) =>
            {
                let (place, status) = (errands.place(), answer.status);
                let what =
                    format!("{place} answers HTTP {status}, so that it cannot be told whether it is an MCP server");
                return Err(Error::new(Kind::Unreachable, what + "; `poll` of the entry says which it is"));
            }
            Opened::Answer(_) => return Ok(false),
        };
        Ok(events.next().await?.is_some_and(|event| event.name == "endpoint"))
    };
    // A stream that says nothing is not one of an MCP server.
    time::timeout(NAMES_ENDPOINT, asking).await.unwrap_or(Ok(false))
}
