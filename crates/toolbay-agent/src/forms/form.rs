//! A whole form.

use std::{collections::HashSet, fmt};

use serde_json::{Map, Value};

use super::field::Field;

/// More fields than anybody fills in.
const MOST: usize = 256;

/// A form that a server wants filled in: what [`Elicitation::Form`](crate::person::Elicitation::Form) has as `schema`.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// Its fields, in the server's order.
    pub fields: Vec<Field>,
}

/// Why an answer is none for its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Which field.
    pub field: String,
    /// What is wrong there, and what to do.
    pub why: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", self.field, self.why)
    }
}

impl std::error::Error for Wrong {}

impl Form {
    /// Reads `requestedSchema`; an error is the server's fault.
    pub fn read(schema: &Value) -> Result<Self, String> {
        let none = Map::new();
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err("`requestedSchema` is no object of fields".into());
        }
        let properties = match schema.get("properties") {
            None => &none,
            Some(properties) => properties.as_object().ok_or("`properties` of the form is no object")?,
        };
        if properties.len() > MOST {
            return Err(format!("the form has more than {MOST} fields"));
        }
        let required: HashSet<_> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        if let Some(unknown) = required.iter().find(|name| !properties.contains_key(**name)) {
            return Err(format!("the form needs {unknown:?} and has no such field"));
        }
        let field = |(name, schema): (&String, &Value)| Field::read(name, schema, required.contains(name.as_str()));
        Ok(Self { fields: properties.iter().map(field).collect::<Result<_, _>>()? })
    }

    /// The answer, with the defaults of fields that were left out.
    #[must_use]
    pub fn complete(&self, mut content: Map<String, Value>) -> Map<String, Value> {
        for field in &self.fields {
            if let (false, Some(default)) = (content.contains_key(&field.name), &field.default) {
                content.insert(field.name.clone(), default.clone());
            }
        }
        content
    }

    /// Whether an answer may be sent: every field that it has is known and fits, and none is missing that is needed.
    pub fn check(&self, content: &Map<String, Value>) -> Result<(), Wrong> {
        let wrong = |field: &str, why: String| Wrong { field: field.to_owned(), why };
        for field in &self.fields {
            match content.get(&field.name) {
                Some(value) => field.check(value).map_err(|why| wrong(&field.name, why))?,
                None if field.required => return Err(wrong(&field.name, "it is needed".into())),
                None => {}
            }
        }
        match content.keys().find(|name| !self.fields.iter().any(|field| field.name == **name)) {
            Some(unknown) => Err(wrong(unknown, "the form has no such field".into())),
            None => Ok(()),
        }
    }

    /// The fields that by their names ask for what no form may ask for; a server has the url mode for such.
    // spec: client/elicitation, sensitive information
    pub fn secrets(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| is_secret(&field.name) || is_secret(&field.title))
    }
}

/// Whether a name is that of something secret: of a whole, a word of it, or its last word.
fn is_secret(name: &str) -> bool {
    const WITHIN: [&str; 14] = [
        "password",
        "passwd",
        "passphrase",
        "apikey",
        "accesskey",
        "privatekey",
        "secretkey",
        "clientsecret",
        "creditcard",
        "cardnumber",
        "pincode",
        "密码",
        "口令",
        "私钥",
    ];
    const WORDS: [&str; 6] = ["otp", "pwd", "cvv", "cvc", "credential", "credentials"];
    const LAST: [&str; 3] = ["token", "secret", "pin"];
    let words = words(name);
    let plain = words.concat();
    WITHIN.iter().any(|word| plain.contains(word))
        || words.iter().any(|word| WORDS.contains(&word.as_str()))
        || words.last().is_some_and(|word| LAST.contains(&word.as_str()))
}

/// The words of a name, in small letters: `dbPassword`, `db_password` and `DB password` are two.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut before) = (vec![String::new()], ' ');
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && before.is_lowercase() {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "password",
            "dbPassword",
            "API key",
            "github_token",
            "authToken",
            "aws_secret",
            "db_pwd",
            "otp",
            "otp_code",
            "PIN",
            "pin_code",
            "client-secret",
            "登录密码",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["spin", "max_tokens", "token_count", "secretary", "opinion", "pinned", "key", "keyboard"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
