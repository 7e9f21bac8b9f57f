//! One field of a form.

use serde_json::Value;

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// What the answer calls it.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What is to be said there; empty where the server does not say.
    pub description: String,
    /// Whether the form is none without it.
    pub required: bool,
    /// What stands there at first.
    pub default: Option<Value>,
    /// What it holds.
    pub kind: Kind,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A text, of so many characters.
    Text {
        /// At least.
        least: Option<u64>,
        /// At most.
        most: Option<u64>,
        /// What it looks like.
        format: Option<Format>,
    },
    /// A number.
    Number {
        /// Whether it is whole.
        whole: bool,
        /// How small it may be.
        least: Option<f64>,
        /// How large it may be.
        most: Option<f64>,
    },
    /// Yes or no.
    Boolean,
    /// One of several.
    One(Vec<Chosen>),
    /// So many of several.
    Several {
        /// Of which.
        of: Vec<Chosen>,
        /// At least.
        least: Option<u64>,
        /// At most.
        most: Option<u64>,
    },
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// What the answer calls it.
    pub value: String,
    /// What people call it.
    pub title: String,
}

/// What a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A mail address.
    Email,
    /// A URI.
    Uri,
    /// A day: `2026-11-30`.
    Date,
    /// A moment: `2026-11-30T09:00:00Z`.
    DateTime,
}

impl Field {
    /// Reads a property of a schema; an error says what it is no field for.
    pub(super) fn read(name: &str, schema: &Value, required: bool) -> Result<Self, String> {
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let kind = kind(schema).ok_or_else(|| format!("the field {name:?} is of no kind that a form may have"))?;
        Ok(Self {
            name: name.to_owned(),
            title: text("title").unwrap_or(name).to_owned(),
            description: text("description").unwrap_or_default().to_owned(),
            required,
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
            kind,
        })
    }
}

fn kind(schema: &Value) -> Option<Kind> {
    let whole = |key: &str| schema.get(key).and_then(Value::as_f64).map(|number| number.max(0.0) as u64);
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    match schema.get("type").and_then(Value::as_str)? {
        "string" => match choices(schema) {
            Some(choices) => Some(Kind::One(choices)),
            None => Some(Kind::Text {
                least: whole("minLength"),
                most: whole("maxLength"),
                format: schema.get("format").and_then(Value::as_str).and_then(Format::read),
            }),
        },
        word @ ("number" | "integer") => {
            Some(Kind::Number { whole: word == "integer", least: number("minimum"), most: number("maximum") })
        }
        "boolean" => Some(Kind::Boolean),
        "array" => {
            let of = choices(schema.get("items")?)?;
            Some(Kind::Several { of, least: whole("minItems"), most: whole("maxItems") })
        }
        _ => None,
    }
}

/// Bare (`enum`), titled (`oneOf`, `anyOf`), or titled the old way (`enum` and `enumNames`).
fn choices(schema: &Value) -> Option<Vec<Chosen>> {
    let own = |text: &str| text.to_owned();
    if let Some(titled) = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key)?.as_array()) {
        let one = |choice: &Value| {
            let value = choice.get("const")?.as_str()?;
            Some(Chosen { value: own(value), title: own(choice.get("title").and_then(Value::as_str).unwrap_or(value)) })
        };
        return titled.iter().map(one).collect();
    }
    let names = schema.get("enumNames").and_then(Value::as_array);
    let one = |(at, value): (usize, &Value)| {
        let value = value.as_str()?;
        let title = names.and_then(|names| names.get(at)?.as_str()).unwrap_or(value);
        Some(Chosen { value: own(value), title: own(title) })
    };
    schema.get("enum")?.as_array()?.iter().enumerate().map(one).collect()
}

impl Format {
    fn read(word: &str) -> Option<Self> {
        match word {
            "email" => Some(Self::Email),
            "uri" => Some(Self::Uri),
            "date" => Some(Self::Date),
            "date-time" => Some(Self::DateTime),
            _ => None,
        }
    }

    /// Its word in a schema.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    /// How one may look.
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Email => "a mail address, such as ann@example.com",
            Self::Uri => "a URI, such as https://example.com/",
            Self::Date => "a day, such as 2026-11-30",
            Self::DateTime => "a moment, such as 2026-11-30T09:00:00Z",
        }
    }
}
