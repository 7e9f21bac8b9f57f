//! Our own stdin and stdout, whatever they are, and left as they were found.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "these are tests, helpers included")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use rustix::fs::{OFlags, fcntl_getfl};
use toolbay_transport::stdio::junk::Junk;
use toolbay_transport::stdio::lines::{LineReader, LineWriter};
use toolbay_transport::stdio::own::{OwnInput, OwnOutput};

const ROLE: &str = "TOOLBAY_TEST_ECHO";

/// Not a test by itself: a server that gives every line back, run from the tests below.
#[test]
#[ignore = "run by the other tests, as a process of its own"]
fn echo() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    // The test harness may have left its line open.
    println!();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut input = LineReader::new(OwnInput::open().unwrap());
        let mut output = LineWriter::new(OwnOutput::open().unwrap());
        while let Some(line) = input.next().await.unwrap() {
            output.write_all([line]).await.unwrap();
        }
    });
}

fn start(stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "echo", "--ignored", "--nocapture"])
        .env(ROLE, "yes")
        .stdin(stdin)
        .stdout(stdout)
        .spawn()
        .unwrap()
}

/// The next line that is not the test harness talking.
fn message(stdout: &mut impl std::io::BufRead) -> String {
    let mut line = String::new();
    while stdout.read_line(&mut line).unwrap() > 0 && Junk::find(line.trim_end().as_bytes()).is_some() {
        line.clear();
    }
    line
}

fn converse(mut stdin: impl Write, stdout: impl Read + Send) {
    let mut stdout = BufReader::new(stdout);
    for size in [1, 1000, 1 << 20] {
        let sent = format!("{{\"a\":\"{}\"}}\n", "x".repeat(size));
        std::thread::scope(|scope| {
            let heard = scope.spawn(|| message(&mut stdout));
            stdin.write_all(sent.as_bytes()).unwrap();
            assert!(heard.join().unwrap() == sent, "{size}");
        });
    }
}

fn is_blocking(fd: &impl AsFd) -> bool {
    !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

#[test]
fn pipes_stay_blocking_for_others_who_share_them() {
    let (input, stdin) = std::io::pipe().unwrap();
    let (stdout, output) = std::io::pipe().unwrap();
    let shared: [OwnedFd; 2] = [input.try_clone().unwrap().into(), output.try_clone().unwrap().into()];
    let mut child = start(input, output);
    converse(&stdin, &stdout);
    if cfg!(target_os = "linux") {
        assert!(shared.iter().all(is_blocking));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert!(shared.iter().all(is_blocking));
}

#[test]
fn sockets_are_put_back_as_they_were() {
    let (stdin, input) = UnixStream::pair().unwrap();
    let (stdout, output) = UnixStream::pair().unwrap();
    let shared = [input.try_clone().unwrap(), output.try_clone().unwrap()];
    let mut child = start(OwnedFd::from(input), OwnedFd::from(output));
    converse(&stdin, &stdout);
    assert!(!shared.iter().any(is_blocking));
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert!(shared.iter().all(is_blocking));
}

#[test]
fn one_socket_can_be_both() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let output = OwnedFd::from(theirs.try_clone().unwrap());
    let mut child = start(OwnedFd::from(theirs), output);
    converse(&ours, &ours);
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn files_are_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("in"), "{\"a\":1}\n{\"b\":2}").unwrap();
    let mut child = start(File::open(path("in")).unwrap(), File::create(path("out")).unwrap());
    assert!(child.wait().unwrap().success());
    let written = BufReader::new(File::open(path("out")).unwrap()).lines().map(Result::unwrap);
    let messages: Vec<_> = written.filter(|line| Junk::find(line.as_bytes()).is_none()).collect();
    assert!(messages.join("\n").contains("{\"a\":1}\n{\"b\":2}"), "{messages:?}");
}
