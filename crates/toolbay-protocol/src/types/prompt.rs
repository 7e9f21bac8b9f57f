//! Prompts (spec: server/prompts).

use super::{
    CacheScope, Conform, ContentBlock, Dict, Icon, InputResponses, Meta, Number, ResultType, Role,
    list::{conform_cache, conform_result},
    meta::conform_meta,
    words::words,
};
use crate::revision::{Feature as F, Revision};

words! {
    /// Messages with holes, for a person to pick.
    #[derive(Default)]
    Prompt {
        need {
            /// For programs.
            name: String = "name",
        }
        may {
            /// For people.
            title: String = "title",
            /// What it does.
            description: String = "description",
            /// The holes.
            arguments: Vec<PromptArgument> = "arguments",
            /// Pictures.
            icons: Vec<Icon> = "icons",
            /// About the prompt.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// One hole.
    #[derive(Default)]
    PromptArgument {
        need {
            /// For programs.
            name: String = "name",
        }
        may {
            /// For people.
            title: String = "title",
            /// What it is.
            description: String = "description",
            /// Whether it must be filled.
            required: bool = "required",
        }
    }
}

words! {
    /// One message of a prompt.
    PromptMessage {
        need {
            /// Who says it.
            role: Role = "role",
            /// What is said.
            content: ContentBlock = "content",
        }
    }
}

words! {
    /// Result of `prompts/list`.
    #[derive(Default)]
    ListPromptsResult {
        need {
            /// One page of them.
            prompts: Vec<Prompt> = "prompts",
        }
        may {
            /// Where the next page begins; opaque.
            next_cursor: String = "nextCursor",
            /// How long this may be kept, in milliseconds.
            ttl_ms: Number = "ttlMs",
            /// Who may share it.
            cache_scope: CacheScope = "cacheScope",
            /// What this result is.
            result_type: ResultType = "resultType",
            /// About the result.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Parameters of `prompts/get`.
    #[derive(Default)]
    GetPromptParams {
        need {
            /// Which prompt.
            name: String = "name",
        }
        may {
            /// What to fill in.
            arguments: Dict<String> = "arguments",
            /// Answers to what the server asked.
            input_responses: InputResponses = "inputResponses",
            /// What the server wants back with them; opaque.
            request_state: String = "requestState",
            /// About the request.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Result of `prompts/get`.
    #[derive(Default)]
    GetPromptResult {
        need {
            /// The messages, filled in.
            messages: Vec<PromptMessage> = "messages",
        }
        may {
            /// What the prompt does.
            description: String = "description",
            /// What this result is.
            result_type: ResultType = "resultType",
            /// About the result.
            meta: Meta = "_meta",
        }
    }
}

impl PromptArgument {
    /// A hole that must be filled.
    pub fn required(name: impl Into<String>) -> Self {
        Self { required: Some(true), ..Self::new(name) }
    }
}

impl PromptMessage {
    /// The person says this.
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::User, content)
    }

    /// The model says this.
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

impl Conform for Prompt {
    fn conform(&mut self, revision: Revision) {
        let Self { name: _, title, description: _, arguments, icons, meta, rest: _ } = self;
        revision.keep(F::Titles, title);
        arguments.conform(revision);
        revision.keep(F::Icons, icons);
        icons.conform(revision);
        revision.keep(F::ItemMeta, meta);
    }
}

impl Conform for PromptArgument {
    fn conform(&mut self, revision: Revision) {
        let Self { name: _, title, description: _, required: _, rest: _ } = self;
        revision.keep(F::Titles, title);
    }
}

impl Conform for PromptMessage {
    fn conform(&mut self, revision: Revision) {
        let Self { role: _, content, rest: _ } = self;
        content.conform(revision);
    }
}

impl Conform for ListPromptsResult {
    fn conform(&mut self, revision: Revision) {
        let Self { prompts, next_cursor: _, ttl_ms, cache_scope, result_type, meta, rest: _ } = self;
        prompts.conform(revision);
        conform_cache(ttl_ms, cache_scope, revision);
        conform_result(result_type, meta, revision);
    }
}

impl Conform for GetPromptParams {
    fn conform(&mut self, revision: Revision) {
        let Self { name: _, arguments: _, input_responses, request_state, meta, rest: _ } = self;
        revision.keep(F::Stateless, input_responses);
        revision.keep(F::Stateless, request_state);
        conform_meta(meta, revision);
    }
}

impl Conform for GetPromptResult {
    fn conform(&mut self, revision: Revision) {
        let Self { messages, description: _, result_type, meta, rest: _ } = self;
        messages.conform(revision);
        conform_result(result_type, meta, revision);
    }
}
