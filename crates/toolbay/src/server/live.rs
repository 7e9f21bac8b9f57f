//! A server at work: what it serves now, who wants to know of changes, and how it describes itself.

use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, OnceLock},
    time::Duration,
};

use arc_swap::ArcSwap;
use serde_json::json;
use toolbay_protocol::{
    Raw, Revision,
    greeting::Profile,
    method::TASKS,
    raw::Object,
    types::{Conform as _, Implementation, TaskSupport},
    watch::Change,
};
use toolbay_transport::{Caller, Hub};

use super::{
    around::Around,
    ask::Sealer,
    output::Form,
    page::Hints,
    prompt::Prompt,
    registry::{Added, Registry},
    resource::{Resource, Template},
    tasks::{Keeping, Tasks},
    tool::Tool,
    visible::{Item, Visible},
};
use crate::error::{Foreign, Report};

/// Whether a server tells of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    Yes,
    No,
}

/// What is settled before the server starts.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) who: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) of_lists: Tells,
    pub(crate) of_resources: Tells,
    pub(crate) page_size: Option<NonZeroUsize>,
    pub(crate) lists: Hints,
    pub(crate) reads: Hints,
    pub(crate) foreign: Foreign,
    pub(crate) sealer: Option<Sealer>,
    pub(crate) visible: Option<Visible>,
    pub(crate) tasks: Keeping,
    pub(crate) call_deadline: Option<Duration>,
    pub(crate) around: Vec<Around>,
    pub(crate) report: Arc<dyn Fn(&Report) + Send + Sync>,
}

impl Settings {
    /// How long lists may be kept; by their caller alone where each sees its own.
    pub(crate) fn list_hints(&self) -> Hints {
        if self.visible.is_some() { self.lists.private() } else { self.lists.clone() }
    }

    /// The same for what was read, where a resource says nothing of it.
    pub(crate) fn read_hints(&self) -> Hints {
        if self.visible.is_some() { self.reads.private() } else { self.reads.clone() }
    }

    pub(crate) fn new(who: Implementation) -> Self {
        Self {
            who,
            instructions: None,
            of_lists: Tells::No,
            of_resources: Tells::No,
            page_size: None,
            lists: Hints::default(),
            reads: Hints::default(),
            foreign: Foreign::default(),
            sealer: Sealer::random(Sealer::LIFE),
            visible: None,
            tasks: Keeping::default(),
            call_deadline: None,
            around: Vec::new(),
            report: Arc::new(write_to_stderr),
        }
    }
}

#[expect(clippy::print_stderr, reason = "where servers log, unless their author says otherwise")]
fn write_to_stderr(report: &Report) {
    eprintln!("{report}");
}

/// A server at work.
pub(crate) struct Live {
    pub(crate) settings: Settings,
    pub(crate) registry: ArcSwap<Registry>,
    pub(crate) hub: Hub,
    pub(crate) tasks: Tasks,
    profile: OnceLock<Arc<Profile>>,
    forms: [OnceLock<Arc<Form>>; Revision::ALL.len()],
}

impl Live {
    pub(crate) fn new(settings: Settings, registry: Arc<Registry>) -> Self {
        let hub = Hub::new();
        Self {
            settings,
            registry: ArcSwap::new(registry),
            tasks: Tasks::told_at(hub.clone()),
            hub,
            profile: OnceLock::new(),
            forms: Default::default(),
        }
    }

    /// How it describes itself; settled when it is first asked.
    pub(crate) fn profile(&self) -> Arc<Profile> {
        Arc::clone(self.profile.get_or_init(|| Arc::new(describe(&self.settings, &self.registry.load()))))
    }

    /// The form that `revision` wants results in.
    pub(crate) fn form(&self, revision: Revision) -> Arc<Form> {
        let make = || Arc::new(Form::new(revision, &self.profile().server));
        Arc::clone(self.forms[revision as usize].get_or_init(make))
    }

    /// Whether `caller` sees `item`.
    pub(crate) fn shows(&self, caller: &Caller, item: Item<'_>) -> bool {
        self.settings.visible.as_ref().is_none_or(|visible| visible.judge(caller, item))
    }

    /// Replaces what is served by an edited copy.
    fn edit<T>(&self, mut edit: impl FnMut(&mut Registry) -> T) -> T {
        let mut outcome = None;
        self.registry.rcu(|registry| {
            let mut copy = Registry::clone(registry);
            outcome = Some(edit(&mut copy));
            copy
        });
        outcome.expect("the closure ran at least once")
    }
}

