//! A step, as a value and as a line.

use serde_json::{Map, Value, json};

use crate::{
    model::{Stop, Usage},
    toolbox::ToolId,
    transcript::Outcome,
};

/// How much of a text a step keeps, in bytes.
const KEPT: usize = 4096;

/// A step of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its place among all steps, from one.
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The round of the turn it belongs to, from one.
    pub round: u32,
    /// What was done.
    pub what: What,
}

/// A text, or as much of it as a step keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Its beginning.
    pub text: String,
    /// How many bytes it had.
    pub bytes: usize,
}

/// What was done in a step.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A turn began.
    Began {
        /// How many tools there are.
        tools: usize,
        /// Servers that could not be reached, and why.
        down: Vec<(String, String)>,
    },
    /// The model was asked.
    Asked {
        /// How many messages it was told.
        messages: usize,
        /// How many bytes of text and pictures they have.
        bytes: usize,
        /// How many tools it was shown.
        tools: usize,
        /// How many tokens their definitions take: a quarter of their bytes.
        definitions: usize,
    },
    /// The model replied.
    Replied {
        /// Why it ended.
        stop: Stop,
        /// What it took.
        usage: Usage,
        /// How many characters it said.
        chars: usize,
        /// How many calls it wants.
        intents: usize,
        /// How long it took.
        ms: u64,
    },
    /// The model did not reply.
    Unanswered {
        /// Why.
        error: String,
        /// How long that took.
        ms: u64,
    },
    /// The model wants a call.
    Intent {
        /// The id of the intent; so for all that follows of it.
        id: String,
        /// The name that the model wrote.
        sent: String,
        /// The tool that is; none where there is no such tool, or it is the host's own.
        tool: Option<ToolId>,
        /// With what.
        arguments: Cut,
        /// Why it cannot be called, where it cannot.
        flaw: Option<String>,
    },
    /// It was decided whether a call may be made.
    Decided {
        /// The intent.
        id: String,
        /// The tool.
        tool: ToolId,
        /// `allowed`, `edited` or `denied`.
        decision: &'static str,
        /// `rule` or `person`.
        by: &'static str,
        /// The reason, or the other arguments.
        note: Option<Cut>,
    },
    /// A call is about to be made. Whoever finds no [`What::Ended`] for it knows that it may have had an effect.
    Called {
        /// The intent.
        id: String,
        /// The name that the model wrote.
        sent: String,
        /// The tool; none where it is the host's own.
        tool: Option<ToolId>,
        /// With what.
        arguments: Cut,
    },
    /// A server asked the person something during a call. What they answered is not kept.
    Elicited {
        /// The intent.
        id: String,
        /// The tool.
        tool: ToolId,
        /// `form`, `url`, `sampling` or `approval`.
        kind: &'static str,
        /// `accepted`, `declined` or `cancelled`.
        answer: &'static str,
    },
    /// A call has ended.
    Ended {
        /// The intent.
        id: String,
        /// The tool; none where it is the host's own.
        tool: Option<ToolId>,
        /// Whether it succeeded.
        outcome: Outcome,
        /// What it gave, as the model is told.
        result: Cut,
        /// How long it took.
        ms: u64,
    },
    /// The turn has ended.
    Done {
        /// Why.
        why: String,
        /// What the conversation took so far.
        usage: Usage,
        /// What that cost, where prices are known.
        cost: Option<f64>,
    },
}

impl Cut {
    /// As much of a text as is kept.
    pub fn of(text: &str) -> Self {
        Self { text: text[..text.floor_char_boundary(KEPT)].to_owned(), bytes: text.len() }
    }

    /// As much of an object as is kept. A large one is not written out for that.
    pub fn of_object(object: &Map<String, Value>) -> Self {
        let mut to = Counting { text: Vec::new(), bytes: 0 };
        serde_json::to_writer(&mut to, object).expect("an object has text keys, and a count never fails");
        let text = String::from_utf8_lossy(&to.text);
        let text = text.trim_end_matches('\u{fffd}');
        Self { text: text[..text.floor_char_boundary(KEPT)].to_owned(), bytes: to.bytes }
    }

