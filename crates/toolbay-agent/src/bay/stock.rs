//! What a bay or a server lists, as tools and items.

use std::sync::Arc;

use serde_json::Value;
use toolbay_gateway::{
    Bay,
    catalog::{Catalog, Listed},
    servers::Phase,
};
use toolbay_protocol::Raw;

use crate::toolbox::{Hints, Item, Tool, ToolId};

/// The tools of a catalog, sorted.
pub(super) fn tools(catalog: &Catalog) -> Vec<Arc<Tool>> {
    let tool = |(public, found): (&str, &toolbay_gateway::catalog::Found)| {
        let id = ToolId { server: found.server.to_string(), name: text(&found.name) };
        tool(id, public, &found.definition)
    };
    sorted(catalog.iter(Listed::Tools).filter_map(tool).collect())
}

/// The tools that one server lists.
pub(super) fn listed_tools(server: &str, listed: &[Raw]) -> Vec<Arc<Tool>> {
    let one = |definition: &Raw| {
        let name = text(&definition.get("name")?);
        tool(ToolId { server: server.to_owned(), name: name.clone() }, &name, definition)
    };
    sorted(listed.iter().filter_map(one).collect())
}

fn tool(id: ToolId, public: &str, definition: &Raw) -> Option<Arc<Tool>> {
    let definition: Value = definition.read().ok()?;
    let says = |key: &str| definition.get(key).and_then(Value::as_str);
    let description = says("description").or_else(|| says("title")).unwrap_or_default().to_owned();
    let schema = definition.get("inputSchema").cloned().unwrap_or_else(|| serde_json::json!({"type": "object"}));
    Some(Arc::new(Tool { id, public: public.to_owned(), description, schema, hints: Hints::listed(&definition) }))
}

fn sorted(mut tools: Vec<Arc<Tool>>) -> Vec<Arc<Tool>> {
    tools.sort_by(|one, other| (&one.id, &one.public).cmp(&(&other.id, &other.public)));
    tools
}

/// What else stands in a catalog.
pub(super) fn items(catalog: &Catalog, what: Listed) -> Vec<Item> {
    let item = |(public, found): (&str, &toolbay_gateway::catalog::Found)| {
        let entry = found.definition.read().ok()?;
        Some(Item { server: found.server.to_string(), public: public.to_owned(), entry })
    };
    sorted_items(catalog.iter(what).filter_map(item).collect())
}

/// What else one server lists.
pub(super) fn listed_items(server: &str, what: Listed, listed: &[Raw]) -> Vec<Item> {
    let item = |definition: &Raw| {
        let public = text(&definition.get(what.named_by())?);
        Some(Item { server: server.to_owned(), public, entry: definition.read().ok()? })
    };
    sorted_items(listed.iter().filter_map(item).collect())
}

fn sorted_items(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by(|one, other| (&one.server, &one.public).cmp(&(&other.server, &other.public)));
    items
}

/// The servers of a bay that are not there, and why.
pub(super) fn down(bay: &Bay) -> Vec<(String, String)> {
    let why = |status: toolbay_gateway::servers::Status| {
        let why = match status.phase {
            Phase::Failed(why) => why,
            Phase::Connecting => "it is still starting".to_owned(),
            Phase::Ready { .. } | Phase::Resting { .. } | Phase::Disabled => return None,
        };
        Some((status.server.to_string(), why))
    };
    bay.status().into_iter().filter_map(why).collect()
}

/// A text, or what stands there where it is none.
pub(super) fn text(raw: &Raw) -> String {
    raw.as_text().map_or_else(|| raw.as_str().to_owned(), |text| text.into_owned())
}
