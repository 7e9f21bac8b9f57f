//! HTTP/1.1 by hand: bytes out, head and body in, with a deadline on all of it.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::wire::{self, Answer};

const CONNECT: Duration = Duration::from_secs(5);
/// The longest body read.
const MOST: usize = 64 << 20;

/// A head.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    /// The status.
    pub(crate) status: u16,
    fields: Vec<(String, String)>,
}

impl Head {
    /// A field's value.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Where to stop reading a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// An event stream may stay open after the answer.
    Answer,
    /// To its end.
    End,
}

/// One connection.
pub(crate) struct Wire {
    stream: BufReader<TcpStream>,
    deadline: Instant,
}

impl Wire {
    /// Connects.
    pub(crate) fn open(port: u16, limit: Duration) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), CONNECT)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(limit))?;
        Ok(Self { stream: BufReader::new(stream), deadline: Instant::now() + limit })
    }

    /// Waits anew.
    pub(crate) fn renew(&mut self, limit: Duration) {
        self.deadline = Instant::now() + limit;
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.get_mut().write_all(bytes)?)
    }

    /// Says that nothing more will be sent.
    pub(crate) fn finish(&mut self) {
        let _ = self.stream.get_ref().shutdown(std::net::Shutdown::Write);
    }

    fn arm(&mut self) -> Result<()> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            bail!("no answer within the time");
        }
        Ok(self.stream.get_ref().set_read_timeout(Some(left))?)
    }

    fn line(&mut self) -> Result<String> {
        self.arm()?;
        let mut line = Vec::new();
        let read = (&mut self.stream).take(1 << 20).read_until(b'\n', &mut line).map_err(late)?;
        if read == 0 {
            bail!("the connection was closed");
        }
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// Reads a head, past `100 Continue`.
    pub(crate) fn head(&mut self) -> Result<Head> {
        loop {
            let first = self.line()?;
            let status = first.split_whitespace().nth(1).and_then(|word| word.parse().ok());
            let status = status.with_context(|| format!("this is no status line: {first}"))?;
            let mut fields = Vec::new();
            loop {
                let line = self.line()?;
                if line.is_empty() {
                    break;
                }
                if let Some((key, value)) = line.split_once(':') {
                    fields.push((key.trim().to_owned(), value.trim().to_owned()));
                }
            }
            if status != 100 {
                return Ok(Head { status, fields });
            }
        }
    }

    /// Reads a body.
    pub(crate) fn body(&mut self, head: &Head, until: Until) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        if matches!(head.status, 204 | 304) {
            return Ok(body);
        }
        let events = head.get("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let chunked = head.get("transfer-encoding").is_some_and(|coding| coding.contains("chunked"));
        if let (false, Some(length)) = (chunked, head.get("content-length")) {
            self.take(length.parse()?, &mut body)?;
            return Ok(body);
        }
        loop {
            let more = if chunked { self.chunk(&mut body)? } else { self.some(&mut body)? };
            if !more || (until == Until::Answer && events && messages(&body).iter().any(|one| wire::is_answer(one))) {
                return Ok(body);
            }
            if body.len() > MOST {
                bail!("a body of more than {MOST} bytes");
            }
        }
    }

    fn chunk(&mut self, body: &mut Vec<u8>) -> Result<bool> {
        let size = self.line()?;
        let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16)
            .with_context(|| format!("this is no chunk size: {size}"))?;
        self.take(size, body)?;
        self.line()?;
        Ok(size > 0)
    }

    fn take(&mut self, mut length: usize, body: &mut Vec<u8>) -> Result<()> {
        while length > 0 {
            self.arm()?;
            let buffer = self.stream.fill_buf().map_err(late)?;
            if buffer.is_empty() {
                bail!("the body was cut off");
            }
            let part = buffer.len().min(length);
            body.extend_from_slice(&buffer[..part]);
            self.stream.consume(part);
            length -= part;
        }
        Ok(())
    }

    fn some(&mut self, body: &mut Vec<u8>) -> Result<bool> {
        self.arm()?;
        let buffer = self.stream.fill_buf().map_err(late)?;
        let part = buffer.len();
        body.extend_from_slice(buffer);
        self.stream.consume(part);
        Ok(part > 0)
    }

    /// Reads a whole answer.
    pub(crate) fn answer(&mut self, until: Until) -> Result<(Head, Answer)> {
        let head = self.head()?;
        let body = self.body(&head, until)?;
        let events = head.get("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut notes = if events { messages(&body) } else { Vec::new() };
        let text = if events {
            let at = notes.iter().position(|one| wire::is_answer(one));
            at.map(|at| notes.remove(at)).unwrap_or_default()
        } else {
            String::from_utf8_lossy(&body).into_owned()
        };
        let status = Some(head.status);
        Ok((head, Answer { status, text, notes }))
    }

    /// Whether the other side has closed within the time.
    pub(crate) fn closed_within(&mut self, limit: Duration) -> bool {
        self.renew(limit);
        let mut rest = Vec::new();
        loop {
            match self.some(&mut rest) {
                Ok(true) => {}
                Ok(false) => return true,
                Err(error) => return error.to_string().contains("reset"),
            }
        }
    }
}

fn late(error: std::io::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => anyhow::anyhow!("no answer within the time"),
        ErrorKind::ConnectionReset => anyhow::anyhow!("the connection was reset"),
        _ => error.into(),
    }
}

/// The data of every whole event that has some.
pub(crate) fn messages(body: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(body).replace("\r\n", "\n");
    let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
    let data = |event: &str| {
        let lines: Vec<&str> = event.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).collect();
        lines.join("\n").trim().to_owned()
    };
    whole.split("\n\n").map(data).filter(|data| !data.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_events_with_data_are_messages() {
        assert_eq!(messages(b"id: 1\ndata:\n\n: x\n\ndata: a\r\ndata: b\r\n\r\ndata: half"), ["a\nb"]);
    }
}
