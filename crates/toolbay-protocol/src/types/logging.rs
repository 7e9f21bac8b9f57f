//! Log messages (spec: server/utilities/logging).

use super::{
    Conform, Meta,
    meta::conform_meta,
    words::{choices, words},
};
use crate::{raw::Raw, revision::Revision};

choices! {
    /// How grave a message is, as in RFC 5424; the least grave first.
    LoggingLevel {
        /// For the developer.
        Debug = "debug",
        /// All is well.
        Info = "info",
        /// Worth noting.
        Notice = "notice",
        /// Something may be wrong.
        Warning = "warning",
        /// Something is wrong.
        Error = "error",
        /// A part failed.
        Critical = "critical",
        /// Act now.
        Alert = "alert",
        /// Nothing works.
        Emergency = "emergency",
    }
}

words! {
    /// Parameters of `logging/setLevel` (until 2025-11-25).
    SetLevelParams {
        need {
            /// The least grave level to send.
            level: LoggingLevel = "level",
        }
        may {
            /// About the request.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Parameters of `notifications/message`.
    LoggingMessageParams {
        need {
            /// How grave.
            level: LoggingLevel = "level",
            /// What happened: any JSON value.
            data: Raw = "data",
        }
        may {
            /// Which part says so.
            logger: String = "logger",
            /// About the notification.
            meta: Meta = "_meta",
        }
    }
}

impl LoggingLevel {
    /// From 0 (debug) to 7 (emergency); an unknown level counts as the gravest, so that it is not lost.
    pub fn severity(&self) -> usize {
        Self::LISTED.iter().position(|level| level == self).unwrap_or(Self::LISTED.len() - 1)
    }
}

impl Conform for SetLevelParams {
    fn conform(&mut self, revision: Revision) {
        let Self { level: _, meta, rest: _ } = self;
        conform_meta(meta, revision);
    }
}

impl Conform for LoggingMessageParams {
    fn conform(&mut self, revision: Revision) {
        let Self { level: _, data: _, logger: _, meta, rest: _ } = self;
        conform_meta(meta, revision);
    }
}
