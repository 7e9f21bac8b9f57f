//! An embedding endpoint that somebody configured: tools and requests as points, so that what means the same is found.
//!
//! Asks the endpoint, keeps what it answered, and stops asking one that does not answer. Which tool is nearest is worked out
//! in `toolbay-retrieval`; nothing here knows a catalog, and without an endpoint nothing here runs.

mod ask;
mod breaker;
mod carry;
mod embedder;
mod known;
mod notices;
mod row;
mod settings;
mod store;
#[cfg(test)]
mod tests;
mod wire;
mod work;

pub use ask::Meaning;
pub use carry::{Carry, Failed, over_http};
pub(crate) use embedder::Vectored;
pub use embedder::{Embedded, Embedder, Tell};
pub use settings::Settings;
