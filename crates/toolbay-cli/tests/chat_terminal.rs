//! `toolbay chat` on a real terminal.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod command;
mod tmux;

use std::path::Path;

use serde_json::{Value, json};
use tmux::Terminal;
use toolbay_testkit::model::{Dialect, ModelServer, Question, Turn};

/// A folder with three servers; the program in it, with a model.
fn chat(folder: &Path, model: &ModelServer, args: &[&str]) -> std::process::Command {
    let server = |args: &[&str]| json!({"command": command::THIS, "args": args});
    let servers = json!({"mcpServers": {
        "every": server(&["serve", "everything"]),
        "clock": server(&["serve", "time"]),
        "files": server(&["serve", "filesystem", "."]),
    }});
    std::fs::write(folder.join("toolbay.json"), servers.to_string()).unwrap();
    let mut chat = std::process::Command::new(command::THIS);
    chat.args(["chat", "--model", "anthropic:scripted", "--base-url", &model.base_url(Dialect::Anthropic)]);
    chat.args(args).current_dir(folder);
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"] {
        chat.env(name, folder);
    }
    chat.env("ANTHROPIC_API_KEY", "none").env("EDITOR", "").env("VISUAL", "");
    chat
}

/// The name by which a question shows a tool.
fn named(question: &Question, tool: &str) -> String {
    question.tools.iter().find(|name| name.ends_with(tool)).unwrap_or_else(|| panic!("{tool} is shown")).clone()
}

fn told(question: &Question) -> String {
    question.body["messages"].to_string()
}

