//! An endpoint for clients of every revision: Streamable HTTP of both eras side by side, HTTP+SSE where it is asked for.
//!
//! [`Endpoint`] turns requests into responses and lives inside any hyper, axum or tower application; [`serve`] runs one on
//! a socket. What is answered is the service's; who may call is decided before (`Options::admit`); TLS and compression
//! belong to whoever stands in front.
//!
//! A request passes: `guard` (Host, Origin), `route` (path, verb, media types, size, era), then `modern`, `session` or
//! `legacy_sse`.

mod body;
mod endpoint;
mod fields;
mod guard;
mod ladder;
mod legacy_sse;
mod listen;
mod media;
mod modern;
mod options;
mod pulse;
mod read;
mod respond;
mod route;
mod run;
mod serve;
mod serving;
mod session;
mod tower;

pub use body::Body;
pub use endpoint::Endpoint;
pub use options::{Admit, Names, Options, Page, Pages, Pair, Path, Refused, Replay};
pub use serve::serve;

#[cfg(test)]
mod tests;
