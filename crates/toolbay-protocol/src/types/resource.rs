//! Resources, templates and what reading gives (spec: server/resources).

use super::{
    Annotations, CacheScope, Conform, Icon, InputResponses, Meta, Number, ResultType,
    list::{conform_cache, conform_result},
    meta::conform_meta,
    words::words,
};
use crate::revision::{Feature as F, Revision};

words! {
    /// Something that can be read.
    #[derive(Default)]
    Resource {
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
            /// About the resource.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Many resources at once: a URI with holes.
    #[derive(Default)]
    ResourceTemplate {
        need {
            /// RFC 6570.
            uri_template: String = "uriTemplate",
            /// For programs.
            name: String = "name",
        }
        may {
            /// For people.
            title: String = "title",
            /// What they are.
            description: String = "description",
            /// What reading one gives, where it is the same for all.
            mime_type: String = "mimeType",
            /// Hints.
            annotations: Annotations = "annotations",
            /// Pictures.
            icons: Vec<Icon> = "icons",
            /// About the template.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Contents of a resource: text, or bytes as Base64.
    #[derive(Default)]
    ResourceContents {
        need {
            /// Whose contents.
            uri: String = "uri",
        }
        may {
            /// What they are.
            mime_type: String = "mimeType",
            /// As text.
            text: String = "text",
            /// As Base64.
            blob: String = "blob",
            /// About the contents.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Result of `resources/list`.
    #[derive(Default)]
    ListResourcesResult {
        need {
            /// One page of them.
            resources: Vec<Resource> = "resources",
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
    /// Result of `resources/templates/list`.
    #[derive(Default)]
    ListResourceTemplatesResult {
        need {
            /// One page of them.
            resource_templates: Vec<ResourceTemplate> = "resourceTemplates",
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
    /// Parameters of `resources/read`.
    #[derive(Default)]
    ReadResourceParams {
        need {
            /// What to read.
            uri: String = "uri",
        }
        may {
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
    /// Result of `resources/read`.
    #[derive(Default)]
    ReadResourceResult {
        need {
            /// What was read; several where the URI is a folder of sorts.
            contents: Vec<ResourceContents> = "contents",
        }
        may {
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
    /// Parameters that name a resource: of `resources/subscribe`, `resources/unsubscribe` and
    /// `notifications/resources/updated`.
    #[derive(Default)]
    ResourceParams {
        need {
            /// Which resource.
            uri: String = "uri",
        }
        may {
            /// About the message.
            meta: Meta = "_meta",
        }
    }
}

impl ResourceContents {
    /// Contents as text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::new(uri) }
    }

    /// Contents as Base64.
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { blob: Some(base64.into()), ..Self::new(uri) }
    }

    /// The same contents, which are of this type.
    #[must_use]
    pub fn of_type(self, mime_type: impl Into<String>) -> Self {
        Self { mime_type: Some(mime_type.into()), ..self }
    }
}

impl ReadResourceResult {
    /// One text.
    pub fn text(uri: impl Into<String>, mime_type: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new([ResourceContents::text(uri, text).of_type(mime_type)])
    }

    /// Bytes as Base64.
    pub fn blob(uri: impl Into<String>, mime_type: impl Into<String>, base64: impl Into<String>) -> Self {
        Self::new([ResourceContents::blob(uri, base64).of_type(mime_type)])
    }
}

impl Conform for Resource {
    fn conform(&mut self, revision: Revision) {
        let Self { uri: _, name: _, title, description: _, mime_type: _, size: _, annotations, icons, meta, rest: _ } =
            self;
        revision.keep(F::Titles, title);
        annotations.conform(revision);
        revision.keep(F::Icons, icons);
        icons.conform(revision);
        revision.keep(F::ItemMeta, meta);
    }
}

impl Conform for ResourceTemplate {
    fn conform(&mut self, revision: Revision) {
        let Self { uri_template: _, name: _, title, description: _, mime_type: _, annotations, icons, meta, rest: _ } =
            self;
        revision.keep(F::Titles, title);
        annotations.conform(revision);
        revision.keep(F::Icons, icons);
        icons.conform(revision);
        revision.keep(F::ItemMeta, meta);
    }
}

impl Conform for ResourceContents {
    fn conform(&mut self, revision: Revision) {
        let Self { uri: _, mime_type: _, text, blob, meta, rest: _ } = self;
        if blob.is_none() {
            text.get_or_insert_default(); // one of the two is required everywhere
        }
        revision.keep(F::ItemMeta, meta);
    }
}

impl Conform for ListResourcesResult {
    fn conform(&mut self, revision: Revision) {
        let Self { resources, next_cursor: _, ttl_ms, cache_scope, result_type, meta, rest: _ } = self;
        resources.conform(revision);
        conform_cache(ttl_ms, cache_scope, revision);
        conform_result(result_type, meta, revision);
    }
}

impl Conform for ListResourceTemplatesResult {
    fn conform(&mut self, revision: Revision) {
        let Self { resource_templates, next_cursor: _, ttl_ms, cache_scope, result_type, meta, rest: _ } = self;
        resource_templates.conform(revision);
        conform_cache(ttl_ms, cache_scope, revision);
        conform_result(result_type, meta, revision);
    }
}

impl Conform for ReadResourceParams {
    fn conform(&mut self, revision: Revision) {
        let Self { uri: _, input_responses, request_state, meta, rest: _ } = self;
        revision.keep(F::Stateless, input_responses);
        revision.keep(F::Stateless, request_state);
        conform_meta(meta, revision);
    }
}

impl Conform for ReadResourceResult {
    fn conform(&mut self, revision: Revision) {
        let Self { contents, ttl_ms, cache_scope, result_type, meta, rest: _ } = self;
        contents.conform(revision);
        conform_cache(ttl_ms, cache_scope, revision);
        conform_result(result_type, meta, revision);
    }
}

impl Conform for ResourceParams {
    fn conform(&mut self, revision: Revision) {
        let Self { uri: _, meta, rest: _ } = self;
        conform_meta(meta, revision);
    }
}
