//! `toolbay chat` without a terminal: one turn, programs that read it, and how it ends.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;

use std::{path::Path, process::Stdio};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStderr, Command},
    time::timeout,
};
use toolbay_testkit::model::{Dialect, ModelServer, Question, Turn};

/// A folder with a server that can do everything.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({"mcpServers": {"every": {"command": command::THIS, "args": ["serve", "everything"]}}});
    std::fs::write(folder.path().join("toolbay.json"), servers.to_string()).unwrap();
    folder
}

/// `toolbay chat` in a folder, where nothing is of the user's.
fn chat(folder: &Path, args: &[&str]) -> Command {
    let mut command = command::toolbay(folder, &[&["chat"], args].concat());
    command.env("HOME", folder).env("XDG_STATE_HOME", folder).env("ANTHROPIC_API_KEY", "none");
    command.env_remove("TOOLBAY_MODEL");
    command
}

/// The same with a model.
fn with(model: &ModelServer, folder: &Path, args: &[&str]) -> Command {
    let base = model.base_url(Dialect::Anthropic);
    chat(folder, &[&["--model", "anthropic:scripted", "--base-url", &base], args].concat())
}

/// The name by which a question shows a tool.
fn named(question: &Question, tool: &str) -> String {
    question.tools.iter().find(|name| name.ends_with(tool)).unwrap_or_else(|| panic!("{tool} is shown")).clone()
}

