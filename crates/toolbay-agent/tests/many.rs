//! A thousand tools of fifty servers: few are shown, all are found, and called like any other.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use doubles::{Scripted, Shelved, Somebody, answers, check, gives, says, text, tool, wants};
use serde_json::{Value, json};
use toolbay_agent::{
    Agent, Expose, Settings, Showing,
    model::Wire,
    person::Verdict,
    toolbox::{Tool, ToolId},
    transcript::{Content, Message},
};

mod doubles;

fn thousand() -> Vec<Arc<Tool>> {
    const DO: [&str; 20] = [
        "create", "delete", "list", "update", "archive", "export", "import", "merge", "split", "lock", "unlock",
        "share", "rename", "copy", "move", "compare", "validate", "restore", "tag", "count",
    ];
    const WHAT: [&str; 50] = [
        "invoice",
        "ticket",
        "contact",
        "calendar",
        "branch",
        "pipeline",
        "alert",
        "metric",
        "dashboard",
        "database",
        "bucket",
        "queue",
        "topic",
        "certificate",
        "domain",
        "record",
        "cluster",
        "node",
        "volume",
        "snapshot",
        "image",
        "container",
        "secret",
        "policy",
        "role",
        "group",
        "license",
        "order",
        "product",
        "customer",
        "shipment",
        "warehouse",
        "supplier",
        "contract",
        "payment",
        "refund",
        "campaign",
        "audience",
        "survey",
        "form",
        "document",
        "folder",
        "comment",
        "task",
        "project",
        "milestone",
        "release",
        "commit",
        "review",
        "deployment",
    ];
    let tools = WHAT.iter().flat_map(|what| {
        DO.iter().map(move |verb| {
            let schema = json!({
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": format!("Which {what}, as `list` gives it.")},
                    "reason": {"type": "string", "description": "Why, for the history."},
                    "dry_run": {"type": "boolean", "description": "Only say what would be done."}
                },
                "required": ["id"]
            });
            let description = format!("{verb}s a {what} of this account and says what became of it.");
            tool(what, &format!("{verb}_{what}"), &description, schema)
        })
    });
    tools.collect()
}

fn script(number: usize) -> toolbay_agent::model::Reply {
    match number {
        0 => wants(&[("search_tools", json!({"query": "restore a database snapshot", "limit": 3}))]),
        1 => wants(&[("describe_tool", json!({"name": "snapshot__restore_snapshot"}))]),
        2 => wants(&[
            ("call_tool", json!({"name": "snapshot__restore_snapshot", "arguments": {"dry_run": "yes"}})),
            ("call_tool", json!({"name": "snapshot__restore_snapshot", "arguments": {"id": "s-1"}})),
            // What was found may also be called by its name.
            ("snapshot__list_snapshot", json!({"id": "s-1"})),
            ("call_tool", json!({"name": "snapshot__restor_snapshot"})),
            ("call_tool", json!({"arguments": {}})),
        ]),
        _ => says("restored"),
    }
}

#[tokio::test]
async fn a_thousand_tools_take_less_than_two_thousand_tokens() {
    let toolbox = Shelved::new(thousand(), |tool, _, _| gives(text(format!("called {}", tool.id))));
    let model = Scripted::new(|number, _| script(number));
    let person = Somebody::new(|_| Verdict::Once);
    let mut agent = Agent::new(model.clone(), toolbox.clone()).person(person.clone());
    assert_eq!(agent.say("restore the snapshot").await.text, "restored");
    check(agent.transcript());
    let shown = ["read_result", "search_tools", "describe_tool", "call_tool"];
    assert!(model.asked().iter().all(|asked| asked.tools == shown));
    let with = agent.definition_tokens();
    let told = answers(agent.transcript());
    assert!(told[0].contains("snapshot__restore_snapshot") && told[0].len() < 2_000, "{}", told[0]);
    assert!(told[1].contains("\"inputSchema\"") && told[1].contains("Which snapshot"), "{}", told[1]);
    assert!(told[2].contains("Not called") && told[2].contains("required"), "{}", told[2]);
    assert_eq!(told[3..5], ["called snapshot/restore_snapshot", "called snapshot/list_snapshot"]);
    assert!(told[5].contains("Nearest are `snapshot__restore_snapshot`"), "{}", told[5]);
    assert!(told[6].contains("\"name\" is a required property"), "{}", told[6]);
    // The person and the trace see the tool itself.
    let asked: Vec<_> = person.approvals.lock().unwrap().iter().map(|(tool, _)| tool.clone()).collect();
    assert_eq!(asked, ["snapshot/restore_snapshot", "snapshot/list_snapshot"]);
    let lines: Vec<Value> = agent.steps().iter().map(|step| step.to_value()).collect();
    let called = lines.iter().find(|line| line["step"] == "called" && line["sent"] == "call_tool").unwrap();
    assert_eq!((&called["tool"], &called["arguments"]), (&json!("restore_snapshot"), &json!("{\"id\":\"s-1\"}")));
    let Message::Tools(found) = &agent.transcript().messages[2] else { panic!() };
    assert!(found[0].parts.iter().all(|part| part.origin.is_some()), "each was written by a server");

    let whole = Settings { showing: Showing { expose: Expose::All, ..Showing::default() }, ..Settings::default() };
    let mut other = Agent::new(Scripted::new(|_, _| says("ok")), toolbox).settings(whole);
    other.say("hello").await;
    let without = other.definition_tokens();
    println!("definitions of 1,000 tools from 50 servers: {with} tokens deferred, {without} tokens all shown");
    assert!(with < 2_000 && without > 20 * with, "{with} {without}");
}

