//! What a server asks in the middle of a call, and the answers (spec: 2026-07-28 basic/patterns/mrtr).

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Conform, Dict, Meta, ResultType, meta::conform_meta, words::words};
use crate::{
    fault::Fault,
    method::Method,
    raw::Raw,
    revision::{Feature as F, Revision},
};

words! {
    /// One question: a request without an envelope of its own.
    InputRequest {
        need {
            /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
            method: Method = "method",
        }
        may {
            /// What is asked, as that method's parameters.
            params: Raw = "params",
        }
    }
}

/// Questions, each under a key of the server's choice.
pub type InputRequests = Dict<InputRequest>;

/// Answers, each under its question's key, as that method's result.
pub type InputResponses = Dict<Raw>;

words! {
    /// Result that says: answer these first, then ask again.
    #[derive(Default)]
    InputRequiredResult {
        may {
            /// The questions; none means only "ask again".
            input_requests: InputRequests = "inputRequests",
            /// What to send back with the answers; opaque.
            request_state: String = "requestState",
            /// What this result is: always `input_required`.
            result_type: ResultType = "resultType",
            /// About the result.
            meta: Meta = "_meta",
        }
    }
}

impl Conform for InputRequiredResult {
    fn conform(&mut self, revision: Revision) {
        let Self { input_requests: _, request_state: _, result_type, meta, rest: _ } = self;
        revision.need(F::ResultType, result_type, || ResultType::InputRequired);
        conform_meta(meta, revision);
    }

    fn check(&self, revision: Revision) -> Result<(), Fault> {
        if revision.has(F::ResultType) {
            return Ok(());
        }
        Err(Fault::order(
            "a result that asks something has no form in this protocol version: its questions are requests",
        ))
    }
}

impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Method {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let name = raw.as_text().ok_or_else(|| de::Error::custom("`method` must be a string"))?;
        Ok(Self::parse(&name))
    }
}
