//! Completing arguments (spec: server/utilities/completion).

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Conform, Dict, Meta, Number, ResultType, list::conform_result, meta::conform_meta, words::words};
use crate::{
    raw::Raw,
    revision::{Feature as F, Revision},
};

/// How many values one completion may name (spec: server/utilities/completion).
const MOST_VALUES: usize = 100;

words! {
    /// Parameters of `completion/complete`.
    CompleteParams {
        need {
            /// Whose argument.
            reference: Reference = "ref",
            /// What stands there so far.
            argument: CompletionArgument = "argument",
        }
        may {
            /// What else is known.
            context: CompletionContext = "context",
            /// About the request.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// The argument that is being typed.
    #[derive(Default)]
    CompletionArgument {
        need {
            /// Which one.
            name: String = "name",
            /// What stands there so far.
            value: String = "value",
        }
    }
}

words! {
    /// What else is known when an argument is completed.
    #[derive(Default)]
    CompletionContext {
        may {
            /// Arguments that are filled in already.
            arguments: Dict<String> = "arguments",
        }
    }
}

words! {
    /// Names a prompt.
    #[derive(Default)]
    PromptReference: "type" = "ref/prompt" {
        need {
            /// For programs.
            name: String = "name",
        }
        may {
            /// For people.
            title: String = "title",
        }
    }
}

words! {
    /// Names a resource template (in old revisions: a resource).
    #[derive(Default)]
    ResourceReference: "type" = "ref/resource" {
        need {
            /// A URI, perhaps with holes.
            uri: String = "uri",
        }
    }
}

/// Whose argument is completed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reference {
    /// A prompt's.
    Prompt(PromptReference),
    /// A resource template's.
    Resource(ResourceReference),
    /// Something we do not know, as it was written.
    Unknown(Raw),
}

words! {
    /// What an argument could become.
    #[derive(Default)]
    Completion {
        need {
            /// The best ones; a hundred at most.
            values: Vec<String> = "values",
        }
        may {
            /// How many there are.
            total: Number = "total",
            /// Whether there are more than these.
            has_more: bool = "hasMore",
        }
    }
}

words! {
    /// Result of `completion/complete`.
    #[derive(Default)]
    CompleteResult {
        need {
            /// What the argument could become.
            completion: Completion = "completion",
        }
        may {
            /// What this result is.
            result_type: ResultType = "resultType",
            /// About the result.
            meta: Meta = "_meta",
        }
    }
}

impl Reference {
    /// The prompt called `name`.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt(PromptReference::new(name))
    }

    /// The resource template `uri`.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource(ResourceReference::new(uri))
    }
}

impl Serialize for Reference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Prompt(reference) => reference.serialize(serializer),
            Self::Resource(reference) => reference.serialize(serializer),
            Self::Unknown(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match raw.get("type").as_ref().and_then(Raw::as_text).as_deref() {
            Some("ref/prompt") => raw.read().map(Self::Prompt),
            Some("ref/resource") => raw.read().map(Self::Resource),
            Some(_) => Ok(Self::Unknown(raw)),
            None => return Err(de::Error::custom("a reference needs a `type`")),
        }
        .map_err(de::Error::custom)
    }
}

impl Conform for CompleteParams {
    fn conform(&mut self, revision: Revision) {
        let Self { reference, argument: CompletionArgument { name: _, value: _, rest: _ }, context, meta, rest: _ } =
            self;
        match reference {
            Reference::Prompt(PromptReference { name: _, title, rest: _ }) => revision.keep(F::Titles, title),
            Reference::Resource(ResourceReference { uri: _, rest: _ }) | Reference::Unknown(_) => {}
        }
        revision.keep(F::CompletionContext, context);
        conform_meta(meta, revision);
    }
}

impl Conform for CompleteResult {
    fn conform(&mut self, revision: Revision) {
        let Self { completion: Completion { values, total, has_more, rest: _ }, result_type, meta, rest: _ } = self;
        if values.len() > MOST_VALUES {
            total.get_or_insert_with(|| values.len().into());
            *has_more = Some(true);
            values.truncate(MOST_VALUES);
        }
        conform_result(result_type, meta, revision);
    }
}