    fn shown(&self) -> Value {
        match self.text.len() < self.bytes {
            true => json!({"text": self.text, "cut": true, "bytes": self.bytes}),
            false => json!(self.text),
        }
    }
}

/// Keeps what comes first, and counts all.
struct Counting {
    text: Vec<u8>,
    bytes: usize,
}

impl std::io::Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = KEPT.saturating_sub(self.text.len()).min(bytes.len());
        self.text.extend_from_slice(&bytes[..room]);
        self.bytes += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Step {
    /// It as an object: a line of the trace.
    pub fn to_value(&self) -> Value {
        let mut line = Map::new();
        line.insert("n".into(), json!(self.number));
        line.insert("at_ms".into(), json!(self.at_ms));
        line.insert("round".into(), json!(self.round));
        let (word, Value::Object(rest)) = self.what.shown() else { unreachable!("each is shown as an object") };
        line.insert("step".into(), json!(word));
        line.extend(rest.into_iter().filter(|(_, value)| !value.is_null()));
        Value::Object(line)
    }
}

fn usage_of(usage: &Usage) -> Value {
    json!({"input": usage.input, "cached": usage.cached, "output": usage.output})
}

fn stop_of(stop: &Stop) -> &str {
    match stop {
        Stop::End => "end",
        Stop::Tools => "tools",
        Stop::Length => "length",
        Stop::Refused => "refused",
        Stop::Paused => "paused",
        Stop::Other(other) => other,
    }
}

fn outcome_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Success => "success",
        Outcome::Failure => "failure",
    }
}

impl What {
    fn shown(&self) -> (&'static str, Value) {
        let server = |tool: &Option<ToolId>| tool.as_ref().map(|tool| tool.server.clone());
        let name = |tool: &Option<ToolId>| tool.as_ref().map(|tool| tool.name.clone());
        match self {
            Self::Began { tools, down } => {
                let down: Map<_, _> = down.iter().map(|(server, why)| (server.clone(), json!(why))).collect();
                ("began", json!({"tools": tools, "down": down}))
            }
            Self::Asked { messages, bytes, tools, definitions } => (
                "asked",
                json!({"messages": messages, "bytes": bytes, "tools": tools, "definition_tokens": definitions}),
            ),
            Self::Replied { stop, usage, chars, intents, ms } => (
                "replied",
                json!({
                    "stop": stop_of(stop), "usage": usage_of(usage), "chars": chars, "intents": intents, "ms": ms,
                }),
            ),
            Self::Unanswered { error, ms } => ("unanswered", json!({"error": error, "ms": ms})),
            Self::Intent { id, sent, tool, arguments, flaw } => (
                "intent",
                json!({
                    "id": id, "sent": sent, "server": server(tool), "tool": name(tool), "arguments": arguments.shown(),
                    "flaw": flaw,
                }),
            ),
            Self::Decided { id, tool, decision, by, note } => (
                "decided",
                json!({
                    "id": id, "server": tool.server, "tool": tool.name, "decision": decision, "by": by,
                    "note": note.as_ref().map(Cut::shown),
                }),
            ),
            Self::Called { id, sent, tool, arguments } => (
                "called",
                json!({
                    "id": id, "sent": sent, "server": server(tool), "tool": name(tool), "arguments": arguments.shown(),
                }),
            ),
            Self::Elicited { id, tool, kind, answer } => (
                "elicited",
                json!({"id": id, "server": tool.server, "tool": tool.name, "kind": kind, "answer": answer}),
            ),
            Self::Ended { id, tool, outcome, result, ms } => (
                "ended",
                json!({
                    "id": id, "server": server(tool), "tool": name(tool), "outcome": outcome_of(*outcome),
                    "result": result.shown(), "ms": ms,
                }),
            ),
            Self::Done { why, usage, cost } => ("done", json!({"why": why, "usage": usage_of(usage), "cost": cost})),
        }
    }
}
