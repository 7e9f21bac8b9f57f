//! Peers that talk: a client and a server, and a bridge between two such pairs, in all revisions and on a fake clock.

#[path = "pairs/calls.rs"]
mod calls;
#[path = "pairs/chance.rs"]
mod chance;
#[path = "pairs/changes.rs"]
mod changes;
#[path = "pairs/endings.rs"]
mod endings;
#[path = "pairs/opening.rs"]
mod opening;
#[path = "pairs/questions.rs"]
mod questions;
#[allow(dead_code, reason = "shared with another test, which needs more of it")]
#[path = "spec/schema.rs"]
mod schema;
#[path = "pairs/wire.rs"]
mod wire;

use toolbay_protocol::{Method, Raw, Revision, exchange::Wishes, peer::Call};

/// Runs `check` for each caller and callee.
fn each_pair(mut check: impl FnMut(Revision, Revision)) {
    for caller in Revision::ALL {
        for callee in Revision::ALL {
            check(caller, callee);
        }
    }
}

/// A call of tool `name` that wants to be told everything.
fn tool(name: &str) -> Call {
    let params = serde_json::json!({"name": name, "arguments": {"of": name}});
    let wishes = Wishes { log_level: Some("info".into()), ..Wishes::progress() };
    Call { wishes, ..Call::new(Method::ToolsCall, Some(Raw::of(&params))) }
}
