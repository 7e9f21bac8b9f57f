//! What a model is asked.

use super::SamplingMessage;
use crate::{
    fault::{Fault, Unsupported},
    raw::Raw,
    revision::{Feature as F, Revision},
    types::{
        Conform, Meta, Number, TaskMetadata, Tool,
        meta::conform_meta,
        words::{choices, words},
    },
};

choices! {
    /// Which servers' context the client should add; the last two are deprecated.
    IncludeContext {
        /// Nobody's; the default.
        None = "none",
        /// The asking server's.
        ThisServer = "thisServer",
        /// Every server's.
        AllServers = "allServers",
    }
}

choices! {
    /// Whether the model should use tools.
    ToolChoiceMode {
        /// As it likes; the default.
        Auto = "auto",
        /// It must.
        Required = "required",
        /// It must not.
        None = "none",
    }
}

words! {
    /// Whether the model should use tools.
    #[derive(Default)]
    ToolChoice {
        may {
            /// How.
            mode: ToolChoiceMode = "mode",
        }
    }
}

words! {
    /// Which model would do.
    #[derive(Default)]
    ModelPreferences {
        may {
            /// Names, the best first.
            hints: Vec<ModelHint> = "hints",
            /// How much cost matters, 0 to 1.
            cost_priority: Number = "costPriority",
            /// How much speed matters, 0 to 1.
            speed_priority: Number = "speedPriority",
            /// How much wit matters, 0 to 1.
            intelligence_priority: Number = "intelligencePriority",
        }
    }
}

words! {
    /// A name, or a part of one.
    #[derive(Default)]
    ModelHint {
        may {
            /// The name.
            name: String = "name",
        }
    }
}

words! {
    /// Parameters of `sampling/createMessage`.
    #[derive(Default)]
    CreateMessageParams {
        need {
            /// The conversation.
            messages: Vec<SamplingMessage> = "messages",
            /// How many tokens the answer may have.
            max_tokens: Number = "maxTokens",
        }
        may {
            /// Which model would do.
            model_preferences: ModelPreferences = "modelPreferences",
            /// What to tell the model beforehand.
            system_prompt: String = "systemPrompt",
            /// Whose context to add.
            include_context: IncludeContext = "includeContext",
            /// How much chance.
            temperature: Number = "temperature",
            /// Texts to stop at.
            stop_sequences: Vec<String> = "stopSequences",
            /// For the model's provider; an object.
            metadata: Raw = "metadata",
            /// Tools the model may ask for (since 2025-11-25).
            tools: Vec<Tool> = "tools",
            /// Whether it should (since 2025-11-25).
            tool_choice: ToolChoice = "toolChoice",
            /// Run it as a task (2025-11-25).
            task: TaskMetadata = "task",
            /// About the request (until 2025-11-25).
            meta: Meta = "_meta",
        }
    }
}

impl Conform for CreateMessageParams {
    fn conform(&mut self, revision: Revision) {
        let Self {
            messages,
            max_tokens: _,
            model_preferences: _,
            system_prompt: _,
            include_context: _,
            temperature: _,
            stop_sequences: _,
            metadata: _,
            tools,
            tool_choice,
            task,
            meta,
            rest: _,
        } = self;
        *messages = std::mem::take(messages).into_iter().flat_map(|message| message.conformed(revision)).collect();
        revision.keep(F::SamplingTools, tools);
        tools.conform(revision);
        revision.keep(F::SamplingTools, tool_choice);
        revision.keep(F::CoreTasks, task);
        revision.keep(F::AskMeta, meta);
        conform_meta(meta, revision);
    }

    fn check(&self, revision: Revision) -> Result<(), Fault> {
        if revision.has(F::SamplingTools) || self.tools.as_ref().is_none_or(Vec::is_empty) {
            return Ok(());
        }
        let required = Raw::of(&serde_json::json!({ "sampling": { "tools": {} } }));
        Err(Fault::Unsupported(Unsupported::Capability(required)))
    }
}
