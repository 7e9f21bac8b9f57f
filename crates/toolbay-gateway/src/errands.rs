//! Requests to services that do not speak the protocol, for whoever stands above the gateway: the HTTP, the TLS and the
//! codec of event streams that are there already (docs/decisions/019-own-wires-to-models.md). Not for servers of the
//! protocol: those are reached through a [`Bay`](crate::Bay).

pub use toolbay_protocol::sse::{Decoder, Item};
pub use toolbay_transport::{
    Error, Kind,
    http::client::{Arriving, Errands, Target},
};
