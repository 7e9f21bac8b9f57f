//! What an intent means.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    host::{self, Named},
    list::Shown,
};
use crate::{
    toolbox::Tool,
    transcript::{Intent, Written},
    turn::{Beside, Reading, Target},
};

/// How much of a schema is told to a model that wrote what does not fit.
const SCHEMA: usize = 2_000;

impl Shown {
    /// What an intent means, and the tool that it names, where there is one. `call_tool` means the tool that it names: from
    /// here on nothing tells the two apart.
    pub(crate) fn read(&self, intent: &Intent, beside: &dyn Fn(&Tool) -> Beside) -> (Reading, Option<Arc<Tool>>) {
        match host::named(&intent.name) {
            Some((Named::Host(tool), definition)) => {
                let reading = match self.compiler.fit(&definition.public, definition, &intent.arguments) {
                    Ok(arguments) => Reading::Call { target: Target::Host(tool), arguments, beside: Beside::Others },
                    Err(flaw) => Reading::Not(format!("[host] Not called: {flaw}.")),
                };
                (reading, None)
            }
            Some((Named::Call, definition)) => match self.inner(definition, &intent.arguments) {
                Ok((name, arguments)) => self.call(&name, &Written::Object(arguments), beside),
                Err(flaw) => (Reading::Not(format!("[host] Not called: {flaw}.")), None),
            },
            None => self.call(&intent.name, &intent.arguments, beside),
        }
    }

    /// Other arguments for a tool, if they fit.
    pub(crate) fn refit(&self, tool: &Arc<Tool>, arguments: Map<String, Value>) -> Result<Map<String, Value>, String> {
        let arguments = Value::Object(arguments);
        let name = self.names.of(&tool.id).unwrap_or(&tool.public);
        self.compiler.of(name, tool).check(&arguments)?;
        match arguments {
            Value::Object(arguments) => Ok(arguments),
            _ => Ok(Map::new()),
        }
    }

    fn call(&self, name: &str, written: &Written, beside: &dyn Fn(&Tool) -> Beside) -> (Reading, Option<Arc<Tool>>) {
        let tool = match self.find(name) {
            Ok(tool) => tool,
            Err(why) => return (Reading::Not(format!("[host] Not called: {why}")), None),
        };
        let shown = self.names.of(&tool.id).unwrap_or(&tool.public);
        let reading = match self.compiler.fit(shown, tool, written) {
            Ok(arguments) => Reading::Call { target: Target::Tool(Arc::clone(tool)), arguments, beside: beside(tool) },
            Err(flaw) => {
                let schema = self.compiler.of(shown, tool).defined().schema.to_string();
                let cut = &schema[..schema.floor_char_boundary(SCHEMA)];
                let more = if cut.len() < schema.len() { "…" } else { "" };
                Reading::Not(format!("[host] Not called: {flaw}. The schema of `{name}` is {cut}{more}"))
            }
        };
        (reading, Some(Arc::clone(tool)))
    }

    /// The tool of a name, as it was shown or found; or what to do where there is none.
    pub(super) fn find(&self, name: &str) -> Result<&Arc<Tool>, String> {
        let id = self.names.find(name);
        if let Some(tool) = id.and_then(|id| self.tools.get(id)) {
            return Ok(tool);
        }
        if let Some(tool) = self.shelf.tools.iter().find(|tool| tool.public == name) {
            return Ok(tool);
        }
        if let Some(id) = id {
            let down = self.shelf.down.iter().find(|(server, _)| *server == id.server);
            let why = down.map_or_else(String::new, |(_, why)| format!(": {why}"));
            return Err(format!("`{name}` of server {:?} is not there any more{why}.", id.server));
        }
        let near = self.names.nearest(name, |tool| self.tools.contains_key(tool));
        let near: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
        Err(match near.is_empty() {
            true => format!("there is no tool `{name}`. Use one of those that are shown, or look for one."),
            false => format!("there is no tool `{name}`. Nearest are {}.", near.join(", ")),
        })
    }

    /// Name and arguments of the tool that `call_tool` is to call.
    fn inner(&self, definition: &Arc<Tool>, written: &Written) -> Result<(String, Map<String, Value>), String> {
        let mut given = self.compiler.fit(&definition.public, definition, written)?;
        let name = given.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        match given.remove("arguments") {
            Some(Value::Object(arguments)) => Ok((name, arguments)),
            Some(Value::Null) | None => Ok((name, Map::new())),
            Some(_) => Err("`arguments` must be an object".into()),
        }
    }
}
