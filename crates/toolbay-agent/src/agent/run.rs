//! One turn, driven: what it needs is brought about, until it needs nothing.

use tokio::time::Instant;

use super::{cancel::Cancelled, event::Event, face::Agent, question::milliseconds};
use crate::{
    toolbox::ToolId,
    trace::{Cut, What},
    transcript::Outcome,
    turn::{Call, End, Ended, Need, Turn},
};

/// What is heard on the way.
pub(super) type Events<'e> = dyn FnMut(Event<'_>) + Send + 'e;

/// A turn that runs. Dropped before its end, it is cancelled, and the transcript goes back to the agent all the same.
pub(super) struct Running<'a> {
    pub(super) agent: &'a mut Agent,
    pub(super) turn: Turn,
    /// Calls that were begun and have not ended.
    pub(super) open: Vec<Open>,
}

/// A call that was begun.
pub(super) struct Open {
    pub(super) id: String,
    pub(super) tool: Option<ToolId>,
    pub(super) since: Instant,
}

/// What one step needs, apart from the turn.
enum Next {
    Question(crate::model::Choice),
    Decision(Call),
    Calls(Vec<Call>),
    Done(End),
}

impl<'a> Running<'a> {
    pub(super) fn new(agent: &'a mut Agent) -> Self {
        let transcript = std::mem::take(&mut agent.transcript);
        let turn = Turn::new(transcript, agent.settings.limits, agent.spent);
        Self { agent, turn, open: Vec::new() }
    }

    pub(super) async fn run(mut self, events: &mut Events<'_>) -> End {
        let mut cancelled = self.agent.canceller.heard();
        let shelf = tokio::select! {
            biased;
            () = cancelled.wait() => None,
            shelf = self.agent.toolbox.shelf() => Some(shelf),
        };
        match shelf {
            Some(shelf) => {
                let began = What::Began { tools: shelf.tools.len(), down: shelf.down.clone() };
                self.note(began, events);
                self.agent.shown.follow(&shelf);
            }
            None => self.turn.cancel(),
        }
        let end = loop {
            match self.next() {
                Next::Done(end) => break end,
                next => self.step(next, &mut cancelled, events).await,
            }
        };
        self.closed(&end, events);
        end
    }

    fn next(&self) -> Next {
        match self.turn.next() {
            Need::Model(choice) => Next::Question(choice),
            Need::Approval(call) => Next::Decision(call.clone()),
            Need::Tools(calls) => Next::Calls(calls.into_iter().cloned().collect()),
            Need::Done(end) => Next::Done(end.clone()),
        }
    }

    /// One step, or as much of it as was done when somebody cancelled.
    async fn step(&mut self, next: Next, cancelled: &mut Cancelled, events: &mut Events<'_>) {
        let done = {
            let work = async {
                match next {
                    Next::Question(choice) => self.question(choice, events).await,
                    Next::Decision(call) => self.decide(call, events).await,
                    Next::Calls(calls) => self.calls(calls, events).await,
                    Next::Done(_) => {}
                }
            };
            tokio::select! {
                biased;
                () = cancelled.wait() => false,
                () = work => true,
            }
        };
        if !done {
            self.turn.cancel();
        }
    }

    /// Adds a step to the trace, and tells of it.
    pub(super) fn note(&self, what: What, events: &mut Events<'_>) {
        events(Event::Step(&self.agent.trace.add(self.turn.round(), what)));
    }

    fn closed(&mut self, end: &End, events: &mut Events<'_>) {
        self.close_open(events);
        let spent = self.turn.spent();
        let cost = self.agent.settings.limits.budget.prices.map(|prices| prices.of(&spent.usage));
        self.note(What::Done { why: word(&end.why), usage: spent.usage, cost }, events);
    }

    /// Calls that were taken back have ended too.
    fn close_open(&mut self, events: &mut Events<'_>) {
        for Open { id, tool, since } in std::mem::take(&mut self.open) {
            let (result, ms) = (Cut::of("cancelled"), milliseconds(since));
            self.note(What::Ended { id, tool, outcome: Outcome::Failure, result, ms }, events);
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !matches!(self.turn.next(), Need::Done(_)) {
            self.turn.cancel();
            if let Need::Done(end) = self.turn.next() {
                let end = end.clone();
                self.closed(&end, &mut |_| {});
            }
        }
        self.agent.spent = self.turn.spent();
        self.agent.transcript = self.turn.take_transcript();
    }
}

fn word(why: &Ended) -> String {
    match why {
        Ended::Answered => "answered".into(),
        Ended::Length => "length".into(),
        Ended::Refused => "refused".into(),
        Ended::Silent => "silent".into(),
        Ended::Rounds => "rounds".into(),
        Ended::Repeating => "repeating".into(),
        Ended::Budget => "budget".into(),
        Ended::Cancelled => "cancelled".into(),
        Ended::Failed(error) => format!("failed: {}", error.what),
    }
}
