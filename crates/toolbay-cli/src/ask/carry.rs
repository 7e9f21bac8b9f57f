//! Calls of a plan, carried over a connection like any client's; progress is shown where people watch.

use std::{io::IsTerminal as _, time::Duration};

use serde_json::{Map, Value};
use toolbay_agent::planner::{Blame, Failure, Tools};
use toolbay_protocol::{
    ErrorObject, Method, Raw,
    exchange::{Answers, Note, Step, Wishes},
    fault::code,
    peer::{Call, Patience},
    raw::Object,
};
use toolbay_transport::Connection;

use crate::show;

/// The way over a connection.
pub(super) struct Carry<'c> {
    connection: &'c Connection,
    allowed: Duration,
    watched: Watched,
}

/// Whether people watch what goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watched {
    Yes,
    No,
}

impl<'c> Carry<'c> {
    pub(super) fn over(connection: &'c Connection, allowed: Duration) -> Self {
        let watched = if std::io::stderr().is_terminal() { Watched::Yes } else { Watched::No };
        Self { connection, allowed, watched }
    }

    fn say(&self, tool: &str, what: &str) {
        if self.watched == Watched::Yes {
            eprintln!("{}", show::dim(&show::safe(&format!("{tool}: {what}"))));
        }
    }

    async fn outcome(&self, tool: &str, call: Call) -> Result<Result<Raw, ErrorObject>, toolbay_transport::Error> {
        let mut running = self.connection.call(call).await?;
        loop {
            match running.step().await? {
                Step::Note(note) => progress(&note).iter().for_each(|what| self.say(tool, what)),
                Step::Away(_) | Step::Withdrawn(_) => {}
                Step::Ask(asks) => {
                    let refused =
                        ErrorObject::new(code::REFUSED, "nobody is there to answer: several calls run at once");
                    running.answer(Answers::refuse(&asks, &refused)).await?;
                }
                Step::Done(outcome) => return Ok(outcome),
            }
        }
    }
}

impl Tools for Carry<'_> {
    type Answer = Raw;

    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Raw, Failure> {
        let mut params = Object::with_capacity(256);
        params.put_text("name", tool);
        params.put_value("arguments", &arguments);
        let patience = Patience { silence: self.allowed, total: Some(self.allowed) };
        let call = Call::new(Method::ToolsCall, Some(params.finish()));
        self.say(tool, "called");
        let outcome = self.outcome(tool, Call { wishes: Wishes::progress(), patience, ..call }).await;
        let failure = |blame, what: String| Failure { blame, what };
        let result = outcome
            .map_err(|lost| failure(Blame::Server, lost.to_string()))?
            .map_err(|refused| failure(Blame::Server, refused.to_string()))?;
        if show::is_true(&result, "isError") {
            return Err(failure(Blame::Tool, text(&result)));
        }
        self.say(tool, "answered");
        Ok(result)
    }
}

/// A result as text.
pub(super) fn text(result: &Raw) -> String {
    let blocks: Vec<_> =
        result.get("content").iter().flat_map(Raw::elements).map(|block| show::block(&block)).collect();
    match (blocks.is_empty(), result.get("structuredContent")) {
        (true, Some(structured)) => show::json(&structured),
        _ => blocks.join("\n"),
    }
}

fn progress(note: &Note) -> Option<String> {
    let params = note.params.as_ref().filter(|_| note.method == Method::Progress)?;
    let number = |key: &str| params.get(key).map(|value| value.as_str().to_owned());
    let total = number("total").map(|total| format!("/{total}")).unwrap_or_default();
    let message = show::text(params, "message").map(|text| format!(" {text}")).unwrap_or_default();
    Some(format!("{}{total}{message}", number("progress").unwrap_or_default()))
}
