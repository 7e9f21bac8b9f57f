//! A conversation with a server, whichever way it is reached: what to say and what is heard are the same.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::http::{Head, Until, Wire};
use super::pipe::Pipe;
use super::targets::Call;
use super::wire::{self, Answer, Talk};

/// How long an answer to something quick may take, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// How long an answer may come after one that was asked for later.
const GRACE: Duration = Duration::from_secs(3);
/// How long a server may take to start.
pub(crate) const START: Duration = Duration::from_secs(60);

/// One client's view of an HTTP server.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    /// Where it listens.
    pub(crate) port: u16,
    /// Its endpoint.
    pub(crate) path: &'static str,
    /// The session, once there is one.
    pub(crate) session: Option<String>,
    /// How requests introduce themselves.
    pub(crate) talk: Talk,
}

impl Web {
    /// The fields that a well-behaved client sends with this body.
    pub(crate) fn fields(&self, body: &[u8]) -> Vec<(String, String)> {
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let mut fields = vec![
            ("Host".to_owned(), format!("127.0.0.1:{}", self.port)),
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ];
        let mut add = |name: &str, value: &str| fields.push((name.to_owned(), value.to_owned()));
        match self.talk {
            Talk::Handshake => {
                if let Some(session) = &self.session {
                    add("Mcp-Session-Id", session);
                }
                if message["method"] != "initialize" {
                    add("MCP-Protocol-Version", wire::HANDSHAKE);
                }
            }
            Talk::Envelope => {
                add("MCP-Protocol-Version", wire::ENVELOPE);
                add("Mcp-Method", message["method"].as_str().unwrap_or("tools/call"));
                let name = message["params"]["name"].as_str().or(message["params"]["uri"].as_str());
                name.into_iter().for_each(|name| add("Mcp-Name", name));
            }
        }
        fields
    }

    /// The bytes of a POST; `change` replaces a field, or takes it out.
    pub(crate) fn post_bytes(&self, body: &[u8], change: &[(&str, Option<&str>)]) -> Vec<u8> {
        let mut fields = self.fields(body);
        fields.retain(|(name, _)| !change.iter().any(|(changed, _)| changed.eq_ignore_ascii_case(name)));
        fields.extend(change.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?.to_owned()))));
        fields.push(("Content-Length".to_owned(), body.len().to_string()));
        [self.head("POST", &fields), body.to_vec()].concat()
    }

    /// The bytes of a head.
    pub(crate) fn head(&self, method: &str, fields: &[(String, String)]) -> Vec<u8> {
        let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{method} {} HTTP/1.1\r\n{fields}\r\n", self.path).into_bytes()
    }

    /// Sends bytes over a new connection and reads the answer.
    pub(crate) fn send(&self, bytes: &[u8], limit: Duration) -> Result<(Head, Answer)> {
        let mut wire = Wire::open(self.port, limit)?;
        // A server may answer, and close, before it has read everything.
        let sent = wire.send(bytes);
        wire.answer(Until::Answer).or_else(|error| sent.and(Err(error)))
    }

    /// Posts a body.
    pub(crate) fn post(&self, body: &[u8], change: &[(&str, Option<&str>)]) -> Result<Answer> {
        Ok(self.send(&self.post_bytes(body, change), PATIENCE)?.1)
    }

    /// A request without a body.
    pub(crate) fn bare(&self, method: &str, more: &[(&str, &str)]) -> Result<Answer> {
        let mut fields = vec![("Host".to_owned(), format!("127.0.0.1:{}", self.port))];
        fields.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Ok(self.send(&self.head(method, &fields), PATIENCE)?.1)
    }

    /// Opens a session, where there are sessions.
    pub(crate) fn greet(&mut self) -> Result<()> {
        if self.talk == Talk::Envelope {
            return Ok(());
        }
        let body = wire::initialize("1");
        let (head, answer) = self.send(&self.post_bytes(body.as_bytes(), &[]), START)?;
        answer.served().context("initialize")?;
        self.session = head.get("mcp-session-id").map(str::to_owned);
        self.post(wire::notification(self.talk, "notifications/initialized", json!({})).as_bytes(), &[])?;
        Ok(())
    }
}

/// The conversation.
pub(crate) enum Link {
    /// A child of ours, and a call that it answers.
    Pipe(Box<Pipe>, Talk, Call),
    /// An HTTP server.
    Web(Web),
}

impl Link {
    /// How requests introduce themselves.
    pub(crate) fn talk(&self) -> Talk {
        match self {
            Self::Pipe(_, talk, _) => *talk,
            Self::Web(web) => web.talk,
        }
    }

    /// Sends bytes as one message, and takes what is answered, if anything is.
    pub(crate) fn say(&mut self, bytes: &[u8]) -> Result<Answer> {
        match self {
            Self::Pipe(pipe, talk, echo) => {
                pipe.line(bytes)?;
                // Another call shows when nothing more is to be expected: soon after its answer.
                pipe.line(wire::request(*talk, "\"after\"", "tools/call", echo.params()).as_bytes())?;
                let (_, before) = pipe.answer_to(&json!("after"), PATIENCE)?;
                let mut answers = before.into_iter().filter(|line| wire::is_answer(line));
                let text = answers.next().or_else(|| pipe.next(GRACE).ok().filter(|line| wire::is_answer(line)));
                Ok(Answer { text: text.unwrap_or_default(), ..Answer::default() })
            }
            Self::Web(web) => web.post(bytes, &[]),
        }
    }

    /// Makes a request whose id is JSON text.
    pub(crate) fn ask(&mut self, id: &str, method: &str, params: Value) -> Result<Answer> {
        self.ask_within(id, method, params, PATIENCE)
    }

    /// The same, with other patience.
    pub(crate) fn ask_within(&mut self, id: &str, method: &str, params: Value, limit: Duration) -> Result<Answer> {
        let body = wire::request(self.talk(), id, method, params);
        match self {
            Self::Pipe(pipe, ..) => {
                pipe.line(body.as_bytes())?;
                let (text, notes) = pipe.answer_to(&serde_json::from_str(id)?, limit)?;
                Ok(Answer { text, notes, status: None })
            }
            Self::Web(web) => Ok(web.send(&web.post_bytes(body.as_bytes(), &[]), limit)?.1),
        }
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, id: &str, call: &Call) -> Result<Answer> {
        self.ask(id, "tools/call", call.params())
    }

    /// Sends what must not be answered; over HTTP the status tells.
    pub(crate) fn hush(&mut self, bytes: &[u8], statuses: &[u16], after: &Call) -> Result<String> {
        match self {
            Self::Pipe(pipe, talk, _) => {
                pipe.line(bytes)?;
                pipe.line(wire::request(*talk, "\"after\"", "tools/call", after.params()).as_bytes())?;
                let (_, before) = pipe.answer_to(&json!("after"), PATIENCE)?;
                match before.iter().find(|line| wire::is_answer(line)) {
                    Some(line) => bail!("answered {line}"),
                    None => Ok("silence".to_owned()),
                }
            }
            Self::Web(web) => web.post(bytes, &[])?.status(statuses),
        }
    }

    /// Shows that the server still works.
    pub(crate) fn alive(&mut self, echo: &Call) -> Result<()> {
        let answer = self.call("\"alive\"", echo).context("afterwards")?;
        if answer.text.contains(&echo.expect) { Ok(()) } else { bail!("afterwards: {}", answer.told()) }
    }
}
