//! Tools and calls (spec: server/tools).

use super::{
    CacheScope, Conform, ContentBlock, Icon, InputResponses, Meta, Number, ResultType, TaskMetadata,
    content::conform_structured,
    list::{conform_cache, conform_result},
    meta::conform_meta,
    words::{choices, words},
};
use crate::{
    raw::Raw,
    revision::{Feature as F, Revision},
};

words! {
    /// Something a model can call.
    Tool {
        need {
            /// For programs.
            name: String = "name",
            /// What arguments it takes: a JSON Schema whose root is an object.
            input_schema: Raw = "inputSchema",
        }
        may {
            /// For people.
            title: String = "title",
            /// What it does, for the model.
            description: String = "description",
            /// What its structured content looks like.
            output_schema: Raw = "outputSchema",
            /// Hints; a server's claims.
            annotations: ToolAnnotations = "annotations",
            /// Pictures.
            icons: Vec<Icon> = "icons",
            /// How it runs (2025-11-25).
            execution: ToolExecution = "execution",
            /// About the tool.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// What a tool claims about itself; the defaults are the careful ones.
    #[derive(Default)]
    ToolAnnotations {
        may {
            /// For people.
            title: String = "title",
            /// Changes nothing (default: no).
            read_only_hint: bool = "readOnlyHint",
            /// May destroy (default: yes).
            destructive_hint: bool = "destructiveHint",
            /// Calling again changes nothing more (default: no).
            idempotent_hint: bool = "idempotentHint",
            /// Reaches beyond a closed world (default: yes).
            open_world_hint: bool = "openWorldHint",
        }
    }
}

choices! {
    /// Whether a tool runs as a task (2025-11-25).
    TaskSupport {
        /// Never; the default.
        Forbidden = "forbidden",
        /// If the caller wants.
        Optional = "optional",
        /// Only so.
        Required = "required",
    }
}

words! {
    /// How a tool runs (2025-11-25).
    #[derive(Default)]
    ToolExecution {
        may {
            /// Whether as a task.
            task_support: TaskSupport = "taskSupport",
        }
    }
}

words! {
    /// Result of `tools/list`.
    #[derive(Default)]
    ListToolsResult {
        need {
            /// One page of them.
            tools: Vec<Tool> = "tools",
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
    /// Parameters of `tools/call`.
    #[derive(Default)]
    CallToolParams {
        need {
            /// Which tool.
            name: String = "name",
        }
        may {
            /// An object that fits the tool's schema.
            arguments: Raw = "arguments",
            /// Run it as a task (2025-11-25).
            task: TaskMetadata = "task",
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
    /// Result of `tools/call`.
    #[derive(Default)]
    CallToolResult {
        fill {
            /// For the model and for people.
            content: Vec<ContentBlock> = "content",
        }
        may {
            /// Whether the tool failed; the model reads why.
            is_error: bool = "isError",
            /// What this result is.
            result_type: ResultType = "resultType",
            /// About the result.
            meta: Meta = "_meta",
        }
        any {
            /// For programs: what the tool's output schema describes.
            structured_content = "structuredContent",
        }
    }
}

impl Tool {
    /// What to show people: the title, wherever it stands, else the name (spec: basic/index).
    pub fn shown(&self) -> &str {
        let hinted = self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or(hinted).unwrap_or(&self.name)
    }
}

impl CallToolResult {
    /// Blocks of content.
    pub fn of(content: impl Into<Vec<ContentBlock>>) -> Self {
        Self { content: content.into(), ..Self::new() }
    }

    /// One text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of([ContentBlock::text(text)])
    }

    /// Structured content and its mirror in text.
    pub fn structured(value: Raw) -> Self {
        Self { structured_content: Some(value.clone()), ..Self::text(format!("{value:?}")) }
    }

    /// A failure that the model reads.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: Some(true), ..Self::text(text) }
    }

    /// Whether the tool failed.
    pub fn failed(&self) -> bool {
        self.is_error == Some(true)
    }
}

impl Conform for Tool {
    fn conform(&mut self, revision: Revision) {
        let Self {
            name: _,
            input_schema: _, // keywords that an old client may not know are never rewritten
            title,
            description: _,
            output_schema,
            annotations,
            icons,
            execution,
            meta,
            rest: _,
        } = self;
        if let (Some(title), false) = (&title, revision.has(F::Titles)) {
            annotations.get_or_insert_default().title.get_or_insert_with(|| title.clone());
        }
        revision.keep(F::Titles, title);
        revision.keep(F::ToolAnnotations, annotations);
        annotations.conform(revision);
        revision.keep(F::StructuredOutput, output_schema);
        if output_schema.as_ref().is_some_and(|schema| !describes_object(schema)) {
            revision.keep(F::AnyStructure, output_schema);
        }
        revision.keep(F::Icons, icons);
        icons.conform(revision);
        revision.keep(F::CoreTasks, execution);
        revision.keep(F::ItemMeta, meta);
    }
}

/// Whether the root of a schema says `"type": "object"`.
fn describes_object(schema: &Raw) -> bool {
    schema.get("type").is_some_and(|kind| kind.as_text().as_deref() == Some("object"))
}

impl Conform for ToolAnnotations {
    fn conform(&mut self, _: Revision) {
        let Self { title: _, read_only_hint: _, destructive_hint: _, idempotent_hint: _, open_world_hint: _, rest: _ } =
            self;
    }
}

impl Conform for ListToolsResult {
    fn conform(&mut self, revision: Revision) {
        let Self { tools, next_cursor: _, ttl_ms, cache_scope, result_type, meta, rest: _ } = self;
        tools.conform(revision);
        conform_cache(ttl_ms, cache_scope, revision);
        conform_result(result_type, meta, revision);
    }
}

impl Conform for CallToolParams {
    fn conform(&mut self, revision: Revision) {
        let Self { name: _, arguments: _, task, input_responses, request_state, meta, rest: _ } = self;
        revision.keep(F::CoreTasks, task);
        revision.keep(F::Stateless, input_responses);
        revision.keep(F::Stateless, request_state);
        conform_meta(meta, revision);
    }
}

impl Conform for CallToolResult {
    fn conform(&mut self, revision: Revision) {
        let Self { content, is_error: _, result_type, meta, structured_content, rest: _ } = self;
        conform_structured(structured_content, content, revision);
        content.conform(revision);
        conform_result(result_type, meta, revision);
    }
}
