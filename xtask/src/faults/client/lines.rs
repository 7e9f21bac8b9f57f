//! Servers behind pipes that die, dawdle, babble or ask.

use std::io::Write;
use std::time::Duration;

use super::scenes::{Scene, Script, bounded, delivered, delivered_or_limited, fails, fails_at_once};
use super::words::{known, result};
use crate::faults::player::Player;

/// Every scene of this room.
pub(super) const SCENES: &[Scene] = &[
    Scene::new(
        "never-answers",
        "a server that never answers is given up at a deadline (60 s unless set otherwise)",
        Script::Pipe(|player, _| player.idle()),
        fails,
    ),
    Scene::new(
        "only-progress-for-nobody",
        "notifications that belong to no call do not put the deadline off for ever",
        Script::Pipe(|player, _| chatter(player)),
        fails,
    ),
    Scene::new(
        "dies-in-a-call",
        "a server that dies in a call is an error at once",
        Script::Pipe(|_, _| std::process::exit(3)),
        fails_at_once,
    ),
    Scene::new(
        "closes-output",
        "a server that closes its output but lives on is an error at once",
        Script::Pipe(|player, _| player.close_output()),
        fails_at_once,
    ),
    Scene::new(
        "half-an-answer",
        "a server that dies within its answer is an error at once",
        Script::Pipe(half),
        fails_at_once,
    ),
    Scene::new(
        "dies-at-once",
        "a server that ends before a word is an error at once",
        Script::PipeStart(|_| std::process::exit(0)),
        fails,
    ),
    Scene::new(
        "no-server",
        "a program that prints a page of text is an error, not a hang",
        Script::PipeStart(page),
        fails,
    ),
    Scene::new("junk-between", "lines that are no messages are passed over", Script::Pipe(junk), delivered),
    Scene::new("not-utf8-between", "a line that is not UTF-8 is passed over", Script::Pipe(not_utf8), delivered),
    Scene::new("crlf-and-blank", "CRLF and blank lines are no matter", Script::Pipe(crlf), delivered),
    Scene::new(
        "byte-order-mark",
        "a byte order mark before the first line is no matter",
        Script::PipeStart(|player| open_with(player, "\u{feff}")),
        delivered,
    ),
    Scene::new(
        "junk-before",
        "a banner before the first message is passed over",
        Script::PipeStart(|player| open_with(player, "\n** Welcome! **\n[INFO] listening {on: 3000}\n")),
        delivered,
    ),
    Scene::new("in-pieces", "an answer that comes byte by byte is delivered", Script::Pipe(pieces), delivered),
    Scene::new("stderr-flood", "16 MiB on stderr do not stop the answer", Script::Pipe(flood), delivered),
    Scene::new(
        "no-last-newline",
        "an answer without its newline before the end is delivered, or an error at once",
        Script::Pipe(unfinished),
        delivered_or_limited,
    ),
    Scene::new(
        "long-line",
        "an answer of 24 MiB is delivered, or refused by a limit at once",
        Script::Pipe(|player, id| player.say(&long(id))),
        delivered_or_limited,
    ),
    Scene::new(
        "endless-line",
        "a line without end is refused in bounded memory",
        Script::Pipe(|player, _| endless(player)),
        bounded,
    ),
    Scene::new(
        "unknown-request",
        "a request of an unknown kind is answered −32601, and the call goes on",
        Script::Pipe(|player, id| ask(player, id, "777", "nobody/knows", "-32601")),
        delivered,
    ),
    Scene::new(
        "ping-in-a-call",
        "a ping within the call is answered",
        Script::Pipe(|player, id| ask(player, id, "777", "ping", "\"result\"")),
        delivered,
    ),
    Scene::new(
        "same-id",
        "a request of the server with the id of the call is another matter",
        Script::Pipe(|player, id| ask(player, id, id, "ping", "\"result\"")),
        delivered,
    ),
    Scene::new(
        "string-id-request",
        "a request with a text for an id is answered with the same",
        Script::Pipe(|player, id| ask(player, id, "\"é-1\"", "ping", "é-1")),
        delivered,
    ),
    Scene::new(
        "ignores-the-end",
        "a server that ignores the end of its input does not hold the client up",
        Script::Pipe(stays),
        delivered,
    ),
];

fn open_with(player: &mut Player, bytes: &str) {
    player.raw(bytes.as_bytes());
    player.perform(|player, id| player.say(&known(id)));
}

fn chatter(player: &mut Player) {
    // Longer than any client of ours waits; the client ends us.
    for _ in 0..240 {
        player
            .say(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"still here"}}"#);
        std::thread::sleep(Duration::from_millis(500));
    }
}

fn half(player: &mut Player, id: &str) {
    let text = known(id);
    player.raw(&text.as_bytes()[..text.len() / 2]);
    std::process::exit(0);
}

fn page(player: &mut Player) {
    for _ in 0..200 {
        player.raw(b"Usage: something [--port N]\n  --help   prints this\n");
    }
}

fn junk(player: &mut Player, id: &str) {
    for line in ["Server started on port 3000", "", "{not json", "[1,2", "\"x\"", "[]", "{}", "DEBUG {\"a\":1}"] {
        player.raw(format!("{line}\n").as_bytes());
    }
    player.say(&known(id));
    player.raw(b"and more\n");
}

fn not_utf8(player: &mut Player, id: &str) {
    player.raw(b"\xff\xfe\x00\x80 caf\xe9\n");
    player.say(&known(id));
}

fn crlf(player: &mut Player, id: &str) {
    player.raw(format!("\r\n\n  \r\n{}\r\n", known(id)).as_bytes());
}

fn pieces(player: &mut Player, id: &str) {
    for byte in known(id).bytes().chain([b'\n']) {
        player.raw(&[byte]);
    }
}

fn flood(player: &mut Player, id: &str) {
    let line = [b"x".repeat(1023).as_slice(), b"\n"].concat();
    let mut stderr = std::io::stderr().lock();
    for _ in 0..16 << 10 {
        if stderr.write_all(&line).is_err() {
            break;
        }
    }
    player.say(&known(id));
}

fn unfinished(player: &mut Player, id: &str) {
    player.raw(known(id).as_bytes());
    std::process::exit(0);
}

/// 24 MiB.
pub(super) fn long(id: &str) -> String {
    let text = format!(r#"{{"type":"text","text":"known text {}"}}"#, "x".repeat(24 << 20));
    result(id, &text, "")
}

fn endless(player: &mut Player) {
    player.raw(br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""#);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..2048 {
        if !player.raw(&piece) {
            return;
        }
    }
    player.idle();
}

/// Asks, and answers the call only once the right reply came.
fn ask(player: &mut Player, call: &str, id: &str, method: &str, expect: &str) {
    player.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#));
    let reply = player.hear(|line| !line.contains("\"method\"")).unwrap_or_default();
    let text =
        if reply.contains(expect) { known(call) } else { result(call, r#"{"type":"text","text":"no reply"}"#, "") };
    player.say(&text);
}

fn stays(player: &mut Player, id: &str) {
    player.say(&known(id));
    player.stay();
}
