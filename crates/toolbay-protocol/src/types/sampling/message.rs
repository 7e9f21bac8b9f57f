//! What a model is sampled with.

use crate::{
    revision::{Feature as F, Revision},
    types::{
        ContentBlock, Meta, OneOrMany, Role,
        content::{Place, conform_block},
        words::words,
    },
};

words! {
    /// One message of the conversation.
    SamplingMessage {
        need {
            /// Who says it.
            role: Role = "role",
            /// What is said: one block, or (since 2025-11-25) several.
            content: OneOrMany<ContentBlock> = "content",
        }
        may {
            /// About the message (since 2025-11-25).
            meta: Meta = "_meta",
        }
    }
}

impl SamplingMessage {
    /// The person says this.
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::User, content.into())
    }

    /// The model says this.
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::Assistant, content.into())
    }

    /// The message as `revision` can carry it: one per block where a message cannot hold several.
    pub(super) fn conformed(self, revision: Revision) -> Vec<Self> {
        let Self { role, mut content, meta, rest } = self;
        for block in content.as_mut_slice() {
            conform_block(block, Place::Sampling, revision);
        }
        if revision.has(F::SamplingTools) {
            return vec![Self { role, content, meta, rest }];
        }
        let mut blocks = content.into_vec();
        if blocks.is_empty() {
            blocks.push(ContentBlock::text(""));
        }
        blocks
            .into_iter()
            .map(|block| Self { role: role.clone(), content: block.into(), meta: None, rest: rest.clone() })
            .collect()
    }
}
