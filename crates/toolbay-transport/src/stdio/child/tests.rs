#![allow(clippy::unwrap_used, reason = "these are tests, helpers included")]

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::*;
use crate::stdio::lines::LineReader;

/// No test waits longer than this.
async fn soon<F: Future>(wait: F) -> F::Output {
    timeout(Duration::from_secs(20), wait).await.expect("it takes too long")
}

/// Long enough for a shell on a busy machine, short enough to wait for in vain.
const SHORT: Grace = Grace { after_close: Duration::from_millis(300), after_terminate: Duration::from_millis(300) };
/// Never to be waited for in vain.
const LONG: Grace = Grace { after_close: Duration::from_secs(15), after_terminate: Duration::from_secs(15) };

fn shell(script: &str) -> ServerCommand {
    ServerCommand::new("/bin/sh").args(["-c", script])
}

/// Starts a script that says `ready`, and waits for that.
async fn ready(command: ServerCommand) -> (ServerProcess, Pipes) {
    let (process, mut pipes) = command.spawn().unwrap();
    assert_eq!(soon(line(&mut pipes)).await, "ready");
    (process, pipes)
}

async fn line(pipes: &mut Pipes) -> String {
    let line = LineReader::new(&mut pipes.stdout).next().await.unwrap().expect("a line");
    String::from_utf8(line.to_vec()).unwrap()
}

/// Whoever holds the write end of stdout is gone when this returns.
async fn closed(mut pipes: Pipes) {
    drop(pipes.stdin);
    let mut rest = Vec::new();
    soon(pipes.stdout.read_to_end(&mut rest)).await.unwrap();
}

#[tokio::test]
async fn a_server_that_follows_its_input_ends_by_itself() {
    let (mut process, pipes) = ready(shell("echo ready; cat >/dev/null; echo bye >&2").grace(LONG)).await;
    drop(pipes.stdin);
    let shutdown = soon(process.shutdown()).await;
    let exit = Exit { how: How::Code(0), stderr: vec!["bye".to_owned()] };
    assert_eq!(shutdown, Shutdown { needed: Needed::ClosedInput, exit: exit.clone() });
    assert_eq!(exit.to_string(), "exited with code 0; stderr: bye");
    assert_eq!(soon(process.shutdown()).await, Shutdown { needed: Needed::Nothing, exit });
}

#[tokio::test]
async fn a_server_deaf_to_its_input_is_asked_to_end() {
    let grace = Grace { after_close: SHORT.after_close, after_terminate: LONG.after_terminate };
    let script = "trap 'echo asked >&2; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let (mut process, pipes) = ready(shell(script).grace(grace)).await;
    drop(pipes.stdin);
    let shutdown = soon(process.shutdown()).await;
    assert_eq!((shutdown.needed, shutdown.exit.how), (Needed::Terminate, How::Code(5)));
    // The shell itself may say that its `sleep` was terminated.
    assert!(shutdown.exit.stderr.iter().any(|line| line == "asked"));
}

#[tokio::test]
async fn a_server_that_ignores_everything_is_killed() {
    let script = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
    let (mut process, pipes) = ready(shell(script).grace(SHORT)).await;
    let shutdown = soon(process.shutdown()).await;
    assert_eq!(shutdown.needed, Needed::Kill);
    assert_eq!(shutdown.exit.to_string(), "killed by signal 9 (SIGKILL)");
    closed(pipes).await;
}

#[tokio::test]
async fn what_a_wrapper_leaves_behind_dies_with_it() {
    // The grandchild holds all pipes open and would outlive its parent, which follows its input.
    let script = "(trap '' TERM; while :; do sleep 0.05; done) & echo ready; cat >/dev/null";
    let (mut process, mut pipes) = ready(shell(script).grace(SHORT)).await;
    pipes.stdin.shutdown().await.unwrap();
    drop(std::mem::replace(&mut pipes.stdin, idle_stdin()));
    let shutdown = soon(process.shutdown()).await;
    assert_eq!((shutdown.needed, shutdown.exit.how), (Needed::Kill, How::Code(0)));
    closed(pipes).await;
}

/// A stand-in, since pipes cannot be taken apart and put together again.
fn idle_stdin() -> tokio::process::ChildStdin {
    let (_process, pipes) = shell("cat").spawn().unwrap();
    pipes.stdin
}