#[tokio::test]
async fn a_prompt_a_resource_three_rounds_one_approval_and_an_answer() {
    let Some(tmux) = tmux::tmux() else { return };
    let mut asked = 0;
    let model = ModelServer::answering(move |question| {
        asked += 1;
        match asked {
            1 => Turn::text("The prompt was heard."),
            2 => Turn::intent(named(question, "echo"), json!({"text": "北京\u{1b}[31m"})).saying("I look it up."),
            3 => Turn::intent(named(question, "get_current_time"), json!({"timezone": "Asia/Shanghai"})),
            4 => Turn::intent(named(question, "add"), json!({"left": 20, "right": 22})),
            _ => Turn::text("All told, it is 42 in 北京."),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let chat = chat(folder.path(), &model, &["--allow", "clock", "--allow", "every/add", "--trace", "trace.jsonl"]);
    let mut terminal = Terminal::running(tmux, &chat).await;

    terminal.until("anthropic:scripted; /help shows what may be typed").await;
    // A prompt, of which one argument is missing.
    terminal.says("/every__test_prompt_with_arguments arg1=paris").await;
    terminal.until("arg2: ").await;
    terminal.says("a day trip").await;
    terminal.until("The prompt was heard.").await;

    // A resource, three rounds of calls, one approval.
    terminal.says("what is in @every:test://static-text and then?").await;
    terminal.until("May echo of server every be called?").await;
    let shown = terminal.until("[n REASON]: ").await;
    assert!(shown.contains(r#"text  "北京\u001b[31m""#), "{shown}");
    terminal.says("y").await;
    let shown = terminal.until("All told, it is 42 in 北京.").await;
    for part in [
        "@every:test://static-text: 48 characters",
        "I look it up.",
        r#"• every/echo {"text":"北京\u001b[31m"}"#,
        "every/echo → ",
        r#"• clock/get_current_time {"timezone":"Asia/Shanghai"}"#,
        "clock/get_current_time → ",
        r#"• every/add {"left":20,"right":22}"#,
        "every/add → ",
    ] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    assert_eq!(shown.matches("[n REASON]").count(), 1, "one approval alone:\n{shown}");

    terminal.says("/cost").await;
    terminal.until("5 questions, 500 tokens read").await;
    terminal.presses("C-d").await;
    terminal.until("[ended 0]").await;
    terminal.close().await;

    assert_eq!(model.complaints(), [""; 0]);
    let questions = model.questions();
    assert_eq!(questions.len(), 5);
    assert!(told(&questions[0]).contains("arg1='paris', arg2='a day trip'"), "{}", told(&questions[0]));
    let second = told(&questions[1]);
    assert!(second.contains("This is the content of the static text resource."), "{second}");
    assert!(second.contains("what is in @every:test://static-text and then?"), "{second}");
    let calls = calls(&folder.path().join("trace.jsonl"));
    assert_eq!(
        calls,
        [
            "called every/echo",
            "ended every/echo",
            "called clock/get_current_time",
            "ended clock/get_current_time",
            "called every/add",
            "ended every/add"
        ]
    );
}

fn calls(trace: &Path) -> Vec<String> {
    let lines = std::fs::read_to_string(trace).unwrap();
    let steps = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let calls = steps.filter(|step| step["step"] == "called" || step["step"] == "ended");
    calls.map(|step| format!("{} {}/{}", text(&step["step"]), text(&step["server"]), text(&step["tool"]))).collect()
}

#[tokio::test]
async fn ctrl_c_takes_back_the_turn_and_the_conversation_goes_on() {
    let Some(tmux) = tmux::tmux() else { return };
    // By what was said: a question that is taken back at once may never arrive.
    let model = ModelServer::answering(|question| match told(question) {
        said if said.contains("three") => Turn::text("Here I am again."),
        said if said.contains("two") => Turn::intent(named(question, "echo"), json!({"text": "x"})),
        _ => Turn::Silent,
    });
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::running(tmux, &chat(folder.path(), &model, &[])).await;
    terminal.until("/help shows").await;
    // At the prompt it takes back the line.
    terminal.types("not this").await;
    terminal.until("> not this").await;
    terminal.presses("C-c").await;
    terminal.until("Ctrl-D or /quit ends").await;
    // While the model is asked.
    terminal.says("one").await;
    terminal.until("the model is asked").await;
    terminal.presses("C-c").await;
    terminal.until_times("The turn was cancelled.", 1).await;
    // In the middle of a question.
    terminal.says("two").await;
    terminal.until("[n REASON]: ").await;
    terminal.presses("C-c").await;
    terminal.until_times("The turn was cancelled.", 2).await;
    terminal.says("three").await;
    terminal.until("Here I am again.").await;
    terminal.says("/trace").await;
    terminal.says("/quit").await;
    let shown = terminal.until("[ended 0]").await;
    assert!(!shown.contains("• every/echo"), "what was not agreed to was not called:\n{shown}");
    terminal.close().await;
}

#[tokio::test]
async fn a_server_asks_in_the_middle_of_a_call_and_words_are_filled_in() {
    let Some(tmux) = tmux::tmux() else { return };
    let mut asked = 0;
    let model = ModelServer::answering(move |question| {
        asked += 1;
        match asked {
            1 => Turn::intent(named(question, "test_elicitation"), json!({"message": "Who are you?"})),
            2 => Turn::intent(named(question, "elicit_url"), json!({})),
            3 => Turn::intent(named(question, "echo"), json!({"text": "x"})),
            _ => Turn::text("That is all."),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let chat = chat(folder.path(), &model, &["--allow", "every/*elicit*"]);
    let mut terminal = Terminal::running(tmux, &chat).await;
    terminal.until("/help shows").await;
    terminal.says("/tools elicit_url").await;
    terminal.until("every/elicit_url  allowed").await;
    terminal.types("/he").await;
    terminal.presses("Tab").await;
    terminal.until("> /help").await;
    terminal.presses("Enter").await;
    terminal.until("Ctrl-C takes back the turn that runs").await;

    terminal.says("go").await;
    terminal.until("Server every asks: Who are you?").await;
    terminal.until("username: ").await;
    terminal.says("Ann").await;
    terminal.until("email: ").await;
    terminal.says("ann@example.com").await;
    terminal.until("[y] send it").await;
    terminal.says("y").await;
    let shown = terminal.until("host     example.com").await;
    assert!(shown.contains("address  https://example.com/consent"), "{shown}");
    terminal.until("[y] I open it myself").await;
    terminal.says("n").await;
    terminal.until("May echo of server every be called?").await;
    terminal.until("[n REASON]: ").await;
    terminal.says("n not today").await;
    terminal.until("That is all.").await;
    terminal.says("/quit").await;
    terminal.until("[ended 0]").await;
    terminal.close().await;
    let last = told(model.questions().last().unwrap());
    for part in ["ann@example.com", "the user would not go there", "the person said no: not today"] {
        assert!(last.contains(part), "{part}: {last}");
    }
}
