//! Changes in the modern era: `subscriptions/listen`, its acknowledgement, notifications tagged with its id
//! (spec: basic/patterns/subscriptions).

use std::collections::BTreeSet;

use super::{Change, Filter, legacy};
use crate::{
    exchange::Note,
    fault::Fault,
    frame::Id,
    greeting::{Introduction, Profile},
    method::{Method, TASKS},
    raw::{Kind, Object, Raw},
};

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

impl Filter {
    /// Reads the parameters of `subscriptions/listen`.
    pub fn read(params: Option<&Raw>) -> Result<Self, Fault> {
        let wanted = params.and_then(|params| params.get("notifications")).filter(|all| all.kind() == Kind::Object);
        let wanted = wanted.ok_or_else(|| Fault::params("`subscriptions/listen` needs an object `notifications`"))?;
        let on = |key: &str| wanted.get(key).is_some_and(|value| value.as_bytes() == b"true");
        let names = |key: &str| -> Result<BTreeSet<String>, Fault> {
            let names = wanted.get(key).filter(|names| names.kind() != Kind::Null);
            let misfit = |_| Fault::params(format!("`{key}` must be an array of strings"));
            names.map_or(Ok(BTreeSet::new()), |names| names.read().map_err(misfit))
        };
        Ok(Self {
            tools: on("toolsListChanged"),
            prompts: on("promptsListChanged"),
            resources: on("resourcesListChanged"),
            uris: names("resourceSubscriptions")?,
            tasks: names("taskIds")?,
        })
    }

    /// What a `subscriptions/listen` of `caller` asks for, cut to what a server of this profile can honour; an error where
    /// it asks for what its caller did not declare.
    pub fn asked(params: Option<&Raw>, caller: &Introduction, profile: &Profile) -> Result<Self, Fault> {
        let filter = Self::read(params)?;
        // spec: tasks extension, task status notifications
        if !filter.tasks.is_empty() && !caller.declares(&["extensions", TASKS]) {
            return Err(Fault::extension(TASKS));
        }
        Ok(filter.honoured_by(profile))
    }

    /// Writes the parameters of `subscriptions/listen`, and of its acknowledgement.
    pub fn write(&self) -> Raw {
        let mut wanted = Object::with_capacity(128);
        let lists = [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ];
        for (key, _) in lists.into_iter().filter(|(_, on)| *on) {
            wanted.put_value(key, &true);
        }
        if !self.uris.is_empty() {
            wanted.put_value("resourceSubscriptions", &self.uris);
        }
        if !self.tasks.is_empty() {
            wanted.put_value("taskIds", &self.tasks);
        }
        let mut params = Object::with_capacity(128);
        params.put("notifications", &wanted.finish());
        params.finish()
    }
}

/// The first message of a subscription: what it will be told.
pub fn acknowledge(listen: &Id, honoured: &Filter) -> Note {
    tag(listen, Note::new(Method::Acknowledged, honoured.write()))
}

/// The notification that tells subscription `listen` of `change`.
pub fn note(listen: &Id, change: &Change) -> Note {
    tag(listen, legacy::note(change))
}

/// The result with which a server ends subscription `listen`.
pub fn end(listen: &Id) -> Raw {
    let mut result = Object::with_capacity(96);
    result.put("_meta", &meta(listen));
    result.finish()
}

fn tag(listen: &Id, note: Note) -> Note {
    let params = note.params.unwrap_or(Raw::EMPTY).with(&[("_meta", Some(&meta(listen)))]);
    Note { params: Some(params), ..note }
}

fn meta(listen: &Id) -> Raw {
    let mut meta = Object::with_capacity(64);
    meta.put(SUBSCRIPTION_ID, &listen.to_raw());
    meta.finish()
}

/// The subscription that a notification belongs to.
pub fn subscription(params: Option<&Raw>) -> Option<Id> {
    Id::read(&params?.get("_meta")?.get(SUBSCRIPTION_ID)?)
}
