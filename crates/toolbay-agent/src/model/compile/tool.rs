//! A tool, put into a provider's words.

use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use serde_json::Value;

use super::{
    arguments,
    loss::{Loss, Losses, Severity},
    open,
    renames::Renames,
    root,
    walk::Walk,
    words,
};
use crate::{
    model::{Defined, Wire},
    planner::validator,
    toolbox::Tool,
    transcript::Written,
};

/// Schemas that are larger, written out, are told in words.
const LARGEST: usize = 256 * 1024;
/// How long a description may be.
const DESCRIPTION: usize = 10_000;

/// A tool as a wire takes it, what that lost, and the way back for arguments.
#[derive(Debug)]
pub struct Compiled {
    defined: Defined,
    losses: Vec<Loss>,
    pub(super) renames: Renames,
    pub(super) tool: Arc<Tool>,
    validator: OnceLock<Result<Validator, String>>,
}

/// Puts a tool into the words of a wire, under a name.
pub fn compile(wire: Wire, name: &str, tool: &Arc<Tool>) -> Compiled {
    let (mut told, own) = (vec![], &tool.schema);
    let (schema, mut losses, renames) = match whole(wire, own, &mut told) {
        Ok(whole) => whole,
        Err((mut losses, why)) => {
            losses.add(Severity::NotPortable, "", why);
            told = vec![open::words(own)];
            (open::schema(), losses, Renames::default())
        }
    };
    let description = described(&tool.description, &told, &mut losses);
    let losses = losses.finish();
    let defined = Defined { name: name.to_owned(), description, schema };
    Compiled { defined, losses, renames, tool: Arc::clone(tool), validator: OnceLock::new() }
}

type Whole = (Value, Losses, Renames);

fn whole(wire: Wire, own: &Value, told: &mut Vec<String>) -> Result<Whole, (Losses, String)> {
    let fails = |why: &str| (Losses::default(), why.to_owned());
    if !own.is_object() {
        return Err(fails("its input schema is no object: the model is told in words that any object is taken"));
    }
    if own.to_string().len() > LARGEST {
        return Err(fails("its input schema is larger than 256 KiB: the model is told its beginning in words"));
    }
    let mut walk = Walk::new(wire, own);
    let Value::Object(schema) = walk.schema(own, "") else { return Err((walk.losses, "it has no schema".into())) };
    let Walk { mut losses, renames, .. } = walk;
    let Some(schema) = root::folded(schema, &mut losses, told) else {
        return Err((losses, "its input schema is of another type than object".into()));
    };
    let schema = Value::Object(schema);
    // Whatever a server wrote: one tool that is no JSON Schema fails the whole request.
    if !jsonschema::draft202012::meta::is_valid(&schema) {
        return Err((losses, "its input schema is no JSON Schema: the model is told it in words".into()));
    }
    Ok((schema, losses, renames))
}

fn described(own: &str, told: &[String], losses: &mut Losses) -> String {
    let mut description = own.to_owned();
    for sentence in told {
        let gap = if description.is_empty() { "" } else { "\n" };
        description = format!("{description}{gap}{sentence}");
    }
    if let Some((end, _)) = description.char_indices().nth(DESCRIPTION) {
        losses.add(Severity::Lossy, "", format!("its description is cut after {DESCRIPTION} characters"));
        description.truncate(end);
        description.push('…');
    }
    description
}

impl Compiled {
    /// As the wire takes it.
    pub fn defined(&self) -> &Defined {
        &self.defined
    }

    /// What is not the same there.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// The worst of them.
    pub fn severity(&self) -> Option<Severity> {
        self.losses.iter().map(|loss| loss.severity).max()
    }

    /// The tool that it stands for.
    pub fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }

    /// What a model wrote, as the tool takes it: under the server's names, and fitting the server's schema. An error is
    /// words that a model can act on.
    pub fn arguments(&self, written: &Written) -> Result<serde_json::Map<String, Value>, String> {
        arguments::read(self, written)
    }

    /// Arguments under the server's own names, as a person edits them.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        arguments::check(self, arguments)
    }

    /// What checks arguments; nothing where the schema is none that can be checked against, which must not refuse calls.
    pub(super) fn validator(&self) -> Option<&Validator> {
        let validator = self.validator.get_or_init(|| {
            let schema = &self.tool.schema;
            if !schema.is_object() {
                return Err("its input schema is no object".into());
            }
            validator(schema).map_err(|why| words::cut(&format!("its input schema {why}")))
        });
        validator.as_ref().ok()
    }

    /// Why arguments are not checked here, where they are not.
    pub fn unchecked(&self) -> Option<&str> {
        let _ = self.validator();
        self.validator.get()?.as_ref().err().map(String::as_str)
    }
}
