//! What a scripted service may do, and the plans that every one of them knows.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolbay_protocol::{ErrorObject, Method, Raw, exchange::Ask, fault::code};

/// One thing that a request's service does.
#[derive(Clone, Debug)]
pub enum Act {
    /// Tells how far it is, with a message.
    Progress(f64, &'static str),
    /// Writes a line of log of this level.
    Log(&'static str),
    /// Asks its caller, under these keys, at once.
    Ask(Vec<(&'static str, Ask)>),
    /// Has a caller that can come back later.
    ComeBack,
    /// Waits until the test says [`go_on`](crate::Service::go_on).
    Wait,
    /// Ends with an error.
    Fail(ErrorObject),
    /// Ends with this result instead of what it heard.
    Answer(Value),
}

impl Act {
    /// Asks the user something.
    pub fn elicit(key: &'static str, message: &str) -> Self {
        Self::Ask(vec![(key, elicit(message))])
    }
}

fn elicit(message: &str) -> Ask {
    let schema = json!({"type": "object", "properties": {"n": {"type": "string"}}});
    Ask { method: Method::Elicit, params: Some(Raw::of(&json!({"message": message, "requestedSchema": schema}))) }
}

fn sample() -> Ask {
    let message = json!({"role": "user", "content": {"type": "text", "text": "hm?"}});
    Ask { method: Method::CreateMessage, params: Some(Raw::of(&json!({"messages": [message], "maxTokens": 9}))) }
}

/// The plans by name.
pub(crate) fn standard() -> BTreeMap<String, Vec<Act>> {
    let roots = Ask { method: Method::RootsList, params: None };
    let plans = [
        ("echo", vec![]),
        ("slow", vec![Act::Wait]),
        ("progress", vec![Act::Progress(1.0, "one"), Act::Wait, Act::Progress(2.0, "two")]),
        ("log", vec![Act::Log("debug"), Act::Log("warning"), Act::Log("info")]),
        ("ask", vec![Act::elicit("name", "Who?")]),
        ("sample", vec![Act::Ask(vec![("model", sample())])]),
        ("ask_both", vec![Act::Ask(vec![("roots", roots.clone()), ("model", sample())])]),
        ("ask_twice", vec![Act::Ask(vec![("roots", roots)]), Act::Ask(vec![("model", sample())])]),
        ("come_back", vec![Act::ComeBack]),
        ("fail", vec![Act::Answer(json!({"content": [], "isError": true}))]),
        ("lost", vec![Act::Fail(ErrorObject::new(code::RESOURCE_NOT_FOUND, "nothing there"))]),
    ];
    plans.into_iter().map(|(name, acts)| (name.to_owned(), acts)).collect()
}
