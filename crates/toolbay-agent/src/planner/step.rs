//! A call that is meant: a tool, its arguments, and whether it can be made.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolbay_retrieval::slots::Missing;

use super::{
    arguments::{Said, arguments, traced},
    matching::{Match, Score},
    offered::{Caution, Offered},
    validity::Check,
};

/// A call that is meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The tool.
    pub tool: Arc<Offered>,
    /// How strongly it is meant.
    pub score: Score,
    /// Its arguments, one by one, with where each comes from; those of nested objects as `outer.inner`.
    pub arguments: Vec<Argument>,
    /// Whether it can be made.
    pub standing: Standing,
    values: Map<String, Value>,
    check: Arc<Check>,
}

/// An argument, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where an argument comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Words of this part of the request.
    Said {
        /// What they were read as.
        kind: &'static str,
        /// The words.
        words: String,
    },
    /// Words of an earlier part.
    Before {
        /// What they were read as.
        kind: &'static str,
        /// The words.
        words: String,
    },
    /// The part as a whole.
    Whole,
    /// A choice of the schema that the request names.
    Named,
    /// The schema itself: the only value that it allows, or what it sets where nothing is said.
    Schema,
    /// Given by somebody who was asked.
    Given,
}

/// Whether a call can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It can.
    Ready,
    /// Arguments without which the tool cannot be called are not said.
    Missing(Vec<Missing>),
    /// The arguments do not fit the tool's schema; why.
    Unfit(String),
    /// The tool may destroy, by what it says of itself, and nobody agreed.
    Unagreed,
}

impl Step {
    pub(super) fn of(found: &Match, said: &Said<'_>) -> Self {
        let (tool, check) = (Arc::clone(&found.tool), Arc::clone(&found.check));
        let fit = arguments(said, &tool.schema);
        let arguments = traced(&fit.arguments, &tool.schema, said);
        let score = found.score.clone();
        let mut step = Self { tool, score, arguments, standing: Standing::Ready, values: fit.arguments, check };
        step.stand(fit.missing);
        step
    }

    /// The arguments as they are sent.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Gives an argument that is missing, as somebody typed it; why it does not do.
    pub fn give(&mut self, name: &str, typed: &str) -> Result<(), String> {
        let Standing::Missing(missing) = &self.standing else { return Err(format!("{name:?} is not missing")) };
        if !missing.iter().any(|one| one.name == name) {
            return Err(format!("{name:?} is not missing"));
        }
        let (outer, inner) = match name.split_once('.') {
            Some((outer, inner)) if property(&self.tool.schema, name).is_none() => (outer, Some(inner)),
            _ => (name, None),
        };
        let schema = property(&self.tool.schema, outer);
        match inner {
            None => drop(self.values.insert(outer.to_owned(), typed_as(schema, name, typed)?)),
            Some(inner) => {
                let value = typed_as(schema.and_then(|schema| property(schema, inner)), name, typed)?;
                let within = self.values.entry(outer).or_insert_with(|| Value::Object(Map::new()));
                within.as_object_mut().ok_or("it is no object")?.insert(inner.to_owned(), value);
            }
        }
        let value = Value::from(typed);
        self.arguments.push(Argument { name: name.to_owned(), value, origin: Origin::Given });
        let left = missing.iter().filter(|one| one.name != name).cloned().collect();
        self.stand(left);
        Ok(())
    }

    /// Somebody agrees that a tool is called which destroys.
    pub fn agree(&mut self) {
        if self.standing == Standing::Unagreed {
            self.standing = Standing::Ready;
        }
    }

    /// Works out whether the call can be made.
    fn stand(&mut self, missing: Vec<Missing>) {
        self.standing = if missing.is_empty() {
            match (self.check.flaws(&self.tool.schema, &self.values), self.tool.caution) {
                (Some(flaws), _) => Standing::Unfit(flaws),
                (None, Caution::Destroys) => Standing::Unagreed,
                (None, Caution::None) => Standing::Ready,
            }
        } else {
            Standing::Missing(missing)
        };
    }
}

fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)
}

/// What was typed, as the schema wants it.
fn typed_as(schema: Option<&Value>, name: &str, typed: &str) -> Result<Value, String> {
    let kind = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str);
    match kind {
        None | Some("string") => Ok(Value::from(typed)),
        Some(kind) => {
            let value: Option<Value> = serde_json::from_str(typed).ok();
            let fits = |value: &Value| match kind {
                "integer" | "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                _ => true,
            };
            value.filter(fits).ok_or_else(|| format!("{name:?} wants {kind}: {typed:?} is none"))
        }
    }
}
