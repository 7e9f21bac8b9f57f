//! HTTP/1.1 by hand, message by message: what a client hears before it has heard everything.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

const CONNECT: Duration = Duration::from_secs(5);
/// What a slow reader takes at a time, and how long it rests.
const SLOW: (usize, Duration) = (4096, Duration::from_millis(3));

/// One connection.
pub(crate) struct Wire {
    stream: BufReader<TcpStream>,
    deadline: Instant,
    slow: bool,
}

/// A head.
pub(crate) struct Head {
    /// The status.
    pub(crate) status: u16,
    /// The session that it names.
    pub(crate) session: Option<String>,
    events: bool,
    framing: Framing,
}

#[derive(Clone, Copy)]
enum Framing {
    Length(usize),
    Chunks(usize),
    ToEnd,
    Over,
}

/// How fast a client reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As fast as it can.
    Fast,
    /// A little at a time.
    Slow,
}

impl Wire {
    /// Connects to a port of the loopback.
    pub(crate) fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), CONNECT)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), deadline: Instant::now() + CONNECT, slow: false })
    }

    /// Sends a request, and begins to wait.
    pub(crate) fn send(&mut self, request: &[u8], limit: Duration, pace: Pace) -> Result<()> {
        self.deadline = Instant::now() + limit;
        self.slow = pace == Pace::Slow;
        self.stream.get_ref().set_write_timeout(Some(limit))?;
        Ok(self.stream.get_mut().write_all(request)?)
    }

    fn arm(&self) -> io::Result<()> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.get_ref().set_read_timeout(Some(left))
    }

    fn line(&mut self) -> io::Result<String> {
        self.arm()?;
        let mut line = String::new();
        if (&mut self.stream).take(1 << 16).read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }

    /// Reads a head.
    pub(crate) fn head(&mut self) -> Result<Head> {
        let first = self.line()?;
        let status = first.split_whitespace().nth(1).and_then(|word| word.parse().ok());
        let status = status.with_context(|| format!("this is no status line: {first}"))?;
        let mut head = Head { status, session: None, events: false, framing: Framing::ToEnd };
        loop {
            let line = self.line()?;
            let Some((key, value)) = line.split_once(':') else { break };
            let value = value.trim();
            match key.to_ascii_lowercase().as_str() {
                "content-length" => head.framing = Framing::Length(value.parse()?),
                "transfer-encoding" => head.framing = Framing::Chunks(0),
                "content-type" => head.events = value.starts_with("text/event-stream"),
                "mcp-session-id" => head.session = Some(value.to_owned()),
                _ => {}
            }
        }
        if matches!(status, 204 | 304) {
            head.framing = Framing::Over;
        }
        Ok(head)
    }

    /// Reads a body that is text.
    pub(crate) fn text(&mut self, head: &Head) -> Result<String> {
        let mut text = String::new();
        Body { wire: self, framing: head.framing }.read_to_string(&mut text)?;
        Ok(text)
    }

    /// Hears every message of a body, one after the other, until it ends or `hear` fails.
    pub(crate) fn messages(&mut self, head: &Head, mut hear: impl FnMut(Value) -> Result<()>) -> Result<()> {
        let mut body = BufReader::new(Body { wire: self, framing: head.framing });
        if !head.events {
            let mut text = String::new();
            body.read_to_string(&mut text)?;
            return if text.is_empty() { Ok(()) } else { hear(serde_json::from_str(&text).context("no JSON")?) };
        }
        let (mut line, mut data) = (String::new(), String::new());
        loop {
            line.clear();
            if body.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let text = line.trim_end();
            if let Some(part) = text.strip_prefix("data:") {
                data.push_str(part.trim_start());
            } else if text.is_empty() && !data.is_empty() {
                hear(serde_json::from_str(&data).context("an event that is no JSON")?)?;
                data.clear();
            }
        }
    }
}

struct Body<'w> {
    wire: &'w mut Wire,
    framing: Framing,
}

impl Read for Body<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if let Framing::Chunks(0) = self.framing {
            let size = self.wire.line()?;
            let size =
                usize::from_str_radix(size.trim(), 16).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            self.framing = Framing::Chunks(size);
            if size == 0 {
                self.wire.line()?;
                self.framing = Framing::Over;
            }
        }
        let left = match self.framing {
            Framing::Over | Framing::Length(0) => return Ok(0),
            Framing::Length(left) | Framing::Chunks(left) => left,
            Framing::ToEnd => usize::MAX,
        };
        let mut most = out.len().min(left);
        if self.wire.slow {
            most = most.min(SLOW.0);
            thread::sleep(SLOW.1);
        }
        self.wire.arm()?;
        let read = self.wire.stream.read(&mut out[..most])?;
        if read == 0 && !matches!(self.framing, Framing::ToEnd) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match &mut self.framing {
            Framing::Length(left) => *left -= read,
            Framing::Chunks(left) => {
                *left -= read;
                if *left == 0 {
                    self.wire.line()?;
                }
            }
            Framing::ToEnd | Framing::Over => {}
        }
        Ok(read)
    }
}

/// The bytes of a request.
pub(crate) fn request(method: &str, port: u16, fields: &[(&str, &str)], body: &str) -> Vec<u8> {
    let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{fields}Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// Whether a failure says that the time is over, not that the connection is.
pub(crate) fn is_late(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
}
