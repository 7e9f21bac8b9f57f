//! How many definitions a model is shown.

use std::collections::BTreeSet;

use toolbay_gateway::meta::Expose;

use crate::{model::Wire, toolbox::ToolId};

/// How many definitions a model is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Showing {
    /// All of them, the few by which the others are found, or whichever fits.
    pub expose: Expose,
    /// How many tokens the model can read.
    pub context: u32,
    /// Which share of that the definitions may take.
    pub share: f64,
    /// Those that are shown in any case.
    pub pinned: BTreeSet<ToolId>,
}

impl Default for Showing {
    fn default() -> Self {
        Self { expose: Expose::Auto, context: 200_000, share: 0.1, pinned: BTreeSet::new() }
    }
}

/// How many bytes of a definition count as a token: what English and JSON take on average.
const BYTES: usize = 4;

/// About how many tokens so many bytes of definitions are.
pub(super) fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(BYTES)
}

impl Showing {
    /// Whether so many definitions are too many for a wire.
    pub(super) fn too_many(&self, wire: Wire, tools: usize, bytes: usize) -> bool {
        match self.expose {
            Expose::All => most(wire).is_some_and(|most| tools > most),
            Expose::Search => true,
            Expose::Auto => {
                most(wire).is_some_and(|most| tools > most)
                    || tokens(bytes) as f64 > f64::from(self.context) * self.share
            }
        }
    }
}

/// The most definitions a provider takes.
pub(super) fn most(wire: Wire) -> Option<usize> {
    match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => Some(128),
        Wire::Anthropic | Wire::Gemini | Wire::Ollama => None,
    }
}
