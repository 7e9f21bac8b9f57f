//! What an operation was, in words of which there are few: the same on its span and on the number that it adds to.
// https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/

use std::{borrow::Cow, sync::Arc};

use toolbay_protocol::{Method, Revision};

use super::attribute::{Attribute, text, whole};

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

    pub(super) fn attributes(&self) -> Vec<Attribute> {
        let Self { method, target, revision, network, server, address, failure } = self;
        let mut all = vec![text("mcp.method.name", method.as_str().to_owned())];
        let owned = |text: &Arc<str>| Cow::Owned(String::from(&**text));
        match (method, target) {
            (Method::ToolsCall, Some(tool)) => all.push(text("gen_ai.tool.name", owned(tool))),
            (Method::PromptsGet, Some(prompt)) => all.push(text("gen_ai.prompt.name", owned(prompt))),
            (_, _) => {}
        }
        if *method == Method::ToolsCall {
            all.push(text("gen_ai.operation.name", "execute_tool"));
        }
        all.push(text("mcp.protocol.version", revision.as_str()));
        match network {
            Network::Tcp => all.extend([
                text("network.transport", "tcp"),
                text("network.protocol.name", "http"),
                text("network.protocol.version", "1.1"),
            ]),
            Network::Pipe => all.push(text("network.transport", "pipe")),
            Network::None => {}
        }
        if let Some((host, port)) = address {
            all.extend([text("server.address", owned(host)), whole("server.port", i64::from(*port))]);
        }
        if let Some(server) = server {
            all.push(text("toolbay.server", owned(server)));
        }
        match failure {
            Some(Failed::Code(code)) => {
                all.extend([text("error.type", code.to_string()), text("rpc.response.status_code", code.to_string())]);
            }
            Some(Failed::Tool) => all.push(text("error.type", "tool_error")),
            Some(Failed::Cancelled) => all.push(text("error.type", "cancelled")),
            None => {}
        }
        all
    }
}
