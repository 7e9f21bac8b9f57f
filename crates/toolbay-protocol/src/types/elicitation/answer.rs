//! What the user answers.

use crate::{
    raw::{Kind, Raw},
    revision::{Feature as F, Revision},
    types::{
        Conform, Dict, Meta,
        meta::conform_meta,
        words::{choices, words},
    },
};

choices! {
    /// What the user did with a question.
    ElicitAction {
        /// Answered it.
        Accept = "accept",
        /// Said no.
        Decline = "decline",
        /// Looked away.
        Cancel = "cancel",
    }
}

words! {
    /// Answer to `elicitation/create`.
    ElicitResult {
        need {
            /// What the user did.
            action: ElicitAction = "action",
        }
        may {
            /// What the user filled in, by field: text, number, yes or no, or several texts.
            content: Dict<Raw> = "content",
            /// About the answer (until 2025-11-25).
            meta: Meta = "_meta",
        }
    }
}

impl ElicitResult {
    /// The user filled in the form.
    pub fn accept(content: Dict<Raw>) -> Self {
        Self { content: Some(content), ..Self::new(ElicitAction::Accept) }
    }

    /// The user said no.
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// The user looked away.
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }

    /// Whether the user answered.
    pub fn accepted(&self) -> bool {
        self.action == ElicitAction::Accept
    }
}

impl Conform for ElicitResult {
    fn conform(&mut self, revision: Revision) {
        let Self { action: _, content, meta, rest: _ } = self;
        if let (Some(content), false) = (content, revision.has(F::ElicitationModes)) {
            for (_, value) in content.iter_mut().filter(|(_, value)| value.kind() == Kind::Array) {
                let texts: Vec<_> =
                    value.elements().filter_map(|text| text.as_text().map(|t| t.into_owned())).collect();
                *value = Raw::of(&texts.join(", "));
            }
        }
        revision.keep(F::AskMeta, meta);
        conform_meta(meta, revision);
    }
}
