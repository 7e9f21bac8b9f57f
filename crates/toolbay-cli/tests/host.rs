//! `toolbay chat` under what the configuration says of the host, and what is remembered of decisions.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;

use std::path::Path;

use serde_json::{Value, json};
use tokio::process::Command;
use toolbay_agent::{
    approve::{Decision, Remembered},
    toolbox::{Hints, Tool, ToolId},
};
use toolbay_testkit::model::{Dialect, ModelServer, Question, Turn};

/// A folder with a server that can do everything, and this host.
fn folder(host: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let every = json!({"command": command::THIS, "args": ["serve", "everything"]});
    let config = json!({"mcpServers": {"every": every}, "host": host});
    std::fs::write(folder.path().join("toolbay.json"), config.to_string()).unwrap();
    folder
}

/// The command in a folder, where nothing is of the user's.
fn toolbay(folder: &Path, args: &[&str]) -> Command {
    let mut command = command::toolbay(folder, args);
    command.env("HOME", folder).env("XDG_STATE_HOME", folder.join("state")).env("ANTHROPIC_API_KEY", "none");
    command.env_remove("TOOLBAY_MODEL");
    command
}

/// One turn with the configured model; what it came to.
async fn chat(model: &ModelServer, folder: &Path, args: &[&str]) -> Value {
    let base = model.base_url(Dialect::Anthropic);
    let command = toolbay(folder, &[&["chat", "--json", "--base-url", &base], args].concat());
    let (code, out, err) = command::finished(command).await;
    assert_eq!(code, 0, "{out} {err}");
    serde_json::from_str(&out).unwrap()
}

fn named(question: &Question, tool: &str) -> String {
    question.tools.iter().find(|name| name.ends_with(tool)).unwrap_or_else(|| panic!("{tool} is shown")).clone()
}

fn wanting(calls: Vec<(&'static str, Value)>) -> ModelServer {
    let mut calls = calls.into_iter();
    ModelServer::answering(move |question| match calls.next() {
        Some((tool, arguments)) => Turn::intent(named(question, tool), arguments),
        None => Turn::text("done"),
    })
}

fn decided(told: &Value) -> Vec<(String, String)> {
    let text = |step: &Value, key: &str| step[key].as_str().unwrap_or_default().to_owned();
    let steps = told["steps"].as_array().unwrap().iter().filter(|step| step["step"] == "decided");
    steps.map(|step| (text(step, "tool"), text(step, "decision"))).collect()
}

#[tokio::test]
async fn the_configuration_names_the_model_the_rules_and_what_stands_beside_messages() {
    let folder = folder(&json!({
        "model": "anthropic:scripted", "maxIterations": 5,
        "approve": [{"server": "every", "tool": "e*", "do": "allow"}, {"server": "*", "tool": "add", "do": "deny"}],
        "attach": [{"server": "every", "uri": "test://static-text"}, {"uri": "test://no*", "words": ["other"]}],
    }));
    let model = wanting(vec![("echo", json!({"text": "hi"})), ("add", json!({"left": 1, "right": 2}))]);
    // A permission of the command line does not lift what is forbidden.
    let told = chat(&model, folder.path(), &["--yes", "go", "on"]).await;
    let expected = [("echo", "allowed"), ("add", "denied")].map(|(tool, how)| (tool.to_owned(), how.to_owned()));
    assert_eq!(decided(&told), expected, "{told}");
    let questions = model.questions();
    assert!(questions[2].body["messages"].to_string().contains("host.approve"), "the model is told why");
    let first = questions[0].body["messages"].to_string();
    assert!(first.contains("This is the content of the static text resource."), "{first}");
}

#[tokio::test]
async fn a_flaw_in_what_the_host_may_do_is_an_error_with_its_place() {
    let folder = folder(&json!({"model": "anthropic:x", "approve": [{"server": "every", "do": "never"}]}));
    let (code, _, err) = command::finished(toolbay(folder.path(), &["chat", "hello"])).await;
    assert!(code == 3 && err.contains("`do` is none of") && err.contains("toolbay.json:1:"), "{code} {err}");
}

#[tokio::test]
async fn a_server_is_lent_the_model_where_the_configuration_says_so() {
    for (sampling, lent) in [("allow", true), ("off", false), ("ask", false)] {
        let folder = folder(&json!({"model": "anthropic:scripted", "sampling": sampling}));
        let model = ModelServer::answering(|question| match question.tools.is_empty() {
            // The server's own question.
            true => Turn::text("lent words"),
            false if question.body["messages"].as_array().is_some_and(|said| said.len() == 1) => {
                Turn::intent(named(question, "test_sampling"), json!({"prompt": "say it"}))
            }
            false => Turn::text("done"),
        });
        chat(&model, folder.path(), &["--yes", "go"]).await;
        let questions = model.questions();
        let result = questions.last().unwrap().body["messages"].to_string();
        assert_eq!(result.contains("lent words"), lent, "{sampling}: {result}");
    }
}

#[tokio::test]
async fn what_is_remembered_holds_in_its_project_until_it_is_forgotten() {
    let folder = folder(&json!({"model": "anthropic:scripted"}));
    let whole = folder.path().canonicalize().unwrap();
    let remembered = || Remembered::of_project(&whole.join("state/toolbay/approvals"), &whole);
    let definition = |server: &str| Tool {
        id: ToolId { server: server.into(), name: "echo".into() },
        public: String::new(),
        description: String::new(),
        schema: json!({}),
        hints: Hints::default(),
    };
    remembered().put(&definition("every"), Decision::Allow).unwrap();
    remembered().put(&definition("other"), Decision::Deny("never".into())).unwrap();
    let run = async |args: &[&str]| {
        let (code, out, err) = command::finished(toolbay(folder.path(), &[&["approvals"], args].concat())).await;
        assert_eq!(code, 0, "{err}");
        out
    };
    assert_eq!(run(&["list"]).await, "every/echo  allowed\nother/echo  denied: never\n");
    // It was decided for another definition than the server's own.
    let model = wanting(vec![("echo", json!({"text": "hi"}))]);
    let told = chat(&model, folder.path(), &["go"]).await;
    assert_eq!(decided(&told), [("echo".to_owned(), "denied".to_owned())], "{told}");
    let kept: Value = serde_json::from_str(&run(&["forget", "every", "--json"]).await).unwrap();
    assert_eq!((kept[0]["server"].as_str(), kept.as_array().unwrap().len()), (Some("every"), 1));
    assert_eq!(run(&["forget", "--all"]).await, "forgotten: other/echo  denied: never\n");
    assert_eq!(run(&["list"]).await, "nothing is remembered\n");
}
