//! A scripted HTTP server on the loopback, and one visit of the client to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::scenes::{Scene, Script};
use crate::faults::player::small_talk;

/// Longer than any client waits.
const IDLE: Duration = Duration::from_secs(150);

/// One request, whose body was read, and its connection.
pub(super) struct Visit {
    stream: TcpStream,
    port: u16,
    elsewhere: u16,
    over: Arc<AtomicBool>,
}

impl Visit {
    /// Writes bytes.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.raw_alive(bytes);
    }

    /// Writes bytes; false when the client is gone.
    pub(super) fn raw_alive(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok() && !self.over.load(Ordering::Relaxed)
    }

    /// A head without a length.
    pub(super) fn open(&mut self, kind: &str) {
        self.raw(format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n").as_bytes());
    }

    /// A body that ends with the connection.
    pub(super) fn body(&mut self, kind: &str, text: &str) {
        self.open(kind);
        self.raw(text.as_bytes());
    }

    /// An event stream that ends after this.
    pub(super) fn events(&mut self, text: &str) {
        self.body("text/event-stream", text);
    }

    /// A body with its length.
    pub(super) fn json(&mut self, status: &str, kind: &str, text: &str) {
        let length = text.len();
        self.raw(
            format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            )
            .as_bytes(),
        );
        self.raw(text.as_bytes());
    }

    /// Says nothing until the client goes or the scene is over.
    pub(super) fn idle(&mut self) {
        let _ = self.stream.set_read_timeout(Some(IDLE));
        let _ = self.stream.read(&mut [0; 1]);
    }

    /// Sends the client to another origin.
    pub(super) fn redirect(&mut self) {
        self.move_to(&format!("http://127.0.0.1:{}/mcp", self.elsewhere));
    }

    /// Sends the client here again.
    pub(super) fn redirect_to_itself(&mut self) {
        self.move_to(&format!("http://127.0.0.1:{}/mcp", self.port));
    }

    fn move_to(&mut self, url: &str) {
        let head = format!(
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: {url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        self.raw(head.as_bytes());
    }
}

/// A listener with its thread.
pub(super) struct Stage {
    /// Where it listens.
    pub(super) port: u16,
    /// Requests that arrived where the client was sent.
    pub(super) strayed: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    threads: Vec<(u16, JoinHandle<()>)>,
}

impl Stage {
    /// Opens the house, and another one where a redirect leads.
    pub(super) fn open(scene: Scene) -> Result<Self> {
        let (over, strayed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let away = TcpListener::bind(("127.0.0.1", 0))?;
        let elsewhere = away.local_addr()?.port();
        let count = strayed.clone();
        let away = accept(away, over.clone(), move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let here = TcpListener::bind(("127.0.0.1", 0))?;
        let port = here.local_addr()?.port();
        let flag = over.clone();
        let here = accept(here, over.clone(), move |stream| {
            let _ = serve(scene, &Visit { stream, port, elsewhere, over: flag.clone() });
        });
        Ok(Self { port, strayed, over, threads: vec![(port, here), (elsewhere, away)] })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for (port, thread) in self.threads.drain(..) {
            drop(TcpStream::connect(("127.0.0.1", port)));
            let _ = thread.join();
        }
    }
}

fn accept(
    listener: TcpListener,
    over: Arc<AtomicBool>,
    visit: impl Fn(TcpStream) + Send + Sync + 'static,
) -> JoinHandle<()> {
    let visit = Arc::new(visit);
    thread::spawn(move || {
        for stream in listener.incoming() {
            if over.load(Ordering::Relaxed) {
                return;
            }
            if let Ok(stream) = stream {
                let visit = visit.clone();
                // Ends with its client, or with its own longest wait.
                thread::spawn(move || visit(stream));
            }
        }
    })
}

/// Reads one request and answers it, by the script where it is the script's.
fn serve(scene: Scene, visit: &Visit) -> Result<()> {
    visit.stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    visit.stream.set_write_timeout(Some(Duration::from_secs(60)))?;
    let (verb, body) = read(&visit.stream)?;
    let mut visit = Visit { stream: visit.stream.try_clone()?, over: visit.over.clone(), ..*visit };
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let id = message["id"].to_string();
    let is_call = message["method"] == "tools/call";
    match (verb.as_str(), scene.script) {
        ("POST", Script::WebAlways(script)) => script(&mut visit, &id),
        ("POST", Script::Web(script)) if is_call => script(&mut visit, &id),
        ("POST", Script::Words(words)) if is_call => {
            let events: String = words(&id).iter().map(|word| format!("data: {word}\n\n")).collect();
            visit.events(&events);
        }
        ("POST", _) => match small_talk(scene.talk, &message) {
            Some(answer) if message["method"] == "initialize" => {
                visit.json("200 OK\r\nMcp-Session-Id: scripted-1", "application/json", &answer);
            }
            Some(answer) => visit.json("200 OK", "application/json", &answer),
            None => visit.json("202 Accepted", "text/plain", ""),
        },
        ("DELETE", _) => visit.json("200 OK", "text/plain", ""),
        _ => visit.json("405 Method Not Allowed", "text/plain", ""),
    }
    let _ = visit.stream.shutdown(Shutdown::Write);
    // What the client still sends is read, so that it sees our answer and not a reset.
    visit.stream.set_read_timeout(Some(Duration::from_secs(3)))?;
    while matches!(visit.stream.read(&mut [0; 4096]), Ok(1..)) {}
    Ok(())
}

fn read(stream: &TcpStream) -> Result<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        chunked |= line.starts_with("transfer-encoding:") && line.contains("chunked");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    while chunked {
        let mut size = String::new();
        reader.read_line(&mut size)?;
        let mut chunk = vec![0; usize::from_str_radix(size.trim(), 16)? + 2];
        reader.read_exact(&mut chunk)?;
        body.extend_from_slice(&chunk[..chunk.len() - 2]);
        chunked = chunk.len() > 2;
    }
    Ok((first.split_whitespace().next().unwrap_or_default().to_owned(), body))
}
