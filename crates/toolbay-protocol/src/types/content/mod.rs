//! Content: what tools return, prompts say and models are sampled with (spec: server/tools, client/sampling).
//!
//! A kind that a revision lacks becomes a text that says what was there; content is never lost in silence.

mod block;
mod fit;
mod kinds;
mod mirror;

pub use block::ContentBlock;
pub(crate) use fit::{Place, conform_block, note};
pub use kinds::*;
pub(crate) use mirror::conform_structured;
