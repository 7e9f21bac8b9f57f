//! Pages, cache hints and what all results share (spec: server/utilities/pagination, server/utilities/caching).

use super::{
    Conform, Meta, Number,
    meta::conform_meta,
    words::{choices, words},
};
use crate::revision::{Feature as F, Revision};

choices! {
    /// What a result is (2026-07-28; spec: basic/index). Absent means complete.
    ResultType {
        /// The answer.
        Complete = "complete",
        /// The server asks something first.
        InputRequired = "input_required",
        /// A task was started (extension).
        Task = "task",
    }
}

choices! {
    /// Who may share a kept result.
    CacheScope {
        /// Nobody: it was made for this caller.
        Private = "private",
        /// Everybody.
        Public = "public",
    }
}

words! {
    /// Parameters of every list.
    #[derive(Default)]
    ListParams {
        may {
            /// Where the page before ended; opaque.
            cursor: String = "cursor",
            /// About the request.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Parameters that say nothing but `_meta`: of `ping`, `roots/list`, `server/discover` and most notifications.
    #[derive(Default)]
    EmptyParams {
        may {
            /// About the message.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// A result that says no more than that it was done.
    #[derive(Default)]
    EmptyResult {
        may {
            /// What this result is.
            result_type: ResultType = "resultType",
            /// About the result.
            meta: Meta = "_meta",
        }
    }
}

impl Conform for ListParams {
    fn conform(&mut self, revision: Revision) {
        let Self { cursor: _, meta, rest: _ } = self;
        conform_meta(meta, revision);
    }
}

impl Conform for EmptyParams {
    fn conform(&mut self, revision: Revision) {
        let Self { meta, rest: _ } = self;
        conform_meta(meta, revision);
    }
}

impl Conform for EmptyResult {
    fn conform(&mut self, revision: Revision) {
        let Self { result_type, meta, rest: _ } = self;
        conform_result(result_type, meta, revision);
    }
}

/// What every result shares.
pub(crate) fn conform_result(kind: &mut Option<ResultType>, meta: &mut Option<Meta>, revision: Revision) {
    revision.need(F::ResultType, kind, || ResultType::Complete);
    conform_meta(meta, revision);
}

/// What every result that may be kept shares: without a hint it may not be kept.
pub(crate) fn conform_cache(ttl_ms: &mut Option<Number>, scope: &mut Option<CacheScope>, revision: Revision) {
    revision.need(F::CacheHints, ttl_ms, Number::default);
    revision.need(F::CacheHints, scope, || CacheScope::Private);
}
