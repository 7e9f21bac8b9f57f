//! HTTP servers that break their streams, their bodies or their manners.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::lines::long;
use super::scenes::{Scene, Script, Seen, bounded, delivered, delivered_or_limited, fails, fails_at_once};
use super::visit::Visit;
use super::words::known;

/// Every scene of this room.
pub(super) const SCENES: &[Scene] = &[
    Scene::new(
        "http-never-answers",
        "a POST that is never answered is given up at a deadline (60 s unless set otherwise)",
        Script::Web(|visit, _| visit.idle()),
        fails,
    ),
    Scene::new(
        "http-only-comments",
        "keep-alive comments do not put the deadline off for ever",
        Script::Web(|visit, _| comments(visit)),
        fails,
    ),
    Scene::new(
        "http-stream-ends",
        "an event stream that ends without the answer is an error at once",
        Script::Web(|visit, _| visit.events(": nothing to say\n\n")),
        fails_at_once,
    ),
    Scene::new(
        "http-stream-ends-resumable",
        "the same after an event id and `retry`, where GET answers 405",
        Script::Web(|visit, _| visit.events("id: 1\nretry: 100\ndata:\n\n")),
        fails_at_once,
    ),
    Scene::new(
        "http-stream-cut",
        "an event stream that is cut within an event is an error at once",
        Script::Web(cut),
        fails_at_once,
    ),
    Scene::new(
        "http-byte-order-mark",
        "a byte order mark at the start of a stream is no matter",
        Script::Web(|visit, id| visit.events(&format!("\u{feff}data: {}\n\n", known(id)))),
        delivered,
    ),
    Scene::new(
        "http-cr-lines",
        "CR and CRLF end lines too",
        Script::Web(|visit, id| visit.events(&format!(": x\r\rdata: {}\r\n\r\n", known(id)))),
        delivered,
    ),
    Scene::new(
        "http-split-data",
        "an event of several data lines is one message",
        Script::Web(|visit, id| visit.events(&split(id))),
        delivered,
    ),
    Scene::new(
        "http-strange-events",
        "events of other names, unknown fields and empty events are passed over",
        Script::Web(|visit, id| visit.events(&strange(id))),
        delivered,
    ),
    Scene::new(
        "http-broken-event",
        "an event that is not JSON is passed over, or an error at once",
        Script::Web(|visit, id| visit.events(&format!("data: {{oops\n\ndata: {}\n\n", known(id)))),
        delivered_or_limited,
    ),
    Scene::new(
        "http-no-last-blank-line",
        "an answer without the blank line that ends its event is an error at once, or delivered",
        Script::Web(|visit, id| visit.events(&format!("data: {}\n", known(id)))),
        delivered_or_limited,
    ),
    Scene::new("http-in-pieces", "a stream that comes byte by byte is delivered", Script::Web(pieces), delivered),
    Scene::new(
        "http-long-event",
        "an event of 24 MiB is delivered, or refused by a limit at once",
        Script::Web(|visit, id| visit.events(&format!("data: {}\n\n", long(id)))),
        delivered_or_limited,
    ),
    Scene::new(
        "http-long-body",
        "a body of 24 MiB is delivered, or refused by a limit at once",
        Script::Web(|visit, id| visit.json("200 OK", "application/json", &long(id))),
        delivered_or_limited,
    ),
    Scene::new(
        "http-endless-event",
        "an event without end is refused in bounded memory",
        Script::Web(|visit, _| endless(visit, "text/event-stream", b"data: ")),
        bounded,
    ),
    Scene::new(
        "http-endless-body",
        "a body without end is refused in bounded memory",
        Script::Web(|visit, _| endless(visit, "application/json", b"{\"jsonrpc\":\"2.0\",\"x\":\"")),
        bounded,
    ),
    Scene::new(
        "http-charset",
        "`Application/JSON; charset=UTF-8` is JSON",
        Script::Web(|visit, id| visit.json("200 OK", "Application/JSON; charset=UTF-8", &known(id))),
        delivered,
    ),
    Scene::new(
        "http-events-charset",
        "`text/event-stream;charset=utf-8` is an event stream",
        Script::Web(|visit, id| visit.body("text/event-stream;charset=utf-8", &format!("data: {}\n\n", known(id)))),
        delivered,
    ),
    Scene::new(
        "http-wrong-id",
        "a body that answers another id is an error at once",
        Script::Web(|visit, _| visit.json("200 OK", "application/json", &known("424242"))),
        fails_at_once,
    ),
    Scene::new(
        "http-broken-body",
        "a body that is not JSON is an error at once",
        Script::Web(|visit, _| visit.json("200 OK", "application/json", "{oops")),
        fails_at_once,
    ),
    Scene::new(
        "http-empty-body",
        "an empty body is an error at once",
        Script::Web(|visit, _| visit.json("200 OK", "application/json", "")),
        fails_at_once,
    ),
    Scene::new(
        "http-accepted",
        "202 for a request is an error at once",
        Script::Web(|visit, _| visit.json("202 Accepted", "application/json", "")),
        fails_at_once,
    ),
    Scene::new(
        "http-no-content",
        "204 for a request is an error at once",
        Script::Web(|visit, _| visit.raw(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")),
        fails_at_once,
    ),
    Scene::new(
        "http-page",
        "a page of HTML where a server should be is an error at once",
        Script::WebAlways(page),
        fails_at_once,
    ),
    Scene::new(
        "http-page-in-a-call",
        "a page of HTML for the call is an error at once",
        Script::Web(page),
        fails_at_once,
    ),
    Scene::new(
        "http-401",
        "401 is an error at once",
        Script::Web(|visit, _| refuse(visit, "401 Unauthorized")),
        fails_at_once,
    ),
    Scene::new(
        "http-403",
        "403 is an error at once",
        Script::Web(|visit, _| refuse(visit, "403 Forbidden")),
        fails_at_once,
    ),
    Scene::new(
        "http-404",
        "404 for ever is an error, not a loop",
        Script::Web(|visit, _| refuse(visit, "404 Not Found")),
        fails_at_once,
    ),
    Scene::new(
        "http-429",
        "429 is an error, at once or after a bounded number of attempts",
        Script::Web(|visit, _| refuse(visit, "429 Too Many Requests")),
        fails,
    ),
    Scene::new(
        "http-500",
        "500 is an error at once",
        Script::Web(|visit, _| refuse(visit, "500 Internal Server Error")),
        fails_at_once,
    ),
    Scene::new(
        "http-503-always",
        "503 from the start is an error, at once or after a bounded number of attempts",
        Script::WebAlways(|visit, _| refuse(visit, "503 Service Unavailable")),
        fails,
    ),
    Scene::new(
        "http-closed-after-head",
        "a connection closed after the head is an error at once",
        Script::Web(|visit, _| {
            visit.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n")
        }),
        fails_at_once,
    ),
    Scene::new(
        "http-closed-at-once",
        "a connection closed without a word is an error at once",
        Script::Web(|visit, _| visit.raw(b"")),
        fails_at_once,
    ),
    Scene::new(
        "http-not-http",
        "an answer that is not HTTP is an error at once",
        Script::Web(|visit, _| visit.raw(b"\x00\x01hello\r\n\r\n")),
        fails_at_once,
    ),
    Scene::new(
        "http-body-cut",
        "a body shorter than its length is an error at once",
        Script::Web(|visit, _| {
            visit.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"")
        }),
        fails_at_once,
    ),
    Scene::new(
        "http-redirect-away",
        "a redirect to another origin is refused: the call does not arrive there",
        Script::Web(|visit, _| visit.redirect()),
        stayed,
    ),
    Scene::new(
        "http-redirect-loop",
        "a redirect to itself for ever is an error at once",
        Script::Web(|visit, _| visit.redirect_to_itself()),
        fails_at_once,
    ),
    Scene::new("http-huge-head", "a head of 16 MiB is an error at once", Script::Web(huge_head), fails_at_once),
];

fn stayed(seen: &Seen) -> Result<String> {
    ensure!(seen.strayed == 0, "{} requests arrived at the other origin", seen.strayed);
    fails_at_once(seen)
}

fn comments(visit: &mut Visit) {
    visit.open("text/event-stream");
    for _ in 0..240 {
        if !visit.raw_alive(b": still here\n\n") {
            return;
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

fn cut(visit: &mut Visit, id: &str) {
    let text = known(id);
    visit.open("text/event-stream");
    visit.raw(format!("data: {}", &text[..text.len() / 2]).as_bytes());
}

fn split(id: &str) -> String {
    let lines: Vec<String> = known(id).replacen(',', ",\n", 3).lines().map(|line| format!("data:{line}\n")).collect();
    format!("event: message\nid\n{}\n", lines.concat())
}

fn strange(id: &str) -> String {
    format!(
        "event: ping\ndata: {{}}\n\nfoo: bar\nnofield\n\ndata:\n\ndata\n\nevent: endpoint\ndata: /elsewhere\n\nid: 7\nretry: soon\ndata: {}\n\n",
        known(id)
    )
}

fn pieces(visit: &mut Visit, id: &str) {
    visit.open("text/event-stream");
    for byte in format!("data: {}\n\n", known(id)).bytes() {
        visit.raw(&[byte]);
    }
}

fn endless(visit: &mut Visit, kind: &str, start: &[u8]) {
    visit.open(kind);
    visit.raw(start);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..2048 {
        if !visit.raw_alive(&piece) {
            return;
        }
    }
    visit.idle();
}

fn page(visit: &mut Visit, _: &str) {
    visit.json("200 OK", "text/html; charset=utf-8", "<!doctype html><title>Welcome</title><p>It works.");
}

fn refuse(visit: &mut Visit, status: &str) {
    visit.json(status, "text/plain", "no");
}

fn huge_head(visit: &mut Visit, _: &str) {
    visit.raw(b"HTTP/1.1 200 OK\r\n");
    let line = format!("X-Long: {}\r\n", "x".repeat(4000));
    for _ in 0..4096 {
        if !visit.raw_alive(line.as_bytes()) {
            return;
        }
    }
    visit.raw(b"\r\n");
}