#[tokio::test]
async fn a_wrapped_server_is_given_its_grace() {
    // SIGTERM ends the wrapper at once, while what it wraps still tidies up.
    let inner = "trap 'sleep 0.2; echo tidy >&2; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let script = format!("(sh -c \"{inner}\") & while :; do sleep 0.05; done");
    let grace = Grace { after_close: SHORT.after_close, after_terminate: LONG.after_terminate };
    let (mut process, pipes) = ready(shell(&script).grace(grace)).await;
    let shutdown = soon(process.shutdown()).await;
    assert_eq!(shutdown.needed, Needed::Terminate);
    assert!(shutdown.exit.stderr.iter().any(|line| line == "tidy"));
    closed(pipes).await;
}

#[tokio::test]
async fn dropping_a_server_kills_its_tree() {
    let script = "trap '' TERM; (trap '' TERM; while :; do sleep 0.05; done) & echo ready; wait; wait";
    let (process, pipes) = ready(shell(script)).await;
    drop(process);
    closed(pipes).await;
}

#[tokio::test]
async fn an_early_exit_is_told_with_its_last_words() {
    let script = "echo 'starting' >&2; printf 'Error: \\033[31mno API key' >&2; (sleep 60) & exit 3";
    let (mut process, _pipes) = shell(script).spawn().unwrap();
    let exit = soon(process.exited()).await;
    assert_eq!(exit.how, How::Code(3));
    assert_eq!(exit.to_string(), "exited with code 3; stderr: starting | Error: \\u{1b}[31mno API key");
    assert_eq!(soon(process.exited()).await, exit);
}

#[tokio::test]
async fn a_silent_server_can_be_waited_for_in_vain() {
    let (mut process, pipes) = shell("cat >/dev/null").grace(LONG).spawn().unwrap();
    assert!(timeout(Duration::ZERO, process.exited()).await.is_err());
    drop(pipes);
    assert_eq!(soon(process.exited()).await.how, How::Code(0));
}

#[tokio::test]
async fn a_flood_on_stderr_neither_blocks_nor_grows() {
    let (lines, seen) = mpsc::channel();
    let hook = OnLine::new(move |line| lines.send(line.len()).unwrap());
    let script = "i=0; while [ $i -lt 3000 ]; do echo \"$i 0123456789012345678901234567890123456789012345678901234567890\"; \
                  i=$((i+1)); done >&2; echo ready";
    let (mut process, pipes) = ready(shell(script).on_stderr(hook).grace(LONG)).await;
    drop(pipes.stdin);
    let shutdown = soon(process.shutdown()).await;
    assert!(shutdown.exit.stderr.last().unwrap().starts_with("2999 "));
    assert!(shutdown.exit.stderr.iter().map(String::len).sum::<usize>() <= 64 << 10);
    assert_eq!(seen.try_iter().count(), 3000);
}

#[tokio::test]
async fn a_child_sees_only_what_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo \"$GIVEN|$CARGO_MANIFEST_DIR|$HOME|$PWD\"";
    let home = std::env::var("HOME").unwrap_or_default();
    let command = shell(script).env("GIVEN", "first").env("GIVEN", "a b;$(c)").folder(folder.path());
    let (_process, mut pipes) = command.spawn().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    assert_eq!(soon(line(&mut pipes)).await, format!("a b;$(c)||{home}|{}", folder.display()));
}

#[tokio::test]
async fn a_child_leads_its_own_group_and_is_guarded() {
    let (process, mut pipes) = shell("ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat").spawn().unwrap();
    assert_eq!(soon(line(&mut pipes)).await.trim(), process.id().unwrap().to_string());
    assert_eq!(process.unguarded(), None);
}

#[tokio::test]
async fn what_cannot_be_started_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let program = |path: &std::path::Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let check = |command: ServerCommand, expected: &str| {
        let message = command.spawn().unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    };
    let empty = folder.path().as_os_str();
    check(ServerCommand::new("npx").env("PATH", empty), "npx not found on PATH: install Node.js");
    check(ServerCommand::new("uvx").env("PATH", empty), "uvx not found on PATH: install uv");
    check(ServerCommand::new("no-such-program-here"), "correct the name, or give the full path");
    check(ServerCommand::new("npx -y server"), "put its arguments into `args`");
    check(ServerCommand::new("/no/such/program"), "/no/such/program does not exist");
    check(ServerCommand::new(""), "no command given");
    check(shell("exit").folder("/no/such/folder"), "the folder /no/such/folder does not exist");
    check(ServerCommand::new(file("plain", "text")), "plain is not executable");
    let script = file("script", "#!/no/such/interpreter\n");
    program(&script);
    check(ServerCommand::new(&script), "script exists, but the program its first line names does not");
    check(ServerCommand::new("script").env("PATH", empty), "exists, but the program its first line names");
    let garbage = file("garbage", "\u{1}\u{2}\u{3}");
    program(&garbage);
    check(ServerCommand::new(&garbage), "garbage is not a program for this system");
}