/// spec: capabilities match what is there, nothing is promised beyond it
fn describe(settings: &Settings, registry: &Registry) -> Profile {
    let list = |tells: Tells| {
        let mut list = Object::with_capacity(24);
        if tells == Tells::Yes {
            list.put_value("listChanged", &true);
        }
        list
    };
    let changing = settings.of_lists == Tells::Yes;
    let mut capabilities = Object::with_capacity(160);
    if !registry.tools.is_empty() || changing {
        capabilities.put("tools", &list(settings.of_lists).finish());
    }
    if !registry.prompts.is_empty() {
        capabilities.put("prompts", &list(settings.of_lists).finish());
    }
    if !registry.resources.is_empty() || !registry.templates.is_empty() || registry.lister.is_some() {
        let mut resources = list(settings.of_lists);
        if settings.of_resources == Tells::Yes {
            resources.put_value("subscribe", &true);
        }
        capabilities.put("resources", &resources.finish());
    }
    let completes = registry.prompts.iter().any(|prompt| !prompt.completions.is_empty())
        || registry.templates.iter().any(|template| !template.completions.is_empty());
    if completes {
        capabilities.put("completions", &Raw::EMPTY);
    }
    capabilities.put("logging", &Raw::EMPTY);
    if registry.tools.iter().any(|tool| tool.task_support() != TaskSupport::Forbidden) {
        // The one for 2025-11-25, the other for what came after.
        capabilities.put_value("tasks", &json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}));
        capabilities.put_value("extensions", &json!({ TASKS: {} }));
    }
    let who = settings.who.clone().conformed(toolbay_protocol::Revision::LATEST);
    Profile { server: Raw::of(&who), capabilities: capabilities.finish(), instructions: settings.instructions.clone() }
}

/// A running server, to be changed. What it serves is replaced whole: calls under way see what was there before.
///
/// Clients are told of changed lists where the server said that it would: [`Server::list_changed`](super::Server::list_changed).
pub struct Handle<S = ()> {
    live: Arc<Live>,
    state: Arc<S>,
}

impl Handle {
    pub(crate) fn new(live: Arc<Live>) -> Self {
        Self { live, state: Arc::new(()) }
    }
}

impl<S: Send + Sync + 'static> Handle<S> {
    pub(crate) fn with_state(live: Arc<Live>, state: Arc<S>) -> Self {
        Self { live, state }
    }

    /// Adds a tool, or replaces the one of the same name.
    pub fn add_tool(&self, tool: Tool<S>) -> Added {
        let entry = Arc::new(tool.bound(Arc::clone(&self.state)));
        let added = self.live.edit(|registry| registry.tools.put(Arc::clone(&entry)));
        self.live.hub.publish(&Change::Tools);
        added
    }

    /// Takes a tool away; says whether it was there.
    pub fn remove_tool(&self, name: &str) -> Removed {
        let removed = self.live.edit(|registry| registry.tools.take(name).is_some());
        self.told(removed, &Change::Tools)
    }

    /// Adds a prompt, or replaces the one of the same name.
    pub fn add_prompt(&self, prompt: Prompt<S>) -> Added {
        let entry = Arc::new(prompt.bound(Arc::clone(&self.state)));
        let added = self.live.edit(|registry| registry.prompts.put(Arc::clone(&entry)));
        self.live.hub.publish(&Change::Prompts);
        added
    }

    /// Takes a prompt away; says whether it was there.
    pub fn remove_prompt(&self, name: &str) -> Removed {
        let removed = self.live.edit(|registry| registry.prompts.take(name).is_some());
        self.told(removed, &Change::Prompts)
    }

    /// Adds a resource, or replaces the one of the same URI.
    pub fn add_resource(&self, resource: Resource<S>) -> Added {
        let entry = Arc::new(resource.bound(Arc::clone(&self.state)));
        let added = self.live.edit(|registry| registry.resources.put(Arc::clone(&entry)));
        self.live.hub.publish(&Change::Resources);
        added
    }

    /// Takes a resource away; says whether it was there.
    pub fn remove_resource(&self, uri: &str) -> Removed {
        let removed = self.live.edit(|registry| registry.resources.take(uri).is_some());
        self.told(removed, &Change::Resources)
    }

    /// Adds a template, or replaces the one of the same text.
    pub fn add_template(&self, template: Template<S>) -> Added {
        let entry = Arc::new(template.bound(Arc::clone(&self.state)));
        let added = self.live.edit(|registry| registry.templates.put(Arc::clone(&entry)));
        self.live.hub.publish(&Change::Resources);
        added
    }

    /// Takes a template away; says whether it was there.
    pub fn remove_template(&self, text: &str) -> Removed {
        let removed = self.live.edit(|registry| registry.templates.take(text).is_some());
        self.told(removed, &Change::Resources)
    }

    /// Tells who watches the resource that it changed.
    pub fn updated(&self, uri: impl Into<String>) {
        self.live.hub.publish(&Change::Updated(uri.into()));
    }

    /// Tells that the list of resources changed, where it is made when it is asked for.
    pub fn resources_changed(&self) {
        self.live.hub.publish(&Change::Resources);
    }

    #[cfg(test)]
    pub(crate) fn watch_for_tests(&self) -> toolbay_transport::Watch {
        self.live.hub.watch(toolbay_protocol::watch::Filter::lists())
    }

    fn told(&self, removed: bool, change: &Change) -> Removed {
        if removed {
            self.live.hub.publish(change);
            Removed::Gone
        } else {
            Removed::Unknown
        }
    }
}

/// What taking away came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It was there and is no more.
    Gone,
    /// It was not there.
    Unknown,
}

impl<S> Clone for Handle<S> {
    fn clone(&self) -> Self {
        Self { live: Arc::clone(&self.live), state: Arc::clone(&self.state) }
    }
}

impl<S> fmt::Debug for Handle<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("server", &self.live.settings.who.name).finish_non_exhaustive()
    }
}
