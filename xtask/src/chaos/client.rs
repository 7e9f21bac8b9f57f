//! A client of the bay: one call at a time, each with a token of its own.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::acts::{Act, Manner};
use super::books::{Books, Ending};
use super::dice::Dice;
use super::hearing::{Hearing, Wants, judged};
use super::http::{self, Pace, Wire};
use super::meeting::{self, Era, Peer};
use super::weather::Weather;

/// How long a call may take in all: the bay waits two seconds for a word of its server, and the machine may be busy.
const DEADLINE: Duration = Duration::from_secs(20);
const ROUNDS: usize = 3;

/// A client.
pub(super) struct Client<'c> {
    /// Its name, in its tokens.
    pub(super) name: String,
    /// How it opens.
    pub(super) era: Era,
    /// Whether it can be asked.
    pub(super) asks: bool,
    pub(super) dice: Dice,
    port: u16,
    weather: &'c Weather,
    books: &'c Books,
    /// With the weather in which each was opened.
    session: Option<(String, u64)>,
    wire: Option<(Wire, u64)>,
    serial: u64,
}

/// What a round of a call came to.
enum Round {
    Answer(Value),
    Left,
    Wrong(String),
    SessionLost,
}

struct Call<'c> {
    peer: &'c Peer,
    act: Act,
    manner: Manner,
    token: String,
    /// How long a late server waits, in milliseconds.
    late: u64,
}

impl<'c> Client<'c> {
    /// A client of the bay at a port.
    pub(super) fn new(
        name: String,
        (era, asks): (Era, bool),
        dice: Dice,
        port: u16,
        (weather, books): (&'c Weather, &'c Books),
    ) -> Self {
        Self { name, era, asks, dice, port, weather, books, session: None, wire: None, serial: 0 }
    }

    /// Calls until `over`.
    pub(super) fn play(&mut self, peers: &[Peer], over: impl Fn() -> bool) {
        while !over() {
            let peer = self.dice.pick(peers).clone();
            let act = Act::throw(&mut self.dice, &peer, self.era, self.asks);
            let manner = Manner::throw(&mut self.dice);
            self.call(&peer, act, manner);
            let pause = self.dice.between(2, 20);
            thread::sleep(Duration::from_millis(pause));
        }
        self.leave();
    }

    /// Makes a call and notes its end.
    pub(super) fn call(&mut self, peer: &Peer, act: Act, manner: Manner) -> Ending {
        let (begun, before) = (Instant::now(), self.weather.now());
        self.serial += 1;
        let (token, late) = (format!("tok-{}-{}z", self.name, self.serial), self.dice.between(50, 900));
        let call = Call { peer, act, manner, token, late };
        let ending = self.rounds(&call).unwrap_or_else(|error| {
            self.wire = None;
            let why = if http::is_late(&error) { "no answer in time".to_owned() } else { format!("{error:#}") };
            if self.weather.was_fair_since(before) { Ending::Lost(why) } else { Ending::Away }
        });
        if ending == Ending::Away {
            thread::sleep(Duration::from_millis(100));
        }
        self.books.close(act, &format!("{} at {}", call.token, peer.name), begun.elapsed(), &ending);
        ending
    }

    fn rounds(&mut self, call: &Call<'_>) -> Result<Ending> {
        let mut more = json!({});
        for _ in 0..ROUNDS {
            let message = match self.round(call, &more)? {
                Round::Answer(message) => message,
                Round::Left => return Ok(Ending::Left),
                Round::Wrong(what) => return Ok(Ending::Wrong(what)),
                Round::SessionLost => {
                    let (_, opened) = self.session.take().context("a session was lost that there was not")?;
                    let fair = self.weather.was_fair_since(opened);
                    return Ok(if fair { Ending::Lost("the bay forgot the session".into()) } else { Ending::Away });
                }
            };
            let result = &message["result"];
            if result["resultType"] != "input_required" {
                return Ok(judged(&message, &call.token, call.act));
            }
            let mut hearing = Hearing::new(&call.token, 0);
            let asks = result["inputRequests"].as_object().context("asked nothing")?;
            let mut answers = json!({});
            for (key, ask) in asks {
                hearing.check_question(&ask["params"]["message"]);
                answers[key] = json!({ "action": "accept", "content": { "echo": call.token } });
            }
            if let Some(wrong) = hearing.wrong {
                return Ok(Ending::Wrong(wrong));
            }
            if matches!(call.manner, Manner::Leaves(_)) {
                self.books.leave_unanswered();
                return Ok(Ending::Left);
            }
            more = json!({ "inputResponses": answers });
            if let Some(state) = result.get("requestState") {
                more["requestState"] = state.clone();
            }
        }
        Ok(Ending::Wrong(format!("asked {ROUNDS} times (this call: {})", call.token)))
    }

