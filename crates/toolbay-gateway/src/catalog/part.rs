//! What one server offers, as it listed it.

use std::sync::Arc;

use toolbay_protocol::{Raw, Revision, raw::Kind, watch::Change};

use super::{
    merge::Report,
    names::{public_name, stands_alone},
};
use crate::config::Names;

/// What one server offers.
#[derive(Clone, Debug)]
pub struct Part {
    /// The server's name in the configuration.
    pub server: Arc<str>,
    /// The revision in which it listed all this.
    pub revision: Revision,
    /// Under which names its tools and prompts are public.
    pub names: Names,
    /// Tools: own name and definition.
    pub tools: Vec<(String, Raw)>,
    /// Prompts: own name and definition.
    pub prompts: Vec<(String, Raw)>,
    /// Resources: URI and definition.
    pub resources: Vec<(String, Raw)>,
    /// Resource templates: URI template and definition.
    pub templates: Vec<(String, Raw)>,
}

impl Part {
    /// A server that offers nothing.
    pub fn empty(server: Arc<str>, revision: Revision) -> Self {
        Self {
            server,
            revision,
            names: Names::default(),
            tools: vec![],
            prompts: vec![],
            resources: vec![],
            templates: vec![],
        }
    }

    /// Whether both offer the same.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.changes(other).is_empty()
    }

    /// The lists that are not what they were `before`.
    pub(crate) fn changes(&self, before: &Self) -> Vec<Change> {
        let resources = self.resources == before.resources && self.templates == before.templates;
        let lists = [
            (self.tools == before.tools, Change::Tools),
            (self.prompts == before.prompts, Change::Prompts),
            (resources, Change::Resources),
        ];
        lists.into_iter().filter(|(alike, _)| !alike).map(|(_, change)| change).collect()
    }

    /// Takes the items of a list, each under its `key`. What has none, or is no object, is reported and left out.
    pub(crate) fn keyed(&self, items: Vec<Raw>, key: &'static str, reports: &mut Vec<Report>) -> Vec<(String, Raw)> {
        let mut kept = Vec::with_capacity(items.len());
        for (place, item) in items.into_iter().enumerate() {
            match item.get(key).as_ref().and_then(Raw::as_text) {
                Some(name) if item.distinct().is_ok() => kept.push((name.into_owned(), item)),
                Some(name) => reports.push(Report::new(&self.server, format!("{name:?} has a key twice; left out"))),
                None => {
                    let what = format!("item {} of its list has no string {key:?}; left out", place + 1);
                    reports.push(Report::new(&self.server, what));
                }
            }
        }
        kept
    }

    /// The public definition of a tool or prompt: the same under its public name.
    pub(super) fn public(&self, name: &str, definition: &Raw) -> (String, Raw) {
        let public = match self.names {
            // What could be read as another server's keeps its prefix.
            Names::Own if stands_alone(name) => return (name.to_owned(), definition.clone()),
            Names::Own | Names::Prefixed => public_name(&self.server, name),
        };
        let definition = definition.with(&[("name", Some(&Raw::of(&public)))]);
        (public, definition)
    }

    /// Whether a definition of a tool is one that a client can take.
    pub(super) fn is_sound_tool(definition: &Raw) -> bool {
        definition.get("inputSchema").is_some_and(|schema| schema.kind() == Kind::Object)
    }
}
