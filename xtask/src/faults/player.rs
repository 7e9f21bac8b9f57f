//! A scripted server behind pipes: `cargo xtask faults --play SCENE`, started by the client under test.

use std::io::{BufRead, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use serde_json::Value;

use super::wire::Talk;

/// The tool that every scripted server offers.
const TOOLS: &str = r#"{"tools":[{"name":"t","description":"The only tool","inputSchema":{"type":"object"}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;
const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1"}}}"#;
const HELLO: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}"#;
/// Longer than any client waits; the client, or the suite, ends us.
const IDLE: Duration = Duration::from_secs(150);

/// The server's side of the pipes.
pub(crate) struct Player {
    talk: Talk,
}

/// The answer to anything but a call; none for what needs no answer.
pub(crate) fn small_talk(talk: Talk, message: &Value) -> Option<String> {
    let id = &message["id"];
    if id.is_null() {
        return None;
    }
    let result = match message["method"].as_str()? {
        "initialize" if talk == Talk::Handshake => HELLO,
        "server/discover" if talk == Talk::Envelope => DISCOVERED,
        "tools/list" => TOOLS,
        "ping" => "{}",
        _ => return Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"unknown"}}}}"#)),
    };
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

impl Player {
    /// Takes standard input and output.
    pub(crate) fn new() -> Self {
        Self { talk: Talk::Handshake }
    }

    /// Wants requests to introduce themselves like this.
    pub(crate) fn expect(&mut self, talk: Talk) {
        self.talk = talk;
    }

    /// Answers everything but the call, which is the script's.
    pub(crate) fn perform(&mut self, script: impl Fn(&mut Self, &str)) {
        while let Some(line) = self.hear(|_| true) {
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message["method"] == "tools/call" {
                script(self, &message["id"].to_string());
            } else if let Some(answer) = small_talk(self.talk, &message) {
                self.say(&answer);
            }
        }
    }

    /// Writes one line.
    pub(crate) fn say(&mut self, text: &str) {
        self.raw(format!("{text}\n").as_bytes());
    }

    /// Writes bytes; false when nobody reads.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> bool {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(bytes).and_then(|()| stdout.flush()).is_ok();
        if !written {
            std::process::exit(0);
        }
        written
    }

    /// The next line that fits.
    pub(crate) fn hear(&mut self, fits: impl Fn(&str) -> bool) -> Option<String> {
        for line in std::io::stdin().lock().lines() {
            let line = line.ok()?;
            if fits(&line) {
                return Some(line);
            }
        }
        None
    }

    /// Does nothing until the input ends, at most for a while.
    pub(crate) fn idle(&mut self) {
        while self.hear(|_| false).is_some() {}
    }

    /// Stays though the input ended.
    pub(crate) fn stay(&mut self) {
        self.idle();
        std::thread::sleep(IDLE);
    }

    /// Closes the output and stays.
    pub(crate) fn close_output(&mut self) {
        let Ok(null) = std::fs::File::create("/dev/null") else { return };
        let _ = rustix::stdio::dup2_stdout(null.as_fd());
        self.stay();
    }
}
