//! How much of a result the model is shown, and how much is kept.

use crate::model::Wire;

/// How much of a result the model is shown, and how much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultLimits {
    /// So many characters are shown whole, where neither tool nor result says something else (up to 500,000).
    pub chars: usize,
    /// So many characters of an error.
    pub error: usize,
    /// So many characters are shown of what is longer; the rest is read by its handle.
    pub preview: usize,
    /// So many characters `read_result` gives at once.
    pub page: usize,
    /// The most that is kept in memory, in bytes; what is older is written to files.
    pub memory: u64,
    /// The most that is kept in files, in bytes; what is older is forgotten.
    pub files: u64,
    /// The largest picture that is shown, in bytes of base64.
    pub picture: usize,
    /// The most pictures of one result that are shown.
    pub pictures: usize,
}

/// The most that a tool or a result may ask for.
pub(super) const MOST_ASKED: u32 = 500_000;

impl Default for ResultLimits {
    fn default() -> Self {
        Self {
            chars: 40_000,
            error: 11_000,
            preview: 2_000,
            page: 20_000,
            memory: 64 << 20,
            files: 1 << 30,
            picture: 5 << 20,
            pictures: 10,
        }
    }
}

/// What is done with pictures in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// They are shown.
    Shown,
    /// They are named: their type and size.
    Named,
}

impl Pictures {
    /// What is done where nothing is told: whatever is safe with every model that is reached by that wire.
    pub fn on(wire: Wire) -> Self {
        match wire {
            Wire::Anthropic | Wire::OpenAiResponses | Wire::Gemini => Self::Shown,
            // Many a model behind these sees nothing, and its server refuses the whole question.
            Wire::OpenAiChat | Wire::Ollama => Self::Named,
        }
    }
}
