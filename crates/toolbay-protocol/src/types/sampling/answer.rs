//! What a model answers.

use crate::{
    revision::{Feature as F, Revision},
    types::{
        Conform, ContentBlock, Meta, OneOrMany, Role,
        content::{Place, conform_block, note},
        meta::conform_meta,
        words::{choices, words},
    },
};

choices! {
    /// Why the model stopped; providers add words of their own.
    StopReason {
        /// It was done.
        EndTurn = "endTurn",
        /// It came to a stop sequence.
        StopSequence = "stopSequence",
        /// It had no tokens left.
        MaxTokens = "maxTokens",
        /// It asks for a tool.
        ToolUse = "toolUse",
    }
}

words! {
    /// Answer to `sampling/createMessage`.
    CreateMessageResult {
        need {
            /// Who says it: the model.
            role: Role = "role",
            /// What is said: one block, or (since 2025-11-25) several.
            content: OneOrMany<ContentBlock> = "content",
            /// Which model.
            model: String = "model",
        }
        may {
            /// Why it stopped.
            stop_reason: StopReason = "stopReason",
            /// About the answer.
            meta: Meta = "_meta",
        }
    }
}

impl CreateMessageResult {
    /// The model says this.
    pub fn text(model: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, ContentBlock::text(text), model)
    }
}

impl Conform for CreateMessageResult {
    fn conform(&mut self, revision: Revision) {
        let Self { role: _, content, model: _, stop_reason: _, meta, rest: _ } = self;
        for block in content.as_mut_slice() {
            conform_block(block, Place::Sampling, revision);
        }
        if !revision.has(F::SamplingTools) {
            let mut blocks = std::mem::replace(content, OneOrMany::Many(Vec::new())).into_vec();
            // An answer cannot be cut in two as a conversation can: several blocks become one text.
            *content = match (blocks.pop(), blocks.is_empty()) {
                (Some(only), true) => only.into(),
                (last, _) => {
                    let texts: Vec<_> = blocks.iter().chain(&last).map(note).collect();
                    ContentBlock::text(texts.join("\n\n")).into()
                }
            };
        }
        conform_meta(meta, revision);
    }
}
