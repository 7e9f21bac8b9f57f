//! What may be asked.

use serde::{Deserialize, Serialize};

use crate::{session::Sessions, tool::Act};

/// A question, as it is written on one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Question {
    /// How it does.
    Status,
    /// What a server wrote to its log and stderr.
    Logs {
        /// Which.
        server: String,
        /// Whether to go on with what it writes from now on.
        #[serde(default)]
        follow: bool,
    },
    /// To read the configuration anew.
    Reload,
    /// The sessions of devices.
    Session {
        /// What of them.
        act: Sessions,
    },
    /// Something of the registry of tools.
    Tool {
        /// What.
        act: Act,
    },
}
