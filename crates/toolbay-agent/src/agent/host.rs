//! The host's own tools, answered.

use serde_json::{Map, Value};

use super::face::Agent;
use crate::{
    results::{bounded, read},
    transcript::Origin,
    turn::{Given, HostTool},
};

impl Agent {
    /// What one of the host's own tools answers.
    pub(super) async fn host(&mut self, tool: HostTool, arguments: &Map<String, Value>) -> Given {
        let given = match tool {
            // It is as long as a page; what is read on is not put away again.
            HostTool::Read => return read(arguments, &self.settings.results, &self.store),
            HostTool::Search => self.shown.search(arguments).await,
            HostTool::Describe => self.shown.describe(arguments),
        };
        let origin = given.parts.iter().find_map(|part| part.origin.clone());
        let origin = origin.unwrap_or_else(|| Origin { server: String::new(), what: String::new() });
        let limits = &self.settings.results;
        let parts = bounded(given.parts, origin, limits.chars, limits, &mut self.store);
        Given { parts, ..given }
    }
}
