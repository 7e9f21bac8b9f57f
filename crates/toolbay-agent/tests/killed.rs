//! A process that is killed leaves a trace that shows exactly which calls were made.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![cfg(unix)]

use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
};

use doubles::{Scripted, Shelved, Somebody, text, tool, wants};
use serde_json::{Value, json};
use toolbay_agent::{Agent, person::Verdict};

mod doubles;

/// Where the child is to write its trace.
const TRACE: &str = "TOOLBAY_TEST_TRACE";

/// Calls one tool after another; the third never comes back.
#[test]
#[ignore = "run by `a_killed_process_leaves_a_trace_of_its_calls`"]
fn child() {
    let Some(path) = std::env::var_os(TRACE).map(PathBuf::from) else { return };
    let any = json!({"type": "object"});
    let tools = vec![tool("s", "quick", "", any.clone()), tool("s", "stuck", "", any)];
    let toolbox = Shelved::new(tools, |tool, _, _| match tool.id.name.as_str() {
        "quick" => doubles::gives(text("quick")),
        _ => {
            // Whoever reads this kills the process now, in the middle of the call.
            println!("\nstuck");
            Box::pin(std::future::pending())
        }
    });
    let model = Scripted::new(|number, _| match number {
        0 => wants(&[("s__quick", json!({"n": 1})), ("s__quick", json!({"n": 2}))]),
        _ => wants(&[("s__stuck", json!({"n": 3})), ("s__quick", json!({"n": 4}))]),
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let person = Somebody::new(|_| Verdict::Once);
    let mut agent = Agent::new(model, Arc::clone(&toolbox) as Arc<_>).person(person).trace_to(&path).unwrap();
    runtime.block_on(agent.say("go"));
}

#[test]
fn a_killed_process_leaves_a_trace_of_its_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--ignored", "--nocapture"])
        .env(TRACE, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    assert!(output.lines().map_while(Result::ok).any(|line| line == "stuck"), "the child did not get so far");
    // SIGKILL: nothing of the child runs after it.
    child.kill().unwrap();
    child.wait().unwrap();
    let lines = std::fs::read_to_string(&path).unwrap();
    assert!(lines.ends_with('\n'), "no half of a line");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |word: &str| -> Vec<&str> {
        let lines = lines.iter().filter(|line| line["step"] == word);
        lines.map(|line| line["arguments"].as_str().unwrap_or_else(|| line["id"].as_str().unwrap())).collect()
    };
    assert_eq!(of("called"), [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#]);
    assert_eq!(of("ended"), ["s__quick#0", "s__quick#1"], "the third was made, and its end is not known");
}
