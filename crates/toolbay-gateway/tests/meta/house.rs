//! Clients by name, and a server whose tools say what they are for.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolbay_gateway::{
    Bay,
    meta::{Expose, Exposure},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::Outcome,
    greeting::{Introduction, Profile},
    peer::Call,
    raw::Object,
    watch::Filter,
};
use toolbay_transport::{Approach, Caller, Connection, Cx, Hub, Request, Service, Watch, connect, duplex};

use crate::script::Ears;

/// One revision of each era.
pub(crate) const ERAS: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

/// The names of all tools of our own that are there in any case.
pub(crate) const OWN: [&str; 3] = ["search_tools", "describe_tool", "call_tool"];

pub(crate) fn searching() -> Exposure {
    Exposure { expose: Expose::Search, ..Exposure::default() }
}

/// A client of that name.
pub(crate) async fn client(bay: &Bay, revision: Revision, name: &str) -> (Connection, Arc<Ears>) {
    let us = Introduction {
        client: Some(Raw::of(&json!({"name": name, "version": "1"}))),
        capabilities: Raw::of(&json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}})),
        ..Introduction::anonymous(revision)
    };
    let ears = Arc::new(Ears::default());
    let mut approach = Approach::new(us).heard_by(Arc::clone(&ears) as _);
    approach.revision = Some(revision);
    (connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap(), ears)
}

/// The names of the tools that a client is shown.
pub(crate) async fn listed(client: &Connection) -> Vec<String> {
    let list = client.request(Call::new(Method::ToolsList, None)).await.unwrap().unwrap();
    let list: Value = list.read().unwrap();
    let tools = list["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

pub(crate) async fn call(client: &Connection, tool: &str, arguments: Value) -> Outcome {
    let params = Raw::of(&json!({"name": tool, "arguments": arguments}));
    client.request(Call::new(Method::ToolsCall, Some(params))).await.unwrap()
}

/// What one of our own answers: the object, which is the same as the text.
pub(crate) async fn own(client: &Connection, tool: &str, arguments: Value) -> Value {
    let answer: Value = call(client, tool, arguments).await.unwrap().read().unwrap();
    assert_ne!(answer["isError"], true, "{answer}");
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), answer["structuredContent"]);
    answer["structuredContent"].clone()
}

/// What the model is told that it did wrong.
pub(crate) async fn flaw(client: &Connection, tool: &str, arguments: Value) -> String {
    let answer: Value = call(client, tool, arguments).await.unwrap().read().unwrap();
    assert_eq!(answer["isError"], true, "{answer}");
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

/// A server with these definitions; a call is answered with its parameters.
#[derive(Default)]
pub(crate) struct Shop {
    pub(crate) tools: Mutex<Vec<Raw>>,
    pub(crate) hub: Hub,
}

impl Shop {
    pub(crate) fn of(tools: Vec<Raw>) -> Arc<Self> {
        Arc::new(Self { tools: Mutex::new(tools), hub: Hub::new() })
    }
}

impl Service for Shop {
    fn profile(&self) -> Arc<Profile> {
        let server = Raw::of(&json!({"name": "shop", "version": "1"}));
        let capabilities = Raw::of(&json!({"tools": {"listChanged": true}}));
        Arc::new(Profile { server, capabilities, instructions: None })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        match request.method {
            Method::ToolsList => {
                let mut list = Object::with_capacity(1024);
                list.put("tools", &Raw::array(&self.tools.lock().unwrap()));
                Ok(list.finish())
            }
            _ => Ok(crate::script::said(request.params.as_str())),
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }
}