    /// One request and what comes back.
    fn round(&mut self, call: &Call<'_>, more: &Value) -> Result<Round> {
        if self.era == Era::Legacy && self.session.is_none() {
            self.greet()?;
        }
        self.serial += 1;
        let id = self.serial;
        let name = format!("{}__t", call.peer.name);
        let mut params =
            json!({ "name": name, "arguments": { "token": call.token, "act": call.act.word(), "ms": call.late } });
        params["_meta"] = if self.era == Era::Modern { meeting::envelope(self.asks) } else { json!({}) };
        params["_meta"]["progressToken"] = json!(call.token);
        more.as_object().into_iter().flatten().for_each(|(key, value)| params[key] = value.clone());
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let pace = if call.manner == Manner::ReadsSlowly { Pace::Slow } else { Pace::Fast };
        let (mut wire, opened) = self.connection()?;
        wire.send(&self.post(&body, "tools/call", Some(&name)), DEADLINE, pace)?;
        let asked_elsewhere = call.act == Act::Ask && self.era == Era::Modern;
        if let (Manner::Leaves(after), false) = (call.manner, asked_elsewhere) {
            thread::sleep(Duration::from_millis(after));
            return Ok(Round::Left);
        }
        let head = wire.head()?;
        let mut hearing = Hearing::new(&call.token, id);
        let heard = if head.status == 404 && self.era == Era::Legacy {
            Ok(())
        } else {
            wire.messages(&head, |message| match hearing.take(message) {
                Wants::Nothing => Ok(()),
                Wants::Answer(question) => self.answer(&question, &call.token),
            })
        };
        match (hearing.wrong, hearing.answer) {
            (Some(wrong), _) => Ok(Round::Wrong(wrong)),
            (None, Some(answer)) => {
                if heard.is_ok() {
                    self.wire = Some((wire, opened));
                }
                Ok(Round::Answer(answer))
            }
            (None, None) if head.status == 404 && self.era == Era::Legacy => Ok(Round::SessionLost),
            (None, None) => {
                heard?;
                bail!("the response ended without an answer (status {})", head.status)
            }
        }
    }

    /// A connection of this weather.
    fn connection(&mut self) -> Result<(Wire, u64)> {
        let now = self.weather.now();
        match self.wire.take() {
            Some((wire, opened)) if self.weather.was_fair_since(opened) => Ok((wire, opened)),
            _ => Ok((Wire::open(self.port)?, now)),
        }
    }

    fn post(&self, body: &Value, method: &str, name: Option<&str>) -> Vec<u8> {
        let session = self.session.as_ref().map(|(session, _)| session.as_str());
        let mut fields: Vec<(&str, &str)> = Vec::new();
        if self.era == Era::Modern || session.is_some() {
            fields.push(("MCP-Protocol-Version", self.era.revision()));
        }
        fields.extend(session.map(|session| ("Mcp-Session-Id", session)));
        if self.era == Era::Modern {
            fields.push(("Mcp-Method", method));
            fields.extend(name.map(|name| ("Mcp-Name", name)));
        }
        http::request("POST", self.port, &fields, &body.to_string())
    }

    /// Sends what needs no answer, over a connection of its own.
    fn tell(&self, body: &Value) -> Result<()> {
        let mut wire = Wire::open(self.port)?;
        wire.send(&self.post(body, body["method"].as_str().unwrap_or_default(), None), DEADLINE, Pace::Fast)?;
        let status = wire.head()?.status;
        if status == 202 { Ok(()) } else { bail!("a message that needs no answer was answered with {status}") }
    }

    fn answer(&self, question: &Value, token: &str) -> Result<()> {
        let result = json!({ "action": "accept", "content": { "echo": token } });
        self.tell(&json!({ "jsonrpc": "2.0", "id": question, "result": result }))
    }

    fn greet(&mut self) -> Result<()> {
        let now = self.weather.now();
        let params = json!({
            "protocolVersion": self.era.revision(), "capabilities": meeting::capabilities(self.asks),
            "clientInfo": { "name": "chaos", "version": "1" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let mut wire = Wire::open(self.port)?;
        wire.send(&self.post(&body, "initialize", None), DEADLINE, Pace::Fast)?;
        let head = wire.head()?;
        let session =
            head.session.clone().with_context(|| format!("no session was opened (status {})", head.status))?;
        wire.messages(&head, |_| Ok(()))?;
        self.session = Some((session, now));
        self.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    /// Ends its session and hangs up.
    pub(super) fn leave(&mut self) {
        self.wire = None;
        let Some((session, _)) = self.session.take() else { return };
        let fields = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", self.era.revision())];
        let bytes = http::request("DELETE", self.port, &fields, "");
        // Where the bay is away, so is the session.
        let _ = Wire::open(self.port).and_then(|mut wire| {
            wire.send(&bytes, DEADLINE, Pace::Fast)?;
            wire.head()
        });
    }
}
