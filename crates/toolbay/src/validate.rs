//! Values against schemas (JSON Schema 2020-12, and 2019-09 and draft-07 where a schema says so).
//!
//! Nothing is ever fetched: a reference that leads out of its schema is an error (spec: basic/index, JSON Schema).

use std::fmt;

use serde_json::Value;
use toolbay_protocol::Raw;

/// Larger schemas are not compiled.
const LARGEST: usize = 256 * 1024;
/// So many flaws are told.
const MOST_FLAWS: usize = 3;

/// A schema, compiled.
pub(crate) struct Validator(jsonschema::Validator);

impl Validator {
    /// Compiles a schema; why it cannot be.
    pub(crate) fn of(schema: &Raw) -> Result<Self, String> {
        if schema.as_bytes().len() > LARGEST {
            return Err(format!("the schema is larger than {LARGEST} bytes"));
        }
        let schema: Value = schema.read().map_err(|flaw| flaw.to_string())?;
        jsonschema::validator_for(&schema).map(Self).map_err(|flaw| format!("the schema cannot be used: {flaw}"))
    }

    /// An error that names what does not fit, and where.
    pub(crate) fn check(&self, value: &Raw) -> Result<(), String> {
        let value: Value = value.read().map_err(|flaw| flaw.to_string())?;
        let flaws: Vec<String> = self
            .0
            .iter_errors(&value)
            .take(MOST_FLAWS)
            .map(|flaw| match flaw.instance_path().as_str() {
                "" => flaw.to_string(),
                path => format!("`{}`: {flaw}", path.trim_start_matches('/').replace('/', ".")),
            })
            .collect();
        if flaws.is_empty() { Ok(()) } else { Err(flaws.join("; ")) }
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Validator")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn flaws_are_named_and_nothing_is_fetched() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]});
        let validator = Validator::of(&Raw::of(&schema)).unwrap();
        assert!(validator.check(&Raw::of(&json!({"a": 1, "b": 2}))).is_ok());
        let flaws = validator.check(&Raw::of(&json!({"a": "x"}))).unwrap_err();
        assert!(flaws.contains("`a`") && flaws.contains("\"b\" is a required property"), "{flaws}");
        // rule 135
        let remote = json!({"$ref": "http://127.0.0.1:1/schema.json"});
        assert!(Validator::of(&Raw::of(&remote)).is_err());
    }

    #[test]
    fn the_dialect_is_what_the_schema_says() {
        // rule 134; `items` as an array is draft-07
        let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]});
        assert!(Validator::of(&Raw::of(&old)).unwrap().check(&Raw::of(&json!([1]))).is_err());
        let unknown = json!({"$schema": "https://example.com/dialect"});
        assert!(Validator::of(&Raw::of(&unknown)).is_err());
    }
}
