//! `toolbay lint`: what providers of models take of each tool, and what that loses.

use std::sync::Arc;

use serde_json::{Value, json};
use toolbay_agent::{
    model::{
        Wire,
        compile::{Loss, Severity, compile, name_of},
    },
    toolbox::{Hints, Tool, ToolId},
};
use toolbay_gateway::{catalog::Listed, servers};

use crate::{
    args::{self, Lint},
    exit::Exit,
    show,
    target::{self, Reached, SILENCE},
};

/// Runs it.
pub(crate) async fn run(lint: Lint) -> Result<(), Exit> {
    let reached = target::reach((&lint.target).into()).await?;
    reached.settled().await;
    let tools = offered(&reached, lint.server.as_deref()).await;
    reached.close().await;
    let wires: Vec<Wire> = match lint.wire.as_slice() {
        [] => Wire::ALL.to_vec(),
        some => some.iter().map(|wire| wire.wire()).collect(),
    };
    let found: Vec<_> = tools?.iter().map(|tool| Found::of(tool, &wires)).collect();
    if lint.target.json {
        show::line(&as_json(&found, &wires).to_string());
    } else {
        show::line(&text(&found, &wires));
    }
    let broken = found.iter().filter(|found| found.worst() == Some(Severity::NotPortable)).count();
    match broken {
        0 => Ok(()),
        1 => Err(Exit::unportable("one tool is not portable")),
        more => Err(Exit::unportable(format!("{more} tools are not portable"))),
    }
}

/// The tools there are, of one server where that is named.
async fn offered(reached: &Reached, server: Option<&str>) -> Result<Vec<Arc<Tool>>, Exit> {
    let mut tools = vec![];
    if let Some(bay) = reached.bay() {
        if let Some(server) = server
            && !bay.status().iter().any(|status| *status.server == *server)
        {
            return Err(Exit::unknown(format!("there is no server {server:?}; `toolbay status` lists them")));
        }
        let catalog = bay.catalog();
        let of_server = |found: &toolbay_gateway::catalog::Found| server.is_none_or(|server| *found.server == *server);
        for (public, found) in catalog.iter(Listed::Tools).filter(|(_, found)| of_server(found)) {
            let own = found.name.as_text().unwrap_or_default().into_owned();
            let id = ToolId { server: found.server.to_string(), name: own };
            tools.extend(found.definition.read::<Value>().ok().map(|definition| tool(id, public, &definition)));
        }
    } else {
        if server.is_some() {
            return Err(Exit::usage("a server is named among those of a configuration; an address is one server"));
        }
        let listed = servers::whole(&reached.connection, Listed::Tools, SILENCE).await;
        let listed = listed.map_err(|why| Exit::failed(format!("the tools cannot be listed: {why}")))?;
        for definition in listed.iter().filter_map(|tool| tool.read::<Value>().ok()) {
            let name = definition.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            tools.push(tool(ToolId { server: String::new(), name: name.clone() }, &name, &definition));
        }
    }
    tools.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(tools)
}

fn tool(id: ToolId, public: &str, definition: &Value) -> Arc<Tool> {
    let description = definition.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let schema = definition.get("inputSchema").cloned().unwrap_or_default();
    Arc::new(Tool { id, public: public.to_owned(), description, schema, hints: Hints::listed(definition) })
}

/// What was found of a tool, by wire; and how it is called there.
struct Found {
    tool: Arc<Tool>,
    wires: Vec<(Wire, String, Vec<Loss>)>,
}

impl Found {
    fn of(tool: &Arc<Tool>, wires: &[Wire]) -> Self {
        let wires = wires.iter().map(|wire| {
            let name = name_of(*wire, &tool.public, &tool.id);
            let losses = compile(*wire, &name, tool).losses().to_vec();
            (*wire, name, losses)
        });
        Self { tool: Arc::clone(tool), wires: wires.collect() }
    }

    fn worst(&self) -> Option<Severity> {
        self.wires.iter().flat_map(|(_, _, losses)| losses).map(|loss| loss.severity).max()
    }

    /// Each loss once, with the wires that have it.
    fn together(&self) -> Vec<(&Loss, Vec<Wire>)> {
        let mut all: Vec<(&Loss, Vec<Wire>)> = vec![];
        for (wire, _, losses) in &self.wires {
            for loss in losses {
                match all.iter_mut().find(|(known, _)| *known == loss) {
                    Some((_, wires)) => wires.push(*wire),
                    None => all.push((loss, vec![*wire])),
                }
            }
        }
        all.sort_by_key(|(loss, _)| std::cmp::Reverse(loss.severity));
        all
    }
}

fn text(found: &[Found], wires: &[Wire]) -> String {
    let mut lines = vec![];
    for found in found {
        let losses = found.together();
        if losses.is_empty() {
            continue;
        }
        lines.push(show::safe(&found.tool.public));
        for (loss, on) in losses {
            let place = if loss.at.is_empty() { String::new() } else { format!("{}: ", show::safe(&loss.at)) };
            let on: Vec<_> = on.iter().map(Wire::to_string).collect();
            let on = if on.len() == wires.len() { "everywhere".to_owned() } else { on.join(", ") };
            lines.push(format!("  {:<12}  {place}{} ({on})", loss.severity.to_string(), show::safe(&loss.what)));
        }
    }
    let count = |severity| found.iter().filter(|found| found.worst() == severity).count();
    lines.push(format!(
        "{} tools: {} the same everywhere, {} in other words, {} lossy, {} not portable",
        found.len(),
        count(None),
        count(Some(Severity::Note)),
        count(Some(Severity::Lossy)),
        count(Some(Severity::NotPortable)),
    ));
    lines.join("\n")
}

fn as_json(found: &[Found], wires: &[Wire]) -> Value {
    let tools = found.iter().map(|found| {
        let on =
            found.wires.iter().map(|(wire, name, losses)| (wire.to_string(), json!({"name": name, "losses": losses})));
        json!({
            "server": found.tool.id.server, "name": found.tool.id.name, "public": found.tool.public,
            "severity": found.worst(), "wires": on.collect::<serde_json::Map<_, _>>(),
        })
    });
    json!({
        "wires": wires.iter().map(Wire::to_string).collect::<Vec<_>>(),
        "tools": tools.collect::<Vec<_>>(),
    })
}

impl args::OnWire {
    fn wire(self) -> Wire {
        match self {
            Self::Anthropic => Wire::Anthropic,
            Self::OpenaiChat => Wire::OpenAiChat,
            Self::OpenaiResponses => Wire::OpenAiResponses,
            Self::Gemini => Wire::Gemini,
            Self::Ollama => Wire::Ollama,
        }
    }
}
