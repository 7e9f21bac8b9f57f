//! What is read of a tool when it is put in.

use crate::tokens::{self, Word};
use crate::tool::Tool;

/// The words of a tool, field by field.
pub(super) struct Read {
    pub(super) name: Vec<Word>,
    pub(super) description: Vec<Word>,
    pub(super) params: Vec<Word>,
    pub(super) server: Vec<Word>,
}

impl Read {
    pub(super) fn of(tool: &Tool) -> Self {
        let mut params = Vec::new();
        for param in &tool.params {
            params.extend(tokens::words(&param.name));
            params.extend(tokens::words(&param.description));
        }
        Self {
            name: tokens::words(&tool.name),
            description: tokens::words(&tool.description),
            params,
            server: tokens::words(&tool.server),
        }
    }

    /// The terms of the fields, in the order in which they are weighed.
    pub(super) fn terms(&self) -> [Vec<&str>; 4] {
        [&self.name, &self.description, &self.params, &self.server]
            .map(|words| words.iter().map(|word| word.term.as_str()).collect())
    }
}
