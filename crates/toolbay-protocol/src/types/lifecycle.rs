//! How a connection opens: `initialize` (until 2025-11-25) and `server/discover` (since 2026-07-28).

use super::{
    CacheScope, ClientCapabilities, Conform, Implementation, Meta, Number, ResultType, ServerCapabilities,
    list::{conform_cache, conform_result},
    meta::conform_meta,
    words::words,
};
use crate::revision::Revision;

words! {
    /// Parameters of `initialize` (spec: 2025-11-25 basic/lifecycle).
    #[derive(Default)]
    InitializeParams {
        need {
            /// The newest revision the client speaks.
            protocol_version: String = "protocolVersion",
            /// What the client can do.
            capabilities: ClientCapabilities = "capabilities",
            /// Who the client is.
            client_info: Implementation = "clientInfo",
        }
        may {
            /// About the request.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Result of `initialize`.
    #[derive(Default)]
    InitializeResult {
        need {
            /// The revision this session speaks.
            protocol_version: String = "protocolVersion",
            /// What the server offers.
            capabilities: ServerCapabilities = "capabilities",
            /// Who the server is.
            server_info: Implementation = "serverInfo",
        }
        may {
            /// How to use the server, for the model.
            instructions: String = "instructions",
            /// About the result.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Result of `server/discover` (spec: 2026-07-28 server/discover).
    #[derive(Default)]
    DiscoverResult {
        need {
            /// Every revision the server speaks.
            supported_versions: Vec<String> = "supportedVersions",
            /// What the server offers.
            capabilities: ServerCapabilities = "capabilities",
        }
        may {
            /// How to use the server, for the model.
            instructions: String = "instructions",
            /// How long this may be kept, in milliseconds.
            ttl_ms: Number = "ttlMs",
            /// Who may share it.
            cache_scope: CacheScope = "cacheScope",
            /// What this result is.
            result_type: ResultType = "resultType",
            /// About the result; the server's name is in it.
            meta: Meta = "_meta",
        }
    }
}

impl Conform for InitializeParams {
    fn conform(&mut self, revision: Revision) {
        let Self { protocol_version: _, capabilities, client_info, meta, rest: _ } = self;
        capabilities.conform(revision);
        client_info.conform(revision);
        conform_meta(meta, revision);
    }
}

impl Conform for InitializeResult {
    fn conform(&mut self, revision: Revision) {
        let Self { protocol_version: _, capabilities, server_info, instructions: _, meta, rest: _ } = self;
        capabilities.conform(revision);
        server_info.conform(revision);
        conform_meta(meta, revision);
    }
}

impl Conform for DiscoverResult {
    fn conform(&mut self, revision: Revision) {
        let Self {
            supported_versions: _,
            capabilities,
            instructions: _,
            ttl_ms,
            cache_scope,
            result_type,
            meta,
            rest: _,
        } = self;
        capabilities.conform(revision);
        conform_cache(ttl_ms, cache_scope, revision);
        conform_result(result_type, meta, revision);
    }
}
