//! Children die with us, however we die.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "these are tests, helpers included")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use toolbay_transport::stdio::child::ServerCommand;

const FIFO: &str = "TOOLBAY_TEST_FIFO";

/// Not a test by itself: the parent that gets killed, run from the test below.
#[test]
#[ignore = "run by the other test, as a process of its own"]
fn parent() {
    let Some(fifo) = std::env::var_os(FIFO) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // One that has come and gone is no business of the guard any more.
        let (mut brief, _pipes) = ServerCommand::new("/bin/sh").args(["-c", "exit 0"]).spawn().unwrap();
        brief.exited().await;
        // Deaf to its input, to SIGTERM, and with a child of its own; all hold the FIFO open.
        let script = "trap '' TERM; exec 9>\"$1\"; (while :; do sleep 0.05; done) & echo ready >&9; wait; wait";
        let args = ["-c".into(), script.into(), "sh".into(), fifo.clone()];
        let (process, _pipes) = ServerCommand::new("/bin/sh").args(args).spawn().unwrap();
        assert_eq!(process.unguarded(), None);
        // Whoever kills us before this kills us in the moment in which nobody watches.
        let mut fifo = File::options().append(true).open(&fifo).unwrap();
        writeln!(fifo, "watched").unwrap();
        std::future::pending::<()>().await;
    });
}

#[test]
fn children_die_when_we_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("alive");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut parent = Command::new(std::env::current_exe().unwrap());
    parent.args(["--exact", "parent", "--ignored", "--nocapture"]).env(FIFO, &fifo).stdout(Stdio::null());
    let parent = Killed(parent.spawn().unwrap());
    let said = follow(&fifo);
    let mut first = [(); 2].map(|()| said.recv_timeout(Duration::from_secs(20)).unwrap());
    first.sort();
    assert_eq!(first, ["ready", "watched"]);
    drop(parent);
    // The sender goes when the FIFO ends, and that ends when nobody holds it open any more.
    assert_eq!(said.recv_timeout(Duration::from_secs(20)), Err(mpsc::RecvTimeoutError::Disconnected));
}

/// Killed with SIGKILL when dropped, also where the test fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// The lines written to a FIFO, until every writer is gone.
fn follow(fifo: &Path) -> mpsc::Receiver<String> {
    let (lines, said) = mpsc::channel();
    let fifo = fifo.to_owned();
    thread::spawn(move || {
        for line in BufReader::new(File::open(fifo).unwrap()).lines() {
            lines.send(line.unwrap()).unwrap();
        }
    });
    said
}
