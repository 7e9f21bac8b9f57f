//! Many parts, one catalog.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use foldhash::fast::RandomState;
use toolbay_protocol::{
    Feature, Method, Raw, Revision, headers::HeaderPlan, raw::Object, types::relay::conform_result,
};

use super::{
    part::{Part, Tasks},
    sound, template,
};

/// Something that was left out, or is worth knowing of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The server it is about.
    pub server: Arc<str>,
    /// One sentence.
    pub what: String,
}

impl Report {
    /// A report on `server`.
    pub fn new(server: &Arc<str>, what: impl Into<String>) -> Self {
        Self { server: Arc::clone(server), what: what.into() }
    }
}

/// Where a public name leads.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The public name.
    pub public: Arc<str>,
    /// The server.
    pub server: Arc<str>,
    /// The name (or URI) there, as JSON.
    pub name: Raw,
    /// The definition, as the server wrote it.
    pub definition: Raw,
    /// Whether it must run as a task.
    pub task: TaskNeed,
}

/// Whether a tool must run as a task (2025-11-25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskNeed {
    /// It cannot, or is no tool.
    None,
    /// It can.
    May,
    /// It runs as nothing else.
    Must,
}

impl TaskNeed {
    fn of(definition: &Raw, revision: Revision) -> Self {
        if !revision.has(Feature::CoreTasks) {
            return Self::None;
        }
        let support = definition.get("execution").and_then(|execution| execution.get("taskSupport"));
        match support.as_ref().and_then(Raw::as_text).as_deref() {
            Some("required") => Self::Must,
            Some("optional") => Self::May,
            Some(_) | None => Self::None,
        }
    }
}

/// A list that may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the protocol's own words")]
pub enum Listed {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl Listed {
    const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The list that a method asks for.
    pub fn of(method: &Method) -> Option<Self> {
        Self::ALL.into_iter().find(|listed| listed.method() == *method)
    }

    /// The method that asks for it.
    pub fn method(self) -> Method {
        match self {
            Self::Tools => Method::ToolsList,
            Self::Prompts => Method::PromptsList,
            Self::Resources => Method::ResourcesList,
            Self::Templates => Method::TemplatesList,
        }
    }

    /// The member of the result that holds it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// What one item is called.
    pub(crate) fn one(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Prompts => "prompt",
            Self::Resources => "resource",
            Self::Templates => "resource template",
        }
    }

    /// The member of an item that names it.
    pub fn named_by(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }
}

/// Everything on offer at one moment.
#[derive(Debug, Default)]
pub struct Catalog {
    tables: [Table; 4],
    templates: Vec<(String, Arc<str>)>,
    /// What callers of a tool repeat in headers, by public name, where there is anything.
    plans: HashMap<String, Arc<HeaderPlan>>,
}

#[derive(Debug, Default)]
struct Table {
    /// Where each public name leads.
    found: HashMap<Arc<str>, Found, RandomState>,
    /// The public definitions in order, with the revision each was written in, and who says whether it runs as a task.
    shown: Vec<(Raw, Revision, Tasks)>,
    /// The result of the list in each revision, once somebody asked for it.
    results: [OnceLock<Raw>; Revision::ALL.len()],
}

