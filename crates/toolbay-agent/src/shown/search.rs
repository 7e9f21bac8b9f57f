//! What `search_tools` and `describe_tool` answer: what the gateway's own answer, by the names that hold in this
//! conversation, each piece with the server it comes from.

use std::sync::{Arc, PoisonError};

use serde_json::{Map, Value, json};
use tokio::task;
use toolbay_retrieval::{Fit, Hit, Parts, Query};

use super::list::Shown;
use crate::{
    toolbox::Tool,
    transcript::{Outcome, Part},
    turn::Given,
};

/// How many tools are found, where nothing else is asked for.
const FOUND: u64 = 5;
/// How long a description among others may be; `describe_tool` shows all of it.
const DESCRIPTION: usize = 600;

impl Shown {
    /// Answers `search_tools`. The search is worked out aside: the first takes as long as all tools do to be read.
    pub(crate) async fn search(&self, arguments: &Map<String, Value>) -> Given {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).map(str::to_owned);
        let (query, server) = (text("query").unwrap_or_default(), text("server"));
        let limit = arguments.get("limit").and_then(Value::as_u64).unwrap_or(FOUND).clamp(1, 20) as usize;
        let schema = arguments.get("schema") == Some(&Value::Bool(true));
        let (pick, shelf, names) = (Arc::clone(&self.pick), Arc::clone(&self.shelf), self.names.all());
        let asked = (query.clone(), server.clone());
        let searching = task::spawn_blocking(move || {
            let (query, server) = asked;
            let query = Query::new(&query).limit(limit);
            let query = match &server {
                Some(server) => query.on(server),
                None => query,
            };
            pick.lock().unwrap_or_else(PoisonError::into_inner).search(&shelf, &names, &query)
        });
        let found = match searching.await {
            Ok(found) => found,
            Err(why) => return Given::failure(format!("[host] The search failed: {why}.")),
        };
        if found.fit == Fit::Nothing {
            return Given::success(self.nothing(&query, server.as_deref()));
        }
        // Beside the best, only what answers a word of the request, or is nearer to it than tools are on average.
        let near = |(place, hit): &(usize, &Hit)| *place == 0 || hit.score > 0.0 || answers(hit);
        let hits = found.hits.iter().enumerate().filter(near);
        let parts = hits.filter_map(|(_, hit)| self.find(&hit.id).ok().map(|tool| one(&hit.id, tool, schema)));
        Given { parts: parts.collect(), outcome: Outcome::Success }
    }

    /// Answers `describe_tool`: a tool as its server gave it.
    pub(crate) fn describe(&self, arguments: &Map<String, Value>) -> Given {
        let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
        match self.find(name) {
            Err(why) => Given::failure(format!("[host] {why}")),
            Ok(tool) => {
                let told = json!({
                    "name": self.names.of(&tool.id).unwrap_or(name), "server": tool.id.server,
                    "definition": {
                        "name": tool.id.name, "description": tool.description, "inputSchema": tool.schema,
                    },
                });
                Given { parts: vec![of(tool, &told)], outcome: Outcome::Success }
            }
        }
    }

    fn nothing(&self, query: &str, server: Option<&str>) -> String {
        match server {
            Some(server) if !self.shelf.tools.iter().any(|tool| tool.id.server == server) => {
                format!("[host] No server {server:?} offers a tool; search without `server`.")
            }
            Some(server) => {
                format!("[host] No tool of {server:?} fits {query:?}; search without `server`, or in other words.")
            }
            None => format!("[host] No tool fits {query:?}; say in other words what has to be done."),
        }
    }
}

fn answers(hit: &Hit) -> bool {
    match &hit.parts {
        Parts::Best { matched, .. } => !matched.is_empty(),
        Parts::Weighted(parts) => parts.name + parts.description > 0.0,
    }
}

fn one(name: &str, tool: &Tool, schema: bool) -> Part {
    let description = &tool.description;
    let cut = &description[..description.floor_char_boundary(DESCRIPTION)];
    let more = if cut.len() < description.len() { "…" } else { "" };
    let mut told = json!({"name": name, "server": tool.id.server, "description": format!("{cut}{more}")});
    if schema {
        told["inputSchema"] = tool.schema.clone();
    }
    of(tool, &told)
}

fn of(tool: &Tool, told: &Value) -> Part {
    Part::text(told.to_string()).from(&*tool.id.server, &*tool.id.name)
}
