//! Changes in the modern era: `subscriptions/listen`, its acknowledgement, notifications tagged with its id
//! (spec: basic/patterns/subscriptions).

use super::{Change, Filter, legacy};
use crate::{
    exchange::Note,
    fault::Fault,
    frame::Id,
    method::Method,
    raw::{Kind, Object, Raw},
};

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

impl Filter {
    /// Reads the parameters of `subscriptions/listen`.
    pub fn read(params: Option<&Raw>) -> Result<Self, Fault> {
        let wanted = params.and_then(|params| params.get("notifications")).filter(|all| all.kind() == Kind::Object);
        let wanted = wanted.ok_or_else(|| Fault::params("`subscriptions/listen` needs an object `notifications`"))?;
        let on = |key: &str| wanted.get(key).is_some_and(|value| value.as_bytes() == b"true");
        let uris = match wanted.get("resourceSubscriptions").filter(|uris| uris.kind() != Kind::Null) {
            Some(uris) => {
                uris.read().map_err(|_| Fault::params("`resourceSubscriptions` must be an array of strings"))?
            }
            None => Default::default(),
        };
        Ok(Self {
            tools: on("toolsListChanged"),
            prompts: on("promptsListChanged"),
            resources: on("resourcesListChanged"),
            uris,
        })
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
