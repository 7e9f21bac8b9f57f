//! Tasks under public names: what a server calls a task is known to the bay alone, and its public name opens for the
//! principal alone whose it is. Nothing is kept: the name holds all that is needed.

use std::{sync::LazyLock, time::Duration};

use memchr::memmem::Finder;
use toolbay_protocol::{
    Feature, Method, Raw, Revision, raw::Object, types::meta::key::RELATED_TASK, watch::TaskChange,
};
use toolbay_transport::Principal;

use super::{
    kept::own_id,
    seal::{Sealer, Sort},
};

// Made once: that takes longer than to search a short message.
static RELATED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(RELATED_TASK));
static TASK_ID: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"taskId\""));

/// Renames tasks of one server for one principal.
#[derive(Clone, Copy)]
pub(crate) struct Tasks<'t> {
    pub(crate) sealer: &'t Sealer,
    pub(crate) principal: &'t Principal,
    pub(crate) server: &'t str,
}

/// A result that begins a task.
pub(crate) struct Begun {
    /// What the server calls it.
    pub(crate) id: String,
    /// How long the server keeps it, if it says so.
    pub(crate) life: Option<Duration>,
}

impl Tasks<'_> {
    /// The public name of what the server calls `id`.
    pub(crate) fn public(&self, id: &str) -> String {
        self.sealer.name(Sort::Task, self.principal, self.server, id)
    }

    /// The public name of a task that is kept here under `name`.
    pub(crate) fn kept(&self, name: &str) -> String {
        self.sealer.name(Sort::Kept, self.principal, self.server, name)
    }

    /// What the server calls what `public` names.
    fn own(&self, public: &str) -> Option<String> {
        let plain = || self.sealer.named(Sort::Task, self.principal, public);
        let kept = || {
            let (server, name) = self.sealer.named(Sort::Kept, self.principal, public)?;
            Some((server, own_id(&name)?.to_owned()))
        };
        let (server, id) = plain().or_else(kept)?;
        (server == self.server).then_some(id)
    }

    /// An object whose member `taskId` is a public name.
    pub(crate) fn renamed(&self, object: &Raw) -> Raw {
        self.with(object, |id| Some(self.public(id)))
    }

    fn with(&self, object: &Raw, name: impl Fn(&str) -> Option<String>) -> Raw {
        let id = object.get("taskId");
        let renamed = id.as_ref().and_then(Raw::as_text).and_then(|id| name(&id));
        renamed.map_or_else(|| object.clone(), |id| object.with(&[("taskId", Some(&Raw::of(&id)))]))
    }

    /// Something of the server's that may say in `_meta` which task it belongs to.
    pub(crate) fn related(&self, message: &Raw) -> Raw {
        self.relate(message, |id| Some(self.public(id)))
    }

    /// The same of the caller's.
    pub(crate) fn related_there(&self, message: &Raw) -> Raw {
        self.relate(message, |id| self.own(id))
    }

    fn relate(&self, message: &Raw, name: impl Fn(&str) -> Option<String>) -> Raw {
        if RELATED.find(message.as_bytes()).is_none() {
            return message.clone();
        }
        let Some(meta) = message.get("_meta") else { return message.clone() };
        let Some(task) = meta.get(RELATED_TASK) else { return message.clone() };
        let meta = meta.with(&[(RELATED_TASK, Some(&self.with(&task, name)))]);
        message.with(&[("_meta", Some(&meta))])
    }

    /// Where a task stands, as its watcher knows it.
    pub(crate) fn change(&self, change: &TaskChange) -> TaskChange {
        TaskChange { id: self.public(&change.id), state: self.renamed(&change.state) }
    }

    /// A result of `method` that the server wrote in `revision`, and what it begins.
    pub(crate) fn result(&self, method: &Method, revision: Revision, result: &Raw) -> (Raw, Option<Begun>) {
        // What begins with its content begins no task, whichever the revision; most results do.
        if *method == Method::ToolsCall
            && result.as_bytes().starts_with(br#"{"content":"#)
            && revision.has(Feature::CoreTasks)
        {
            return (result.clone(), None);
        }
        let names_one = || TASK_ID.find(result.as_bytes()).is_some();
        match method {
            Method::ToolsCall if !names_one() => (result.clone(), None),
            Method::ToolsCall if revision.has(Feature::CoreTasks) => {
                let Some(task) = result.get("task").filter(|_| result.get("content").is_none()) else {
                    return (result.clone(), None);
                };
                let begun = begun(&task, "ttl");
                (self.related(&result.with(&[("task", Some(&self.renamed(&task)))])), begun)
            }
            Method::ToolsCall => match result.get("resultType").as_ref().and_then(Raw::as_text).as_deref() {
                Some("task") => (self.renamed(result), begun(result, "ttlMs")),
                Some(_) | None => (result.clone(), None),
            },
            Method::TasksGet | Method::TasksCancel => (self.related(&self.renamed(result)), None),
            Method::TasksResult => (self.related(result), None),
            _ => (result.clone(), None),
        }
    }

    /// The members of a page of `tasks/list`.
    pub(crate) fn page(&self, result: &Raw) -> Vec<Raw> {
        result.get("tasks").map(|tasks| tasks.elements().map(|task| self.renamed(&task)).collect()).unwrap_or_default()
    }
}

fn begun(task: &Raw, life: &str) -> Option<Begun> {
    let id = task.get("taskId")?.as_text()?.into_owned();
    Some(Begun { id, life: self::life(task, life) })
}

fn life(task: &Raw, key: &str) -> Option<Duration> {
    let millis: u64 = task.get(key)?.read().ok()?;
    Some(Duration::from_millis(millis))
}

/// The parameters that begin a call as a task, of a server that will have it no other way.
pub(crate) fn as_task(params: &Raw) -> Raw {
    params.with(&[("task", Some(&Raw::EMPTY))])
}

/// The parameters that wait for the result of what a call began; `None` where it began nothing.
pub(crate) fn awaited(result: &Raw) -> Option<Raw> {
    let id = result.get("task")?.get("taskId")?;
    let mut params = Object::with_capacity(96);
    params.put("taskId", &id);
    Some(params.finish())
}
