//! Tools as a wire takes them, and what a model wrote as a tool takes it.

use serde_json::{Map, Value};

use crate::{
    model::{Defined, Wire},
    planner::flaws,
    toolbox::Tool,
    transcript::Written,
};

/// How much of what cannot be read is told back.
const TOLD: usize = 200;

/// The name a tool would be shown by.
pub(super) fn name_of(_: Wire, tool: &Tool) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    tool.public.chars().map(safe).take(64).collect()
}

/// A tool as it is shown by that name.
pub(super) fn define(_: Wire, name: &str, tool: &Tool) -> Defined {
    Defined { name: name.to_owned(), description: tool.description.clone(), schema: tool.schema.clone() }
}

/// The arguments as the tool takes them, or what is wrong with them.
pub(super) fn fit(tool: &Tool, written: &Written) -> Result<Map<String, Value>, String> {
    match written {
        Written::Unreadable(text) => {
            let told = &text[..text.floor_char_boundary(TOLD)];
            Err(format!("the arguments are no JSON object: {told:?}"))
        }
        Written::Object(arguments) => match flaws(&tool.schema, arguments) {
            Some(flaws) => Err(flaws),
            None => Ok(arguments.clone()),
        },
    }
}
