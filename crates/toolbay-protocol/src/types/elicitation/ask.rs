//! What the user is asked.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::RequestedSchema;
use crate::{
    fault::{Fault, Unsupported},
    raw::{Kind, Raw},
    revision::{Feature as F, Revision},
    types::{
        Conform, Meta, TaskMetadata,
        meta::conform_meta,
        words::{choices, words},
    },
};

choices! {
    /// How the user is asked.
    ElicitMode {
        /// With a form; also meant where no mode is named.
        Form = "form",
        /// By a URL.
        Url = "url",
    }
}

words! {
    /// Asks the user to fill in a form.
    ElicitFormParams {
        need {
            /// What for.
            message: String = "message",
            /// The fields, as [`RequestedSchema`] reads them.
            requested_schema: Raw = "requestedSchema",
        }
        may {
            /// `form`, or nothing.
            mode: ElicitMode = "mode",
            /// Run it as a task (2025-11-25).
            task: TaskMetadata = "task",
            /// About the request (until 2025-11-25).
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Asks the user to open a URL.
    #[derive(Default)]
    ElicitUrlParams: "mode" = "url" {
        need {
            /// What for.
            message: String = "message",
            /// Where to; must be shown whole and opened only with consent.
            url: String = "url",
        }
        may {
            /// Names it in the notification that it is done (2025-11-25).
            elicitation_id: String = "elicitationId",
            /// Run it as a task (2025-11-25).
            task: TaskMetadata = "task",
            /// About the request (until 2025-11-25).
            meta: Meta = "_meta",
        }
    }
}

/// Parameters of `elicitation/create`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitParams {
    /// With a form.
    Form(ElicitFormParams),
    /// By a URL.
    Url(ElicitUrlParams),
    /// In a mode we do not know, as it was written.
    Unknown(Raw),
}

words! {
    /// Parameters of `notifications/elicitation/complete` (2025-11-25).
    #[derive(Default)]
    ElicitationCompleteParams {
        need {
            /// Which one.
            elicitation_id: String = "elicitationId",
        }
        may {
            /// About the notification.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Data of error −32042: elicitations that must come first (2025-11-25).
    #[derive(Default)]
    UrlElicitationRequired {
        need {
            /// Each of them, with its id.
            elicitations: Vec<ElicitUrlParams> = "elicitations",
        }
    }
}

impl ElicitParams {
    /// A form.
    pub fn form(message: impl Into<String>, schema: &RequestedSchema) -> Self {
        Self::Form(ElicitFormParams::new(message, Raw::of(schema)))
    }

    /// A URL.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(ElicitUrlParams::new(message, url))
    }
}

impl ElicitFormParams {
    /// The fields, where they are as the spec wants them.
    pub fn schema(&self) -> Result<RequestedSchema, Fault> {
        let fault = |flaw| Fault::params(format!("`requestedSchema` is no flat object of simple fields: {flaw}"));
        self.requested_schema.read().map_err(fault)
    }
}

impl Conform for ElicitFormParams {
    fn conform(&mut self, revision: Revision) {
        let Self { message, requested_schema, mode, task, meta, rest: _ } = self;
        if let (false, Ok(mut schema)) = (revision.has(F::ElicitationModes), requested_schema.read::<RequestedSchema>())
        {
            let unasked = schema.simplify(revision);
            if !unasked.is_empty() {
                let fields = unasked.join(", ");
                message.push_str(&format!("\n\n(Not asked here, for want of a choice of several: {fields}.)"));
            }
            *requested_schema = Raw::of(&schema);
        }
        revision.keep(F::ElicitationModes, mode);
        conform_shared(task, meta, revision);
    }

    fn check(&self, revision: Revision) -> Result<(), Fault> {
        let Ok(schema) = self.requested_schema.read::<RequestedSchema>() else { return Ok(()) };
        if revision.has(F::ElicitationModes) || !schema.demands_several() {
            return Ok(());
        }
        Err(Fault::params("the form demands a choice of several, which the client's protocol version cannot show"))
    }
}

impl Conform for ElicitUrlParams {
    fn conform(&mut self, revision: Revision) {
        let Self { message, url, elicitation_id, task, meta, rest: _ } = self;
        revision.need(F::ElicitationIds, elicitation_id, || made_id(message, url));
        conform_shared(task, meta, revision);
    }

    fn check(&self, revision: Revision) -> Result<(), Fault> {
        if revision.has(F::ElicitationModes) {
            return Ok(());
        }
        let required = Raw::of(&serde_json::json!({ "elicitation": { "url": {} } }));
        Err(Fault::Unsupported(Unsupported::Capability(required)))
    }
}

impl Conform for ElicitParams {
    fn conform(&mut self, revision: Revision) {
        match self {
            Self::Form(form) => form.conform(revision),
            Self::Url(url) => url.conform(revision),
            Self::Unknown(_) => {}
        }
    }

    fn check(&self, revision: Revision) -> Result<(), Fault> {
        match self {
            Self::Form(form) => form.check(revision),
            Self::Url(url) => url.check(revision),
            Self::Unknown(_) if revision.has(F::UnknownContent) => Ok(()),
            Self::Unknown(raw) => Err(Fault::params(format!("elicitation in a mode nobody knows here: {raw:?}"))),
        }
    }
}

impl Conform for ElicitationCompleteParams {
    fn conform(&mut self, revision: Revision) {
        let Self { elicitation_id: _, meta, rest: _ } = self;
        conform_meta(meta, revision);
    }
}

fn conform_shared(task: &mut Option<TaskMetadata>, meta: &mut Option<Meta>, revision: Revision) {
    revision.keep(F::CoreTasks, task);
    revision.keep(F::AskMeta, meta);
    conform_meta(meta, revision);
}

/// An id for an elicitation that came without one: the same question has the same id (FNV-1a).
fn made_id(message: &str, url: &str) -> String {
    let bytes = url.bytes().chain([0]).chain(message.bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("elicitation-{hash:016x}")
}

impl Serialize for ElicitParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Form(form) => form.serialize(serializer),
            Self::Url(url) => url.serialize(serializer),
            Self::Unknown(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ElicitParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let mode = raw.get("mode").filter(|mode| mode.kind() != Kind::Null);
        match mode.as_ref().map(|mode| mode.as_text()) {
            None => raw.read().map(Self::Form),
            Some(Some(mode)) if mode == "form" => raw.read().map(Self::Form),
            Some(Some(mode)) if mode == "url" => raw.read().map(Self::Url),
            Some(Some(_)) => Ok(Self::Unknown(raw)),
            Some(None) => return Err(de::Error::custom("`mode` must be a string")),
        }
        .map_err(de::Error::custom)
    }
}
