//! The kinds of content, one object each.

use super::{ContentBlock, conform_structured};
use crate::{
    raw::Raw,
    revision::{Feature as F, Revision},
    types::{Annotations, Conform, Icon, Meta, Number, ResourceContents, words::words},
};

words! {
    /// Text.
    #[derive(Default)]
    TextContent: "type" = "text" {
        need {
            /// The text.
            text: String = "text",
        }
        may {
            /// Hints.
            annotations: Annotations = "annotations",
            /// About the block.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// A picture.
    #[derive(Default)]
    ImageContent: "type" = "image" {
        need {
            /// Base64.
            data: String = "data",
            /// What the data is.
            mime_type: String = "mimeType",
        }
        may {
            /// Hints.
            annotations: Annotations = "annotations",
            /// About the block.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Sound.
    #[derive(Default)]
    AudioContent: "type" = "audio" {
        need {
            /// Base64.
            data: String = "data",
            /// What the data is.
            mime_type: String = "mimeType",
        }
        may {
            /// Hints.
            annotations: Annotations = "annotations",
            /// About the block.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// A resource that may be read, by its URI.
    #[derive(Default)]
    ResourceLink: "type" = "resource_link" {
        need {
            /// Where it is read.
            uri: String = "uri",
            /// For programs.
            name: String = "name",
        }
        may {
            /// For people.
            title: String = "title",
            /// What it is.
            description: String = "description",
            /// What reading it gives.
            mime_type: String = "mimeType",
            /// Its size in bytes.
            size: Number = "size",
            /// Hints.
            annotations: Annotations = "annotations",
            /// Pictures.
            icons: Vec<Icon> = "icons",
            /// About the link.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// A resource's contents, in place.
    #[derive(Default)]
    EmbeddedResource: "type" = "resource" {
        need {
            /// The contents.
            resource: ResourceContents = "resource",
        }
        may {
            /// Hints.
            annotations: Annotations = "annotations",
            /// About the block.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// A model asks for a tool (sampling only).
    ToolUseContent: "type" = "tool_use" {
        need {
            /// Names the result.
            id: String = "id",
            /// Which tool.
            name: String = "name",
            /// With what; an object.
            input: Raw = "input",
        }
        may {
            /// About the block.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// What a tool gave a model (sampling only).
    #[derive(Default)]
    ToolResultContent: "type" = "tool_result" {
        need {
            /// Which use this answers.
            tool_use_id: String = "toolUseId",
        }
        fill {
            /// What it gave.
            content: Vec<ContentBlock> = "content",
        }
        may {
            /// Whether the tool failed.
            is_error: bool = "isError",
            /// About the block.
            meta: Meta = "_meta",
        }
        any {
            /// What it gave, for programs.
            structured_content = "structuredContent",
        }
    }
}

/// What most kinds share.
fn conform_shared(annotations: &mut Option<Annotations>, meta: &mut Option<Meta>, revision: Revision) {
    annotations.conform(revision);
    revision.keep(F::ItemMeta, meta);
}

impl Conform for TextContent {
    fn conform(&mut self, revision: Revision) {
        let Self { text: _, annotations, meta, rest: _ } = self;
        conform_shared(annotations, meta, revision);
    }
}

impl Conform for ImageContent {
    fn conform(&mut self, revision: Revision) {
        let Self { data: _, mime_type: _, annotations, meta, rest: _ } = self;
        conform_shared(annotations, meta, revision);
    }
}

impl Conform for AudioContent {
    fn conform(&mut self, revision: Revision) {
        let Self { data: _, mime_type: _, annotations, meta, rest: _ } = self;
        conform_shared(annotations, meta, revision);
    }
}

impl Conform for ResourceLink {
    fn conform(&mut self, revision: Revision) {
        let Self { uri: _, name: _, title, description: _, mime_type: _, size: _, annotations, icons, meta, rest: _ } =
            self;
        revision.keep(F::Titles, title);
        revision.keep(F::Icons, icons);
        icons.conform(revision);
        conform_shared(annotations, meta, revision);
    }
}

impl Conform for EmbeddedResource {
    fn conform(&mut self, revision: Revision) {
        let Self { resource, annotations, meta, rest: _ } = self;
        resource.conform(revision);
        conform_shared(annotations, meta, revision);
    }
}

impl Conform for ToolUseContent {
    fn conform(&mut self, revision: Revision) {
        let Self { id: _, name: _, input: _, meta, rest: _ } = self;
        revision.keep(F::ItemMeta, meta);
    }
}

impl Conform for ToolResultContent {
    fn conform(&mut self, revision: Revision) {
        let Self { tool_use_id: _, content, is_error: _, meta, structured_content, rest: _ } = self;
        conform_structured(structured_content, content, revision);
        content.conform(revision);
        revision.keep(F::ItemMeta, meta);
    }
}
