//! How a bay introduces itself, to servers and to clients.

use toolbay_protocol::{
    Raw, Revision,
    greeting::{Introduction, Profile},
    method::TASKS,
};

/// How a bay introduces itself, to clients and to servers.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Identity {
    fn info(&self) -> Raw {
        Raw::of(&serde_json::json!({"name": self.name, "title": "Toolbay", "version": self.version}))
    }

    /// To the servers it calls.
    pub(crate) fn client(&self) -> Introduction {
        Introduction {
            revision: Revision::LATEST,
            client: Some(self.info()),
            // For itself it asks nothing of anybody; what its callers can is declared on their behalf.
            capabilities: Raw::of(&serde_json::json!({"extensions": {TASKS: {}}})),
            device: None,
        }
    }

    /// To its own clients.
    pub(crate) fn server(&self) -> Profile {
        Profile {
            server: self.info(),
            capabilities: Raw::of(&serde_json::json!({
                "tools": {"listChanged": true},
                "prompts": {"listChanged": true},
                "resources": {"subscribe": true, "listChanged": true},
                "completions": {},
                "logging": {}
            })),
            instructions: Some(
                "Toolbay joins many servers: the name of each tool and prompt begins with its server's.".to_owned(),
            ),
        }
    }
}
