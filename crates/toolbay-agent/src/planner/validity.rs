//! Arguments against a tool's input schema. Nothing is fetched, and patterns take linear time.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

/// Larger schemas are not compiled.
const LARGEST: usize = 256 * 1024;
/// So many flaws are told.
const MOST_FLAWS: usize = 3;

/// What checks arguments against a schema.
pub(crate) fn validator(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    let linear = PatternOptions::regex();
    jsonschema::options().with_pattern_options(linear).build(schema)
}

/// Why the arguments do not fit the schema.
pub(crate) fn flaws(schema: &Value, arguments: &Map<String, Value>) -> Option<String> {
    // Written out once: there is no cheaper way to know its size.
    if schema.to_string().len() > LARGEST {
        return Some(format!("its input schema is larger than {LARGEST} bytes"));
    }
    let validator = match validator(schema) {
        Ok(validator) => validator,
        Err(flaw) => return Some(format!("its input schema cannot be used: {flaw}")),
    };
    let arguments = Value::Object(arguments.clone());
    let told = validator.iter_errors(&arguments).take(MOST_FLAWS).map(|flaw| match flaw.instance_path().as_str() {
        "" => flaw.to_string(),
        path => format!("`{}`: {flaw}", path.trim_start_matches('/').replace('/', ".")),
    });
    let told: Vec<_> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}
