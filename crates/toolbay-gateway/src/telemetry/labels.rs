//! What an operation was, in words of which there are few: the same on its span and on the number that it adds to.
// https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/

use std::sync::Arc;

use toolbay_protocol::{Method, Revision};

use super::attribute::{
    Attribute,
    Value::{Digits, Text, Whole},
};

/// What an operation was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Labels {
    pub(super) method: Method,
    /// The tool or prompt.
    pub(super) target: Option<Arc<str>>,
    pub(super) revision: Revision,
    pub(super) network: Network,
    /// The server of the configuration.
    pub(super) server: Option<Arc<str>>,
    pub(super) address: Option<(Arc<str>, u16)>,
    pub(super) failure: Option<Failed>,
}

/// What carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Network {
    /// HTTP.
    Tcp,
    /// Standard input and output.
    Pipe,
    /// Nothing: it is in this process.
    None,
}

/// How it failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Failed {
    /// With an error of the protocol.
    Code(i64),
    /// The tool says so.
    Tool,
    /// It was taken back, or its caller left.
    Cancelled,
}

impl Labels {
    /// What a span of it is called.
    pub(super) fn title(&self) -> String {
        match &self.target {
            Some(target) => format!("{} {target}", self.method),
            None => self.method.to_string(),
        }
    }

    pub(super) fn attributes(&self) -> Vec<Attribute<'_>> {
        let Self { method, target, revision, network, server, address, failure } = self;
        let mut all = Vec::with_capacity(16);
        all.push(("mcp.method.name", Text(method.as_str())));
        match (method, target) {
            (Method::ToolsCall, Some(tool)) => all.push(("gen_ai.tool.name", Text(tool))),
            (Method::PromptsGet, Some(prompt)) => all.push(("gen_ai.prompt.name", Text(prompt))),
            (_, _) => {}
        }
        if *method == Method::ToolsCall {
            all.push(("gen_ai.operation.name", Text("execute_tool")));
        }
        all.push(("mcp.protocol.version", Text(revision.as_str())));
        match network {
            Network::Tcp => all.extend([
                ("network.transport", Text("tcp")),
                ("network.protocol.name", Text("http")),
                ("network.protocol.version", Text("1.1")),
            ]),
            Network::Pipe => all.push(("network.transport", Text("pipe"))),
            Network::None => {}
        }
        if let Some((host, port)) = address {
            all.extend([("server.address", Text(host)), ("server.port", Whole(i64::from(*port)))]);
        }
        if let Some(server) = server {
            all.push(("toolbay.server", Text(server)));
        }
        match failure {
            Some(Failed::Code(code)) => {
                all.extend([("error.type", Digits(*code)), ("rpc.response.status_code", Digits(*code))]);
            }
            Some(Failed::Tool) => all.push(("error.type", Text("tool_error"))),
            Some(Failed::Cancelled) => all.push(("error.type", Text("cancelled"))),
            None => {}
        }
        all
    }
}
