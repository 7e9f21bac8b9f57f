//! A text of the configuration as it is meant: its variables filled in.

use jsonc_parser::ast::Value;

use super::{expand::Variables, tree};

/// The text under `name`; where it is none, or cannot be filled in, its place and why.
pub(super) fn text(name: &str, value: &Value<'_>, variables: &Variables<'_>) -> Result<String, (usize, String)> {
    let at = tree::start(value);
    let Value::StringLit(text) = value else {
        return Err((at, format!("`{name}` is {}; write a text", tree::kind(value))));
    };
    let filled = variables.fill(&text.value).map_err(|why| {
        let (problem, remedy) = why.explain();
        (at, format!("`{name}`: {problem}; {remedy}"))
    })?;
    Ok(filled.text.value().to_owned())
}
