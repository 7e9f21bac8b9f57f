//! The written conversations, played against the engines.

use std::collections::BTreeSet;

use toolbay_testkit::{Script, folder};

#[test]
fn every_conversation_goes_as_it_was_written() {
    for script in Script::all(&folder()) {
        if script.name().starts_with("client-") {
            script.play_client();
        } else {
            script.play_server();
        }
    }
}

#[test]
fn every_revision_has_its_opening_list_call_and_error_at_both_ends() {
    let all: BTreeSet<_> =
        Script::all(&folder()).iter().map(|script| (script.revision, script.name().to_owned())).collect();
    for revision in toolbay_protocol::Revision::ALL {
        for name in ["opening", "list", "call", "error", "ask", "cancel", "progress", "client-call", "client-asked"] {
            assert!(all.contains(&(revision, name.to_owned())), "{revision} has no {name}");
        }
    }
}

#[test]
#[should_panic(expected = "at the end: before it, this was said")]
fn what_was_not_expected_is_an_error() {
    let ping = r#"> {"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    Script::of("ping", toolbay_protocol::Revision::LATEST_LEGACY, ping).play_server();
}

#[test]
#[should_panic(expected = "nothing was said")]
fn silence_where_something_was_expected_is_an_error() {
    let quiet = "> {\"jsonrpc\":\"2.0\",\"method\":\"ping\"}\n< {}";
    Script::of("quiet", toolbay_protocol::Revision::LATEST_LEGACY, quiet).play_server();
}
