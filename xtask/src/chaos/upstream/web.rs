//! The scripted server over HTTP: a thread for each connection.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::super::acts::Act;
use super::super::meeting::{Era, small_talk};
use super::desk::{Desk, Voice};

/// How long a call that is never answered is held open.
const SILENT: Duration = Duration::from_secs(30);
const MOST: usize = 16 << 20;

type Sessions = Arc<Mutex<HashSet<String>>>;

/// Serves until it is ended.
pub(super) fn serve(desk: &Desk, port: u16) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).context("the port is taken")?;
    let sessions = Sessions::default();
    for stream in listener.incoming() {
        let (desk, sessions) = (desk.clone(), sessions.clone());
        if let Ok(stream) = stream {
            thread::spawn(move || drop(Connection { desk, sessions, stream: BufReader::new(stream) }.serve()));
        }
    }
    Ok(())
}

struct Connection {
    desk: Desk,
    sessions: Sessions,
    stream: BufReader<TcpStream>,
}

struct Asked {
    method: String,
    session: Option<String>,
    body: Vec<u8>,
}

impl Connection {
    fn serve(mut self) -> Result<()> {
        self.stream.get_ref().set_nodelay(true)?;
        while let Some(asked) = self.read()? {
            if !self.answer(&asked)? {
                break;
            }
        }
        Ok(())
    }

    fn read(&mut self) -> Result<Option<Asked>> {
        let mut line = String::new();
        if (&mut self.stream).take(1 << 16).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let method = line.split(' ').next().unwrap_or_default().to_owned();
        let (mut session, mut length) = (None, 0);
        loop {
            line.clear();
            if (&mut self.stream).take(1 << 16).read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let Some((key, value)) = line.trim_end().split_once(':') else { break };
            match key.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse::<usize>()?.min(MOST),
                "mcp-session-id" => session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(Some(Asked { method, session, body }))
    }

    /// Answers; false where the connection ends with that.
    fn answer(&mut self, asked: &Asked) -> Result<bool> {
        let known = |id: &String| self.sessions.lock().unwrap_or_else(PoisonError::into_inner).contains(id);
        match asked.method.as_str() {
            "POST" => {}
            "DELETE" => return self.write("200 OK", "", b""),
            _ => return self.write("405 Method Not Allowed", "", b""),
        }
        let message: Value = serde_json::from_slice(&asked.body)?;
        let opening = message["method"] == "initialize" || message["method"] == "server/discover";
        if self.desk.era == Era::Legacy && !opening && !asked.session.as_ref().is_some_and(known) {
            return self.write("404 Not Found", "", b"no such session");
        }
        if message["method"] == "tools/call" {
            return self.call(&message);
        }
        if message.get("method").is_none() {
            self.desk.answered(&message);
        }
        match small_talk(self.desk.era, &message) {
            Some(answer) if message["method"] == "initialize" && answer.get("result").is_some() => {
                let id = format!("{:016x}", std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0));
                self.sessions.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
                self.write("200 OK", &format!("Mcp-Session-Id: {id}\r\n"), answer.to_string().as_bytes())
            }
            Some(answer) => self.write("200 OK", "", answer.to_string().as_bytes()),
            None => self.write("202 Accepted", "", b""),
        }
    }

    fn write(&mut self, status: &str, more: &str, body: &[u8]) -> Result<bool> {
        let kind = if body.starts_with(b"{") { "Content-Type: application/json\r\n" } else { "" };
        let head = format!("HTTP/1.1 {status}\r\n{kind}{more}Content-Length: {}\r\n\r\n", body.len());
        self.stream.get_mut().write_all(&[head.as_bytes(), body].concat())?;
        Ok(true)
    }

    fn call(&mut self, message: &Value) -> Result<bool> {
        let act = Desk::act(message);
        let plain = matches!(act, Act::Plain | Act::Late | Act::Big | Act::Error | Act::Overdue)
            || (act == Act::Ask && self.desk.era == Era::Modern);
        let mut voice = Response { stream: self.stream.get_ref().try_clone()?, plain, begun: false };
        self.desk.perform(message, &mut voice);
        match act {
            Act::Silent => thread::sleep(SILENT),
            _ if plain => return Ok(true),
            _ => {}
        }
        let _ = self.stream.get_ref().shutdown(Shutdown::Both);
        Ok(false)
    }
}

/// The response to one call: one JSON body, or events until the connection ends.
struct Response {
    stream: TcpStream,
    plain: bool,
    begun: bool,
}

impl Response {
    fn send(&mut self, bytes: &[u8]) {
        // Whoever left need not be told.
        let _ = self.stream.write_all(bytes);
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
        }
    }
}

impl Voice for Response {
    fn say(&mut self, message: &Value) {
        let text = message.to_string();
        if self.plain {
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", text.len());
            return self.send(format!("{head}{text}").as_bytes());
        }
        self.begin();
        self.send(format!("data: {text}\n\n").as_bytes());
    }

    fn junk(&mut self, bytes: &[u8]) {
        self.begin();
        self.send(&[b"data: ", bytes, b"\n\n"].concat());
    }

    fn cut(&mut self, message: &Value) {
        let text = message.to_string();
        self.begin();
        self.send(format!("data: {}", &text[..text.len() / 2]).as_bytes());
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
