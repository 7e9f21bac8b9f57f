//! What one server offers, as it listed it.

use std::{borrow::Cow, sync::Arc};

use toolbay_protocol::{Feature, Raw, Revision, greeting::Meeting, method::TASKS, raw::Kind, watch::Change};

use super::{
    merge::{Listed, Report},
    names::{public_name, stands_alone},
    sound::{self, Judged},
    template,
};
use crate::{config::Names, limits::Bounds};

/// How many items of one list are told of by name.
const TOLD: usize = 50;

/// What one server offers.
#[derive(Clone, Debug)]
pub struct Part {
    /// The server's name in the configuration.
    pub server: Arc<str>,
    /// The revision in which it listed all this.
    pub revision: Revision,
    /// Who says which of its calls become tasks.
    pub tasks: Tasks,
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

/// Who says which calls of a server become tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// Nobody, or each tool itself.
    None,
    /// The server, with each call of a client that declared the extension.
    Extension,
}

impl Tasks {
    /// How it is with a server that said this of itself.
    pub(crate) fn of(meeting: &Meeting) -> Self {
        let extended = meeting.revision.has(Feature::Stateless) && meeting.profile.declares(&["extensions", TASKS]);
        if extended { Self::Extension } else { Self::None }
    }
}

impl Part {
    /// A server that offers nothing.
    pub fn empty(server: Arc<str>, revision: Revision) -> Self {
        Self {
            server,
            revision,
            tasks: Tasks::None,
            names: Names::default(),
            tools: vec![],
            prompts: vec![],
            resources: vec![],
            templates: vec![],
        }
    }

    /// Whether it lists a resource under this URI.
    pub(crate) fn lists(&self, uri: &str) -> bool {
        self.resources.iter().any(|(listed, _)| listed == uri)
    }

    /// Whether the URI fits one of its templates.
    pub(crate) fn fits(&self, uri: &str) -> bool {
        self.templates.iter().any(|(written, _)| template::fits(written, uri))
    }

    /// Whether both offer the same.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.changes(other).is_empty()
    }

    /// The lists that are not what they were `before`.
    pub(crate) fn changes(&self, before: &Self) -> Vec<Change> {
        let resources = self.resources == before.resources && self.templates == before.templates;
        let lists = [
            (self.tools == before.tools && self.tasks == before.tasks, Change::Tools),
            (self.prompts == before.prompts, Change::Prompts),
            (resources, Change::Resources),
        ];
        lists.into_iter().filter(|(alike, _)| !alike).map(|(_, change)| change).collect()
    }

    /// Takes the items of a list, each under its name. What no client could take is left out, or mended, and reported.
    pub(crate) fn keyed(
        &self,
        items: Vec<Raw>,
        listed: Listed,
        bounds: &Bounds,
        reports: &mut Vec<Report>,
    ) -> Vec<(String, Raw)> {
        let (mut kept, mut told) = (Vec::with_capacity(items.len()), 0usize);
        let mut tell = |what: String| {
            told += 1;
            if told <= TOLD {
                reports.push(Report::new(&self.server, what));
            }
        };
        for (place, item) in items.into_iter().enumerate() {
            let Some(name) = item.get(listed.named_by()).as_ref().and_then(Raw::as_text).map(Cow::into_owned) else {
                let (place, key) = (place + 1, listed.named_by());
                tell(format!("item {place} of its {} has no string {key:?}; left out", listed.key()));
                continue;
            };
            match sound::judge(listed, &name, item, bounds) {
                Judged::Sound(item) => kept.push((name, item)),
                Judged::Mended(item, what) => {
                    tell(format!("{} {}: {what}", listed.one(), sound::shown(&name)));
                    kept.push((name, item));
                }
                Judged::Unfit(why) => tell(format!("{} {}: {why}; left out", listed.one(), sound::shown(&name))),
            }
        }
        if told > TOLD {
            let more = told - TOLD;
            reports
                .push(Report::new(&self.server, format!("{more} more of its {} are left out or mended", listed.key())));
        }
        kept
    }

    /// The public definition of a tool or prompt: the same under its public name.
    pub(super) fn public(&self, name: &str, definition: &Raw) -> (String, Raw) {
        let public = match self.names {
            // What could be read as another server's keeps its prefix.
            Names::Own if stands_alone(name) => return (name.to_owned(), definition.clone()),
            Names::Entry if name == &*self.server && stands_alone(name) => {
                return (name.to_owned(), definition.clone());
            }
            Names::Own | Names::Prefixed | Names::Entry => public_name(&self.server, name),
        };
        let definition = definition.with(&[("name", Some(&Raw::of(&public)))]);
        (public, definition)
    }

    /// Whether a definition of a tool is one that a client can take.
    pub(super) fn is_sound_tool(definition: &Raw) -> bool {
        definition.get("inputSchema").is_some_and(|schema| schema.kind() == Kind::Object)
    }
}
