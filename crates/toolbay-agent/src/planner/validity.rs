//! Arguments against a tool's input schema. Nothing is fetched, and neither a pattern nor a reference takes time that the
//! size of the schema does not explain.

use std::sync::OnceLock;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};
use toolbay_gateway::catalog::schema_flaw;

/// Larger schemas are not compiled.
const LARGEST: usize = 256 * 1024;
/// So many flaws are told.
const MOST_FLAWS: usize = 3;

/// What checks arguments against a schema; where there can be none, why, as the rest of a sentence that begins with the schema.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    // Written out once: there is no cheaper way to know its size.
    if schema.to_string().len() > LARGEST {
        return Err(format!("is larger than {LARGEST} bytes"));
    }
    if let Some(flaw) = schema_flaw(schema) {
        return Err(flaw);
    }
    let linear = PatternOptions::regex();
    jsonschema::options().with_pattern_options(linear).build(schema).map_err(|flaw| format!("cannot be used: {flaw}"))
}

/// What checks the arguments of one tool, made when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Check {
    validator: OnceLock<Result<Validator, String>>,
}

impl Check {
    /// Why arguments do not fit the schema, which is that of the tool each time.
    pub(super) fn flaws(&self, schema: &Value, arguments: &Map<String, Value>) -> Option<String> {
        let validator = match self.validator.get_or_init(|| validator(schema)) {
            Ok(validator) => validator,
            Err(why) => return Some(format!("its input schema {why}")),
        };
        let arguments = Value::Object(arguments.clone());
        let told = validator.iter_errors(&arguments).take(MOST_FLAWS).map(|flaw| match flaw.instance_path().as_str() {
            "" => flaw.to_string(),
            path => format!("`{}`: {flaw}", path.trim_start_matches('/').replace('/', ".")),
        });
        let told: Vec<_> = told.collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// Made of a tool's schema: where tools are alike, so is what checks their arguments.
impl PartialEq for Check {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