#[tokio::test]
async fn where_a_provider_takes_128_tools_the_129th_is_found() {
    for (wire, tools, shown) in [
        (Wire::OpenAiChat, 124, 125),
        (Wire::OpenAiChat, 125, 4),
        (Wire::OpenAiResponses, 1000, 4),
        (Wire::Anthropic, 125, 126),
    ] {
        let tools = thousand().into_iter().take(tools).collect();
        let model = Scripted::on(wire, |_, _| says("ok"));
        let mut agent = Agent::new(model.clone(), Shelved::new(tools, |_, _, _| gives(text("x"))));
        agent.say("hello").await;
        assert_eq!(model.asked()[0].tools.len(), shown, "{wire}");
    }
}

#[tokio::test]
async fn what_is_pinned_is_shown_in_any_case() {
    let pinned = ToolId { server: "alert".into(), name: "list_alert".into() };
    let showing = Showing { pinned: [pinned].into_iter().collect(), ..Showing::default() };
    let model = Scripted::new(|_, _| says("ok"));
    let toolbox = Shelved::new(thousand(), |_, _, _| gives(text("x")));
    let mut agent = Agent::new(model.clone(), toolbox).settings(Settings { showing, ..Settings::default() });
    agent.say("hello").await;
    assert_eq!(model.asked()[0].tools[4], "alert__list_alert");
}

#[tokio::test]
async fn tools_that_become_too_many_in_the_middle_are_found() {
    let all = thousand();
    let toolbox = Shelved::new(all[..10].to_vec(), |tool, _, _| gives(text(format!("called {}", tool.id))));
    let shelf = Arc::clone(&toolbox);
    let model = Scripted::new(move |number, _| match number {
        0 => {
            shelf.put(all.clone(), vec![]);
            wants(&[("invoice__create_invoice", json!({"id": "1"}))])
        }
        1 => wants(&[("search_tools", json!({"query": "deployment", "server": "deployment"}))]),
        2 => wants(&[("call_tool", json!({"name": "deployment__list_deployment", "arguments": {"id": "1"}}))]),
        _ => says("ok"),
    });
    let mut agent = Agent::new(model.clone(), toolbox).person(Somebody::new(|_| Verdict::Once));
    agent.say("go").await;
    let asked = model.asked();
    assert_eq!(asked[0].tools.len(), 11);
    assert_eq!(asked[1].tools[..11], asked[0].tools, "what was shown stays");
    assert_eq!(asked[1].tools[11..], ["search_tools", "describe_tool", "call_tool"]);
    assert_eq!(answers(agent.transcript())[2], "called deployment/list_deployment");
}

#[tokio::test]
async fn a_definition_too_long_to_be_shown_is_read_on() {
    let properties: serde_json::Map<String, Value> = (0..20_000)
        .map(|number| (format!("property_{number}"), json!({"type": "string", "description": "Something."})))
        .collect();
    let large = tool("s", "large", "Has a large schema", json!({"type": "object", "properties": properties}));
    let model = Scripted::new(|number, _| match number {
        0 => wants(&[("describe_tool", json!({"name": "s__large"}))]),
        1 => wants(&[("read_result", json!({"handle": "r1", "find": "property_19999"}))]),
        _ => says("ok"),
    });
    let mut agent = Agent::new(model, Shelved::new(vec![large], |_, _, _| gives(text("x"))));
    agent.say("go").await;
    let told = answers(agent.transcript());
    assert!(told[0].len() < 3_000 && told[1].contains("property_19999"), "{}", told[0].len());
    let Message::Tools(found) = &agent.transcript().messages[2] else { panic!() };
    assert!(matches!(&found[0].parts[0].what, Content::Text(_)));
}
