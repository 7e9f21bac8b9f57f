//! From an answer as it came to what the handler wanted to know.

use serde::de::DeserializeOwned;
use toolbay_protocol::{
    ErrorObject, Raw,
    exchange::Outcome,
    types::{ElicitAction, ElicitResult, ListRootsResult, Root},
};

use super::elicit::Elicited;
use crate::{error::Result, tool_error};

/// What becomes of an answer.
pub(crate) enum Verdict<T> {
    /// It does.
    Good(T),
    /// It does not: ask again.
    Again,
    /// There will be none.
    Never(ErrorObject),
}

/// A result of this type.
pub(crate) fn typed<T: DeserializeOwned>(answer: &Outcome) -> Verdict<T> {
    match answer {
        Ok(raw) => raw.read().map_or(Verdict::Again, Verdict::Good),
        Err(error) => Verdict::Never(error.clone()),
    }
}

/// Folders that are what roots have to be (spec: client/roots).
pub(crate) fn roots(answer: &Outcome) -> Verdict<Vec<Root>> {
    match typed::<ListRootsResult>(answer) {
        Verdict::Good(answer) => match answer.roots.iter().find_map(|root| root.check().err()) {
            None => Verdict::Good(answer.roots),
            // It would say the same again.
            Some(flaw) => Verdict::Never(ErrorObject::invalid_params(flaw.to_string())),
        },
        Verdict::Again => Verdict::Again,
        Verdict::Never(error) => Verdict::Never(error),
    }
}

/// What the user did, and what they filled in. A client that answers a form with an error could not show it.
pub(crate) fn elicited<T: DeserializeOwned>(answer: &Outcome) -> Verdict<Elicited<T>> {
    let result = match typed::<ElicitResult>(answer) {
        Verdict::Good(result) => result,
        Verdict::Again => return Verdict::Again,
        Verdict::Never(error) => return Verdict::Never(error),
    };
    match result.action {
        ElicitAction::Accept => {
            let content = result.content.unwrap_or_default();
            Raw::of(&content).read().map_or(Verdict::Again, |value| Verdict::Good(Elicited::Accepted(value)))
        }
        ElicitAction::Decline => Verdict::Good(Elicited::Declined),
        ElicitAction::Cancel => Verdict::Good(Elicited::Cancelled),
        ElicitAction::Other(_) => Verdict::Again,
    }
}

/// What a handler that needs an answer fails with.
pub(crate) fn refused<T>(error: &ErrorObject) -> Result<T> {
    Err(tool_error!("the client did not answer: {}", error.message).into())
}
