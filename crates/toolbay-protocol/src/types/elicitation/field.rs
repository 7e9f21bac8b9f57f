//! The fields a form may have.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    raw::Raw,
    types::{
        Number,
        words::{choices, words},
    },
};

choices! {
    /// What a text must look like.
    StringFormat {
        /// A mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A day.
        Date = "date",
        /// A moment.
        DateTime = "date-time",
    }
}

choices! {
    /// Which numbers.
    NumberKind {
        /// Any.
        Number = "number",
        /// Whole ones.
        Integer = "integer",
    }
}

words! {
    /// A text.
    #[derive(Default)]
    StringSchema: "type" = "string" {
        may {
            /// For people.
            title: String = "title",
            /// What it is.
            description: String = "description",
            /// How short it may be.
            min_length: Number = "minLength",
            /// How long it may be.
            max_length: Number = "maxLength",
            /// What it must look like.
            format: StringFormat = "format",
            /// What stands there at first (since 2025-11-25).
            default: String = "default",
        }
    }
}

words! {
    /// A number.
    NumberSchema {
        need {
            /// Which numbers.
            kind: NumberKind = "type",
        }
        may {
            /// For people.
            title: String = "title",
            /// What it is.
            description: String = "description",
            /// How small it may be.
            minimum: Number = "minimum",
            /// How large it may be.
            maximum: Number = "maximum",
            /// What stands there at first (since 2025-11-25).
            default: Number = "default",
        }
    }
}

words! {
    /// Yes or no.
    #[derive(Default)]
    BooleanSchema: "type" = "boolean" {
        may {
            /// For people.
            title: String = "title",
            /// What it is.
            description: String = "description",
            /// What stands there at first.
            default: bool = "default",
        }
    }
}

words! {
    /// One of several texts: bare (`enum`), with titles (`oneOf`), or with titles the old way (`enum` and `enumNames`).
    #[derive(Default)]
    SingleSelectSchema: "type" = "string" {
        may {
            /// For people.
            title: String = "title",
            /// What it is.
            description: String = "description",
            /// The texts.
            values: Vec<String> = "enum",
            /// Their titles, the old way.
            names: Vec<String> = "enumNames",
            /// The texts with titles.
            titled: Vec<TitledValue> = "oneOf",
            /// What stands there at first (since 2025-11-25).
            default: String = "default",
        }
    }
}

words! {
    /// Any number of several texts (since 2025-11-25).
    #[derive(Default)]
    MultiSelectSchema: "type" = "array" {
        need {
            /// The texts.
            items: MultiSelectItems = "items",
        }
        may {
            /// For people.
            title: String = "title",
            /// What it is.
            description: String = "description",
            /// How many at least.
            min_items: Number = "minItems",
            /// How many at most.
            max_items: Number = "maxItems",
            /// What stands there at first.
            default: Vec<String> = "default",
        }
    }
}

words! {
    /// The texts to choose several from.
    #[derive(Default)]
    MultiSelectItems {
        may {
            /// `string`, for bare texts.
            kind: String = "type",
            /// The texts.
            values: Vec<String> = "enum",
            /// The texts with titles.
            titled: Vec<TitledValue> = "anyOf",
        }
    }
}

words! {
    /// A text and what to show for it.
    #[derive(Default)]
    TitledValue {
        need {
            /// The text.
            value: String = "const",
            /// What to show.
            title: String = "title",
        }
    }
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldSchema {
    /// A text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of several texts.
    Single(SingleSelectSchema),
    /// Any number of several texts.
    Multi(MultiSelectSchema),
    /// A field we do not know, as it was written.
    Unknown(Raw),
}

impl SingleSelectSchema {
    /// Bare texts.
    pub fn of<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        Self { values: Some(values.into_iter().map(Into::into).collect()), ..Self::new() }
    }

    /// Texts with titles.
    pub fn titled(values: impl Into<Vec<TitledValue>>) -> Self {
        Self { titled: Some(values.into()), ..Self::new() }
    }
}

impl Serialize for FieldSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::String(field) => field.serialize(serializer),
            Self::Number(field) => field.serialize(serializer),
            Self::Boolean(field) => field.serialize(serializer),
            Self::Single(field) => field.serialize(serializer),
            Self::Multi(field) => field.serialize(serializer),
            Self::Unknown(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for FieldSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let chosen = raw.members().any(|member| matches!(&*member.key, "enum" | "oneOf"));
        match (raw.get("type").as_ref().and_then(Raw::as_text).as_deref(), chosen) {
            (Some("string"), true) => raw.read().map(Self::Single),
            (Some("string"), false) => raw.read().map(Self::String),
            (Some("number" | "integer"), _) => raw.read().map(Self::Number),
            (Some("boolean"), _) => raw.read().map(Self::Boolean),
            (Some("array"), _) => raw.read().map(Self::Multi),
            (Some(_) | None, _) => Ok(Self::Unknown(raw)),
        }
        .map_err(de::Error::custom)
    }
}
