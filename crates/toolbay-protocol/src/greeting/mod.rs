//! Meeting a peer: who speaks which revision, and what either side said of itself.
//!
//! [`legacy`] is the handshake, [`envelope`] and [`modern`] the words that travel with each request, [`probe`] how a
//! client finds out which of the two a server speaks.

mod device;
pub mod envelope;
mod introduction;
pub mod legacy;
pub mod modern;
pub mod probe;
mod profile;

pub use device::Device;
pub use introduction::Introduction;
pub use profile::{Meeting, Profile};

#[cfg(test)]
mod tests;
