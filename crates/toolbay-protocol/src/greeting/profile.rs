//! What a server says of itself.

use crate::{
    fault::Fault,
    method::{Method, SKILLS, TASKS},
    raw::{Kind, Raw},
    revision::{Feature, Revision},
};

/// A server, as it introduces itself to everyone.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name and version (`Implementation`).
    pub server: Raw,
    /// What it can do (`ServerCapabilities`).
    pub capabilities: Raw,
    /// How a model should use it.
    pub instructions: Option<String>,
}

/// A server, as it introduced itself to us.
#[derive(Clone, Debug, PartialEq)]
pub struct Meeting {
    /// The revision that is spoken with it.
    pub revision: Revision,
    /// What it says of itself.
    pub profile: Profile,
}

impl Profile {
    /// Whether a capability is declared, by its path: `["resources", "subscribe"]`.
    pub fn declares(&self, path: &[&str]) -> bool {
        let found = path.iter().try_fold(self.capabilities.clone(), |at, key| at.get(key));
        found.is_some_and(|found| found.kind() != Kind::Null && found.as_bytes() != b"false")
    }

    /// An error where `revision` does not know the method, or this server did not advertise it.
    pub fn admits(&self, method: &Method, revision: Revision) -> Result<(), Fault> {
        let advertised = match method {
            Method::ToolsList | Method::ToolsCall => self.declares(&["tools"]),
            Method::ResourcesList | Method::TemplatesList | Method::ResourcesRead => self.declares(&["resources"]),
            Method::Subscribe | Method::Unsubscribe => self.declares(&["resources", "subscribe"]),
            Method::PromptsList | Method::PromptsGet => self.declares(&["prompts"]),
            Method::Complete => !revision.has(Feature::CompletionsCapability) || self.declares(&["completions"]),
            Method::SetLevel => self.declares(&["logging"]),
            Method::TasksGet | Method::TasksCancel if !revision.has(Feature::CoreTasks) => {
                self.declares(&["extensions", TASKS])
            }
            Method::TasksGet | Method::TasksResult | Method::TasksList | Method::TasksCancel => {
                self.declares(&["tasks"])
            }
            Method::TasksUpdate => self.declares(&["extensions", TASKS]),
            Method::SkillsList | Method::SkillsGet | Method::DirectoryRead => self.declares(&["extensions", SKILLS]),
            Method::Listen | Method::Discover | Method::Ping | Method::Initialize => true,
            Method::CreateMessage | Method::RootsList | Method::Elicit => false,
            Method::Initialized
            | Method::Cancelled
            | Method::Progress
            | Method::Message
            | Method::ToolsChanged
            | Method::PromptsChanged
            | Method::ResourcesChanged
            | Method::ResourceUpdated
            | Method::RootsChanged
            | Method::ElicitationComplete
            | Method::TaskStatus
            | Method::Acknowledged
            | Method::Tasks
            | Method::Other(_) => false,
        };
        if advertised && !method.is_foreign_to(revision) { Ok(()) } else { Err(Fault::method(method)) }
    }

    /// The capabilities as `revision` knows them.
    pub fn capabilities_in(&self, revision: Revision) -> Raw {
        let mut gone: Vec<(&str, Option<&Raw>)> = vec![];
        if !revision.has(Feature::CompletionsCapability) {
            gone.push(("completions", None));
        }
        if !revision.has(Feature::CoreTasks) {
            gone.push(("tasks", None));
        }
        if gone.is_empty() { self.capabilities.clone() } else { self.capabilities.with(&gone) }
    }
}