/// A model that wants these tools called, one after the other, and then says a word.
fn wanting(calls: Vec<(&'static str, Value)>, answer: &'static str) -> ModelServer {
    let mut calls = calls.into_iter();
    ModelServer::answering(move |question| match calls.next() {
        Some((tool, arguments)) => Turn::intent(named(question, tool), arguments),
        None => Turn::text(answer),
    })
}

fn steps(trace: &Path) -> Vec<Value> {
    let lines = std::fs::read_to_string(trace).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The steps of some kinds, as `STEP TOOL`.
fn of(steps: &[Value], kinds: &[&str]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let fit = steps.iter().filter(|step| kinds.iter().any(|kind| step["step"] == *kind));
    fit.map(|step| format!("{} {}", text(&step["step"]), text(&step["tool"]))).collect()
}

#[tokio::test]
async fn without_a_model_it_says_what_to_set() {
    let folder = folder();
    for args in [&["hello"][..], &[]] {
        let (code, out, err) = command::finished(chat(folder.path(), args)).await;
        assert_eq!((code, out.as_str()), (3, ""), "{err}");
        for part in ["--model", "TOOLBAY_MODEL", "ANTHROPIC_API_KEY", "`toolbay ask` needs no model"] {
            assert!(err.contains(part), "{part}: {err}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_used_is_named_with_its_code() {
    let folder = folder();
    let model = ModelServer::scripted([]);
    for (args, code, part) in [
        (&["--model", "claude", "hello"][..], 2, "PROVIDER:MODEL"),
        (&["--server", "nobody", "hello"], 5, "there are: every"),
        (&["--deny", "/x", "hello"], 2, "SERVER/TOOL"),
        (&["--trace", "no/such/folder/t", "hello"], 3, "cannot be written"),
        (&["--system", "nothing.txt", "hello"], 3, "nothing.txt"),
        (&["--max-cost", "1", "hello"], 2, "--prices"),
        (&["what is @every:test://nothing"], 5, "test://nothing"),
        (&[], 2, "no message"),
    ] {
        let base = model.base_url(Dialect::Anthropic);
        let model: &[&str] = if args.contains(&"--model") { &[] } else { &["--model", "anthropic:scripted"] };
        let (was, out, err) =
            command::finished(chat(folder.path(), &[model, &["--base-url", &base], args].concat())).await;
        assert_eq!((was, out.as_str()), (code, ""), "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: {err}");
    }
    assert!(model.questions().is_empty(), "nobody was asked");
}

#[tokio::test]
async fn the_answer_alone_goes_to_stdout() {
    let folder = folder();
    let model = wanting(vec![("echo", json!({"text": "\u{1b}[2Jhi"}))], "It said hi.\u{1b}[2J");
    let mut command = with(&model, folder.path(), &["--yes"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"what does it say of @every:test://static-text?\n").await.unwrap();
    let output = timeout(2 * command::SOON, child.wait_with_output()).await.unwrap().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{err}");
    assert_eq!(out, "It said hi.[2J\n");
    assert!(err.contains("• every/echo {\"text\":\"\\u001b[2Jhi\"}\n") && err.contains("every/echo → "), "{err}");
    assert!(!err.contains('\u{1b}'), "no colour and no sequence without a terminal: {err}");
    let first = model.questions()[0].body["messages"].to_string();
    assert!(first.contains("This is the content of the static text resource."), "{first}");
}

#[tokio::test]
async fn programs_are_told_the_answer_the_steps_and_what_it_took() {
    let folder = folder();
    let calls = vec![("echo", json!({"text": "hi"})), ("add", json!({"left": 1, "right": 2}))];
    let model = wanting(calls, "Three.");
    let args = ["--allow", "every/e*", "--prices", "1000,2000", "--json", "add", "them"];
    let (code, out, err) = command::finished(with(&model, folder.path(), &args)).await;
    assert_eq!(code, 0, "{err}");
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&told["answer"], &told["ended"]), (&json!("Three."), &json!("answered")));
    // Nobody is there to agree to the second call.
    let steps = told["steps"].as_array().unwrap();
    assert_eq!(
        of(steps, &["called", "ended", "decided"]),
        ["decided echo", "called echo", "ended echo", "decided add"]
    );
    assert_eq!(told["usage"]["questions"], 3);
    assert_eq!(told["usage"]["input"], 300);
    assert!(told["usage"]["cost"].as_f64().unwrap() > 0.3, "{told}");
    assert!(model.questions()[2].body["messages"].to_string().contains("nobody is there to agree"));
}

#[tokio::test]
async fn what_is_forbidden_is_not_called_whatever_else_is_said() {
    let folder = folder();
    let model = wanting(vec![("echo", json!({"text": "hi"}))], "Then not.");
    let args = ["--yes", "--allow", "every/echo", "--deny", "*/echo", "--trace", "t", "say hi"];
    let (code, out, err) = command::finished(with(&model, folder.path(), &args)).await;
    assert_eq!((code, out.as_str()), (0, "Then not.\n"), "{err}");
    assert!(err.contains("every/echo not called: a rule forbids it"), "{err}");
    assert_eq!(of(&steps(&folder.path().join("t")), &["called"]), [""; 0]);
    assert!(model.questions()[1].body["messages"].to_string().contains("--deny"));
}

#[tokio::test]
async fn the_last_round_and_the_budget_end_in_words() {
    let folder = folder();
    let echo = || ("echo", json!({"text": "hi"}));
    for (args, code, word) in [
        (&["--max-iterations", "1", "--yes", "--json", "go on"][..], 0, "rounds"),
        (&["--max-tokens", "100", "--yes", "--json", "go on"], 1, "budget"),
    ] {
        let model = wanting(vec![echo()], "Enough.");
        let (was, out, err) = command::finished(with(&model, folder.path(), args)).await;
        assert_eq!(was, code, "{args:?}: {err}");
        let told: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(told["ended"], word, "{told}");
    }
}

#[tokio::test]
async fn a_provider_that_refuses_the_key_is_told_with_what_to_do() {
    let folder = folder();
    let model = ModelServer::scripted([Turn::fails(401, "invalid x-api-key")]);
    let (code, out, err) = command::finished(with(&model, folder.path(), &["hello"])).await;
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("key"), "{err}");
}

/// A turn in the middle of its second call, which takes an hour.
async fn in_the_middle(folder: &Path, model: &ModelServer) -> (Child, Lines<BufReader<ChildStderr>>) {
    let mut command = with(model, folder, &["--yes", "--trace", "trace.jsonl", "compute"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    loop {
        let line = timeout(command::SOON, lines.next_line()).await.expect("it gets there").unwrap().expect("it runs");
        if line.contains("every/slow_compute {") {
            return (child, lines);
        }
    }
}

fn long() -> Vec<(&'static str, Value)> {
    vec![("echo", json!({"text": "first"})), ("slow_compute", json!({"seconds": 3600, "label": "x"}))]
}

#[tokio::test]
async fn a_killed_turn_leaves_a_trace_that_shows_exactly_which_calls_were_made() {
    let folder = folder();
    let model = wanting(long(), "never");
    let (mut child, _) = in_the_middle(folder.path(), &model).await;
    child.kill().await.unwrap();
    let steps = steps(&folder.path().join("trace.jsonl"));
    assert_eq!(of(&steps, &["called", "ended"]), ["called echo", "ended echo", "called slow_compute"]);
    let last = steps.iter().rfind(|step| step["step"] == "called").unwrap();
    assert_eq!(last["arguments"], json!(r#"{"seconds":3600,"label":"x"}"#));
}

#[tokio::test]
async fn ctrl_c_takes_back_what_runs_and_ends_the_command() {
    let folder = folder();
    let model = wanting(long(), "never");
    let (mut child, mut lines) = in_the_middle(folder.path(), &model).await;
    let id = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().await.unwrap().success());
    let status = timeout(command::SOON, child.wait()).await.expect("it ends").unwrap();
    assert_eq!(status.code(), Some(130));
    let mut told = vec![];
    while let Ok(Some(line)) = lines.next_line().await {
        told.push(line);
    }
    assert!(told.iter().any(|line| line.contains("interrupted")), "{told:?}");
    let steps = steps(&folder.path().join("trace.jsonl"));
    let ends = of(&steps, &["called", "ended", "done"]);
    assert_eq!(ends, ["called echo", "ended echo", "called slow_compute", "ended slow_compute", "done "]);
    assert_eq!(steps.last().unwrap()["why"], "cancelled");
}
