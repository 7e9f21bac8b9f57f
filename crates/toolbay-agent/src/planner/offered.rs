//! A tool as the planner sees it. Where it comes from is known here alone.

use serde_json::Value;
use toolbay_gateway::{Bay, catalog::Listed};
use toolbay_retrieval as retrieval;

/// The category of a tool of which none is told.
const OTHER: &str = "other";

/// A tool that may be called.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// The name it is called by.
    pub name: String,
    /// The server it belongs to; may be empty.
    pub server: String,
    /// What its server calls it.
    pub own: String,
    /// What it does.
    pub description: String,
    /// What it takes, as JSON Schema.
    pub schema: Value,
    /// What it is for, in one word.
    pub category: String,
    /// Whether somebody has to agree first.
    pub caution: Caution,
}

/// Whether somebody has to agree before a tool is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caution {
    /// It says nothing that speaks against it.
    #[default]
    None,
    /// It says of itself that it destroys, or leaves it open where it could say that it does not.
    Destroys,
}

impl Caution {
    /// What a tool's annotations call for.
    // spec: schema, `ToolAnnotations`: not read-only and destructive unless they say otherwise. Only a tool that says nothing
    // of the kind at all is taken for neither.
    fn of(annotations: &Value) -> Self {
        let hint = |key: &str| annotations.get(key).and_then(Value::as_bool);
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        let speaks = hints.iter().any(|key| hint(key).is_some());
        let destroys = speaks && hint("readOnlyHint") != Some(true) && hint("destructiveHint") != Some(false);
        if destroys { Self::Destroys } else { Self::None }
    }
}

impl Offered {
    /// A tool of no server, which takes anything.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            own: name.clone(),
            name,
            server: String::new(),
            description: description.into(),
            schema: serde_json::json!({"type": "object"}),
            category: OTHER.into(),
            caution: Caution::None,
        }
    }

    /// The tool as a member of that server.
    #[must_use]
    pub fn on(self, server: impl Into<String>) -> Self {
        Self { server: server.into(), ..self }
    }

    /// The tool in that category.
    #[must_use]
    pub fn category(self, category: impl Into<String>) -> Self {
        Self { category: category.into(), ..self }
    }

    /// The tool with that input schema.
    #[must_use]
    pub fn taking(self, schema: Value) -> Self {
        Self { schema, ..self }
    }

    /// A tool as a server lists it; nothing where that has no name.
    pub fn listed(definition: &Value) -> Option<Self> {
        let text = |key: &str| definition.get(key).and_then(Value::as_str);
        let name = text("name")?;
        let description = [text("title"), text("description")].into_iter().flatten().collect::<Vec<_>>().join(". ");
        let caution = definition.get("annotations").map_or(Caution::None, Caution::of);
        let tool = Self { caution, ..Self::new(name, description) };
        Some(match definition.get("inputSchema") {
            Some(schema) => tool.taking(schema.clone()),
            None => tool,
        })
    }

    /// The tools of a bay as they stand now, each in the category of its entry in the registry.
    pub fn of(bay: &Bay) -> Vec<Self> {
        let catalog = bay.catalog();
        let tools = catalog.iter(Listed::Tools).filter_map(|(public, found)| {
            let tool = Self::listed(&found.definition.read().ok()?)?;
            let own = found.name.as_text().map_or_else(|| public.to_owned(), std::borrow::Cow::into_owned);
            let entry = bay.entry(&found.server);
            let said = entry.as_ref().and_then(|entry| entry.description.clone());
            let description = if tool.description.is_empty() { said.unwrap_or_default() } else { tool.description };
            let category = entry.and_then(|entry| entry.category).unwrap_or(tool.category);
            Some(Self { name: public.to_owned(), own, server: found.server.to_string(), description, category, ..tool })
        });
        let mut tools: Vec<Self> = tools.collect();
        tools.sort_by(|left, right| left.name.cmp(&right.name));
        tools
    }

    /// The tool as it is searched for.
    pub(super) fn searched(&self) -> retrieval::Tool {
        let tool = retrieval::Tool::new(&self.name, &self.own, &self.description).on(&self.server);
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().fold(tool.category(&self.category), |tool, (name, property)| {
            let said = property.get("description").and_then(Value::as_str).unwrap_or_default();
            tool.param(name, said)
        })
    }
}