impl Catalog {
    /// The catalog of `parts`, in their order; what cannot be shown is reported.
    pub fn of<'p>(parts: impl Iterator<Item = &'p Part> + Clone) -> (Self, Vec<Report>) {
        let (mut catalog, mut reports) = (Self::default(), vec![]);
        for part in parts {
            for (name, definition) in &part.tools {
                if Part::is_sound_tool(definition) {
                    let (public, shown) = part.public(name, definition);
                    catalog.plan(&public, definition);
                    catalog.add(Listed::Tools, part, public, name, definition, shown, &mut reports);
                } else {
                    let what = format!("tool {}: it has no input schema; left out", sound::shown(name));
                    reports.push(Report::new(&part.server, what));
                }
            }
            for (name, definition) in &part.prompts {
                let (public, shown) = part.public(name, definition);
                catalog.add(Listed::Prompts, part, public, name, definition, shown, &mut reports);
            }
            for (uri, definition) in &part.resources {
                catalog.add(Listed::Resources, part, uri.clone(), uri, definition, definition.clone(), &mut reports);
            }
            for (uri, definition) in &part.templates {
                catalog.templates.push((uri.clone(), Arc::clone(&part.server)));
                catalog.add(Listed::Templates, part, uri.clone(), uri, definition, definition.clone(), &mut reports);
            }
        }
        (catalog, reports)
    }

    #[expect(clippy::too_many_arguments, reason = "one item and all that is known of it")]
    fn add(
        &mut self,
        listed: Listed,
        part: &Part,
        public: String,
        name: &str,
        definition: &Raw,
        shown: Raw,
        reports: &mut Vec<Report>,
    ) {
        let table = &mut self.tables[listed as usize];
        if let Some(first) = table.found.get(&*public) {
            let what = format!("{} {} stands in {} already; left out", listed.one(), sound::shown(name), first.server);
            return reports.push(Report::new(&part.server, what));
        }
        let task = TaskNeed::of(definition, part.revision);
        let definition = definition.clone();
        let (public, server) = (Arc::<str>::from(public), Arc::clone(&part.server));
        let found = Found { public: Arc::clone(&public), server, name: Raw::of(name), definition, task };
        table.found.insert(public, found);
        table.shown.push((shown, part.revision, part.tasks));
    }

    fn plan(&mut self, public: &str, definition: &Raw) {
        let plan = definition.get("inputSchema").and_then(|schema| HeaderPlan::of_json(schema.as_bytes()).ok());
        // A second tool of that name is left out, and its headers with it.
        if let Some(plan) = plan.filter(|plan| !plan.is_empty() && self.find(Listed::Tools, public).is_none()) {
            self.plans.insert(public.to_owned(), Arc::new(plan));
        }
    }

    /// Which parameters of a tool its callers repeat in headers, where a transport has headers.
    pub fn header_plan(&self, tool: &str) -> Option<&Arc<HeaderPlan>> {
        self.plans.get(tool)
    }

    /// Where a public name leads.
    pub fn find(&self, listed: Listed, public: &str) -> Option<&Found> {
        self.tables[listed as usize].found.get(public)
    }

    /// Whether a server listed the URI itself.
    pub(crate) fn lists(&self, uri: &str) -> bool {
        self.find(Listed::Resources, uri).is_some()
    }

    /// The server that a resource is read from: it listed the URI, or a template that the URI fits.
    pub fn server_of(&self, uri: &str) -> Option<&Arc<str>> {
        let listed = self.find(Listed::Resources, uri).map(|found| &found.server);
        listed.or_else(|| {
            let fitting = self.templates.iter().find(|(template, _)| template::fits(template, uri));
            fitting.map(|(_, server)| server)
        })
    }

    /// How many stand in a list.
    pub fn count(&self, listed: Listed) -> usize {
        self.tables[listed as usize].shown.len()
    }

    /// How many bytes the definitions of a list take.
    pub(crate) fn bytes(&self, listed: Listed) -> usize {
        self.tables[listed as usize].shown.iter().map(|(item, ..)| item.as_bytes().len()).sum()
    }

    /// Everything that stands in a list: public name and where it leads.
    pub fn iter(&self, listed: Listed) -> impl Iterator<Item = (&str, &Found)> {
        self.tables[listed as usize].found.iter().map(|(public, found)| (&**public, found))
    }

    /// The whole list as `revision` writes it; written once, then kept.
    pub fn result(&self, listed: Listed, revision: Revision) -> Raw {
        let table = &self.tables[listed as usize];
        table.results[revision.place()].get_or_init(|| write(table, listed, revision)).clone()
    }

    /// Whether a list reads the same as in `other`.
    pub fn lists_alike(&self, other: &Self, listed: Listed) -> bool {
        self.tables[listed as usize].shown == other.tables[listed as usize].shown
    }
}

fn write(table: &Table, listed: Listed, revision: Revision) -> Raw {
    let mut items = Vec::with_capacity(table.shown.len());
    for (item, from, tasks) in &table.shown {
        let item = conformed(item, listed, *from, revision);
        items.extend(item.map(|item| match (listed, tasks) {
            (Listed::Tools, Tasks::Extension) if revision.has(Feature::CoreTasks) => with_tasks(&item),
            (Listed::Tools | Listed::Prompts | Listed::Resources | Listed::Templates, _) => item,
        }));
    }
    list(listed, &items)
}

/// A tool of a server that decides itself which calls become tasks: whoever wishes for one is given one in any case.
// spec: 2025-11-25 basic/utilities/tasks, tool-level negotiation
fn with_tasks(tool: &Raw) -> Raw {
    tool.with(&[("execution", Some(&Raw::of(&serde_json::json!({"taskSupport": "optional"}))))])
}

/// One item as `revision` writes it, by way of a list of one; an item that cannot be read at all stays out.
fn conformed(item: &Raw, listed: Listed, from: Revision, to: Revision) -> Option<Raw> {
    if to.reads_verbatim(from) {
        return Some(item.clone());
    }
    let one = list(listed, std::slice::from_ref(item));
    let result = conform_result(&listed.method(), &one, from, to).ok()?;
    result.get(listed.key())?.elements().next()
}

fn list(listed: Listed, items: &[Raw]) -> Raw {
    let mut result = Object::with_capacity(items.iter().map(|item| item.as_bytes().len() + 1).sum::<usize>() + 32);
    result.put(listed.key(), &Raw::array(items));
    result.finish()
}
