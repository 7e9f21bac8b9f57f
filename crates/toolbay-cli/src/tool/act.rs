//! What can be done to the registry, and what is answered; the same from the command line and from an `up` that runs.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolbay_gateway::registry::{Added, Entry, Error, Existing, Registry, Switched};

/// One thing to be done, as it is written on a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Act {
    /// Add an entry.
    Add {
        /// The entry.
        entry: Value,
        /// Whether it may take a different one's place.
        #[serde(default)]
        replace: bool,
    },
    /// Take an entry out.
    Remove {
        /// Its name.
        name: String,
    },
    /// Turn an entry on.
    Enable {
        /// Its name.
        name: String,
    },
    /// Turn an entry off.
    Disable {
        /// Its name.
        name: String,
    },
    /// Say which there are.
    List,
    /// Say what an entry is.
    Show {
        /// Its name.
        name: String,
    },
}

/// Why it was not done, with the code by which the command ends.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: u8,
    pub(crate) what: String,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Unknown { .. } => 5,
            Error::Taken { .. } | Error::Unsound { .. } => 2,
            Error::File(_) => 3,
            Error::Disk { .. } | Error::Busy { .. } | Error::NotLive { .. } => 1,
        };
        Self { code, what: error.to_string() }
    }
}

/// Does it; what it changed is on the disk when it is answered.
pub(crate) fn perform(registry: &Registry, act: &Act) -> Result<Value, Error> {
    let changed = |name: &str, change: &str| Ok(json!({"tool": name, "change": change}));
    match act {
        Act::Add { entry, replace } => {
            let entry = Entry::read(entry)?;
            let existing = if *replace { Existing::Replace } else { Existing::Refuse };
            let change = match registry.add_tool(&entry, existing)? {
                Added::New => "added",
                Added::Same => "unchanged",
                Added::Replaced => "replaced",
            };
            changed(&entry.name, change)
        }
        Act::Remove { name } => {
            registry.remove_tool(name)?;
            changed(name, "removed")
        }
        Act::Enable { name } => changed(name, word(registry.enable_tool(name)?, "enabled")),
        Act::Disable { name } => changed(name, word(registry.disable_tool(name)?, "disabled")),
        Act::List => {
            let now = SystemTime::now();
            let all: Vec<_> = registry.tools()?.iter().map(|entry| listed(entry, now)).collect();
            Ok(json!({"file": registry.file(), "tools": all}))
        }
        Act::Show { name } => {
            let entry = registry.tool(name)?;
            Ok(json!({"tool": entry.to_value(), "state": state(&entry, SystemTime::now())}))
        }
    }
}

fn word(switched: Switched, change: &'static str) -> &'static str {
    match switched {
        Switched::Now => change,
        Switched::Already => "unchanged",
    }
}

fn listed(entry: &Result<Entry, Error>, now: SystemTime) -> Value {
    match entry {
        Ok(entry) => json!({
            "name": entry.name,
            "description": entry.description,
            "transport": entry.transport,
            "category": entry.category,
            "enabled": entry.enabled,
            "expires_at": entry.expires_at,
            "state": state(entry, now),
        }),
        Err(Error::Unsound { name, why }) => json!({"name": name, "state": "unsound", "reason": why}),
        Err(error) => json!({"name": null, "state": "unsound", "reason": error.to_string()}),
    }
}

fn state(entry: &Entry, now: SystemTime) -> &'static str {
    match (entry.is_over(now), entry.enabled) {
        (true, _) => "expired",
        (false, true) => "enabled",
        (false, false) => "disabled",
    }
}
