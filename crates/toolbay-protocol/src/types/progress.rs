//! Progress and cancellation (spec: basic/utilities/progress, basic/utilities/cancellation).

use super::{Conform, Meta, Number, meta::conform_meta, words::words};
use crate::{
    fault::Fault,
    frame::Id,
    revision::{Feature as F, Revision},
};

/// Names the request that progress is about.
pub type ProgressToken = Id;

words! {
    /// Parameters of `notifications/progress`.
    ProgressParams {
        need {
            /// Which request.
            progress_token: ProgressToken = "progressToken",
            /// How far; grows every time.
            progress: Number = "progress",
        }
        may {
            /// How far it goes.
            total: Number = "total",
            /// For people.
            message: String = "message",
            /// About the notification.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Parameters of `notifications/cancelled`.
    #[derive(Default)]
    CancelledParams {
        may {
            /// Which request; 2025-11-25 alone lets it be absent.
            request_id: Id = "requestId",
            /// Why, for people.
            reason: String = "reason",
            /// About the notification.
            meta: Meta = "_meta",
        }
    }
}

impl Conform for ProgressParams {
    fn conform(&mut self, revision: Revision) {
        let Self { progress_token: _, progress: _, total: _, message, meta, rest: _ } = self;
        revision.keep(F::ProgressMessage, message);
        conform_meta(meta, revision);
    }
}

impl Conform for CancelledParams {
    fn conform(&mut self, revision: Revision) {
        let Self { request_id: _, reason: _, meta, rest: _ } = self;
        conform_meta(meta, revision);
    }

    fn check(&self, revision: Revision) -> Result<(), Fault> {
        if self.request_id.is_some() || revision.has(F::CoreTasks) {
            return Ok(());
        }
        Err(Fault::params("`requestId` is missing: it must name the request to cancel"))
    }
}
