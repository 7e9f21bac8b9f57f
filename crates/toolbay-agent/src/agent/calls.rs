//! Calls, made: as many at once as may be, each with its time, each in the trace before it is made and after it has ended.

use std::sync::Arc;

use futures_util::{
    future::BoxFuture,
    stream::{FuturesUnordered, StreamExt as _},
};
use serde_json::Value;
use tokio::time::Instant;

use super::{
    question::milliseconds,
    run::{Events, Open, Running},
    waits::{Allowed, Waits, within},
    watched::Watched,
};
use crate::{
    planner::{Blame, Failure},
    results::{Pictures, shape},
    toolbox::{Tool, ToolId},
    trace::{Cut, What},
    transcript::{Content, Part},
    turn::{Call, Given, HostTool, Target},
};

/// A call that has ended.
struct Back {
    call: Call,
    tool: Arc<Tool>,
    result: Result<Value, Failure>,
    ms: u64,
}

impl Running<'_> {
    /// Makes calls that may be in flight together. What each gave is fed as it comes.
    pub(super) async fn calls(&mut self, calls: Vec<Call>, events: &mut Events<'_>) {
        let bound = self.agent.settings.side_by_side.max(1);
        let mut waiting = calls.into_iter();
        let mut flying: FuturesUnordered<BoxFuture<'static, Back>> = FuturesUnordered::new();
        loop {
            while flying.len() < bound
                && let Some(call) = waiting.next()
            {
                if self.begin(&call, events) {
                    match call.target.clone() {
                        Target::Host(host) => self.own(host, call, events).await,
                        Target::Tool(tool) => flying.push(self.carry(call, tool)),
                    }
                }
            }
            match flying.next().await {
                Some(back) => self.back(back, events),
                None => break,
            }
        }
    }

    /// Puts a call into the trace. Without that it is not made, so that the trace shows every call there was.
    fn begin(&mut self, call: &Call, events: &mut Events<'_>) -> bool {
        let (id, sent, arguments) = (call.id.clone(), call.sent.clone(), Cut::of_object(&call.arguments));
        let what = What::Called { id, sent, tool: id_of(&call.target), arguments };
        match self.agent.trace.announce(self.turn.round(), what) {
            Ok(step) => {
                events(super::event::Event::Step(&step));
                self.open.push(Open { id: call.id.clone(), tool: id_of(&call.target), since: Instant::now() });
                true
            }
            Err(why) => {
                let given = Given::failure(format!("[host] Not called: the trace cannot be written: {why}."));
                self.turn.answered(call.place, given);
                false
            }
        }
    }

    fn carry(&self, call: Call, tool: Arc<Tool>) -> BoxFuture<'static, Back> {
        let (toolbox, person) = (Arc::clone(&self.agent.toolbox), Arc::clone(&self.agent.person));
        let (trace, round) = (self.agent.trace.clone(), self.turn.round());
        let settings = &self.agent.settings;
        let allowed = Allowed { silence: settings.call, total: settings.longest_call };
        let patience = settings.patience;
        Box::pin(async move {
            let waits = Waits::new();
            let watched = Watched { person, trace, round, waits: &waits, patience, id: &call.id, tool: &tool.id };
            let begun = Instant::now();
            let carried = within(toolbox.call(&tool, call.arguments.clone(), &watched), allowed, &waits).await;
            let late = || {
                let what = match begun.elapsed() >= allowed.total {
                    true => format!("no answer within {} s", allowed.total.as_secs()),
                    false => format!("no answer within {} s, nor any progress", allowed.silence.as_secs()),
                };
                Failure { blame: Blame::Deadline, what }
            };
            let result = carried.unwrap_or_else(|| Err(late()));
            let ms = milliseconds(begun);
            Back { call, tool, result, ms }
        })
    }

    async fn own(&mut self, host: HostTool, call: Call, events: &mut Events<'_>) {
        let begun = Instant::now();
        let given = self.agent.host(host, &call.arguments).await;
        self.ended(&call, given, milliseconds(begun), events);
    }

    fn back(&mut self, back: Back, events: &mut Events<'_>) {
        let Back { call, tool, result, ms } = back;
        let agent = &mut *self.agent;
        let given = match result {
            Ok(result) => {
                let pictures = agent.settings.pictures.unwrap_or_else(|| Pictures::on(agent.model.wire()));
                shape(result, &tool, pictures, &agent.settings.results, &mut agent.store)
            }
            Err(failure) => Given::failure(told(&failure, &tool, agent.settings.results.error)),
        };
        self.ended(&call, given, ms, events);
    }

    fn ended(&mut self, call: &Call, given: Given, ms: u64, events: &mut Events<'_>) {
        let (id, tool) = (call.id.clone(), id_of(&call.target));
        self.open.retain(|open| open.id != id);
        let result = cut_of(&given.parts);
        self.note(What::Ended { id, tool, outcome: given.outcome, result, ms }, events);
        self.turn.answered(call.place, given);
    }
}

fn id_of(target: &Target) -> Option<ToolId> {
    match target {
        Target::Tool(tool) => Some(tool.id.clone()),
        Target::Host(_) => None,
    }
}

/// A failure, as the model is told of it.
fn told(failure: &Failure, tool: &Tool, most: usize) -> String {
    let (server, name) = (&tool.id.server, &tool.id.name);
    let what = &failure.what[..failure.what.floor_char_boundary(most)];
    match failure.blame {
        Blame::Request => format!("[host] {name:?} of server {server:?} did not take the call: {what}"),
        Blame::Tool => format!("[host] {name:?} of server {server:?} failed: {what}"),
        Blame::Server => format!(
            "[host] Server {server:?} could not be reached, or broke off; whether {name:?} had an effect is not known: \
             {what}"
        ),
        Blame::Deadline => {
            format!("[host] {name:?} of server {server:?} took too long; it may still have an effect: {what}")
        }
    }
}

/// What the model is told, as far as a step keeps it.
fn cut_of(parts: &[Part]) -> Cut {
    let (mut text, mut bytes) = (String::new(), 0);
    for part in parts {
        let told = match &part.what {
            Content::Text(told) => told.as_str(),
            Content::Image { media, data } => {
                bytes += data.len();
                media
            }
        };
        let cut = Cut::of(told);
        bytes += cut.bytes;
        if !text.is_empty() {
            text.push('\n');
            bytes += 1;
        }
        text += &cut.text;
    }
    let cut = Cut::of(&text);
    Cut { bytes: bytes.max(cut.bytes), ..cut }
}
