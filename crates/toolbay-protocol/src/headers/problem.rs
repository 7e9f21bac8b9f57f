//! What can be wrong with a tool's `x-mcp-header` annotations. Not for other faults of a schema.

use std::fmt;

/// A broken rule, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where in the schema, as a JSON pointer; empty for its root.
    pub at: String,
    /// The rule that is broken.
    pub rule: Rule,
}

/// A rule that annotations keep.
// spec: 2026-07-28 server/tools, x-mcp-header
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// The annotation is a string.
    Text,
    /// The annotation is not empty.
    NotEmpty,
    /// The annotation can be part of a header's name.
    Token {
        /// What it says instead.
        found: String,
    },
    /// No two annotations are equal but for case.
    Unique {
        /// Where the name was used before.
        first: String,
    },
    /// The annotated property is exactly an integer, a string or a boolean.
    Primitive {
        /// Its type as written.
        found: String,
    },
    /// The annotated property is reached from the root through `properties` alone.
    Reachable {
        /// The keyword that leads away.
        through: String,
    },
    /// The annotation belongs to a property, not to the schema itself.
    OnProperty,
    /// The schema is no deeper than can be walked.
    Depth {
        /// The limit in levels.
        limit: usize,
    },
    /// No more properties are annotated than a request can have headers.
    Many {
        /// The limit in properties.
        limit: usize,
    },
    /// The schema is JSON.
    Json,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() { "the root" } else { &self.at };
        match &self.rule {
            Rule::Text => write!(f, "x-mcp-header at {at} must be a string"),
            Rule::NotEmpty => write!(f, "x-mcp-header at {at} must not be empty"),
            Rule::Token { found } => write!(f, "x-mcp-header {found:?} at {at} cannot be part of a header's name"),
            Rule::Unique { first } => write!(f, "x-mcp-header at {at} repeats the one at {first}, case aside"),
            Rule::Primitive { found } => {
                write!(f, "x-mcp-header at {at} needs the type string, integer or boolean, not {found}")
            }
            Rule::Reachable { through } => {
                write!(f, "x-mcp-header at {at} is reached through {through}; only properties may lead to it")
            }
            Rule::OnProperty => write!(f, "x-mcp-header at {at} must stand on a property"),
            Rule::Depth { limit } => write!(f, "the schema is deeper than {limit} levels at {at}"),
            Rule::Many { limit } => write!(f, "x-mcp-header at {at} comes after {limit} others, which are too many"),
            Rule::Json => f.write_str("the schema is not JSON"),
        }
    }
}
