//! One question to the model.

use tokio::time::{Instant, timeout};

use super::{
    event::Event,
    run::{Events, Running},
    settings::Parallel,
};
use crate::{
    model::{Ask, Choice, ModelError, Why},
    toolbox::{Tool, ToolId},
    trace::{Cut, What},
    transcript::{Content, Intent, Message, Piece, Transcript, Written},
    turn::{Beside, Reading},
};

impl Running<'_> {
    /// Asks the model, with the tools that there are now, and reads what it wants.
    pub(super) async fn question(&mut self, choice: Choice, events: &mut Events<'_>) {
        let shelf = self.agent.toolbox.shelf().await;
        self.agent.shown.follow(&shelf);
        let shown = &self.agent.shown;
        let (transcript, tools) = (self.turn.transcript(), shown.defined());
        let asked = What::Asked {
            messages: transcript.messages.len(),
            bytes: bytes(transcript),
            tools: tools.len(),
            definitions: shown.tokens(),
        };
        self.note(asked, events);
        let ask = Ask { transcript, tools, choice, limit: self.agent.settings.reply_tokens };
        let begun = Instant::now();
        let most = self.agent.settings.reply;
        let reply = {
            let mut heard = |heard: crate::model::Heard<'_>| events(Event::Heard(heard));
            timeout(most, self.agent.model.ask(ask, &mut heard)).await
        };
        let late = |_| ModelError { why: Why::Provider, what: format!("no reply within {} s", most.as_secs()) };
        let ms = milliseconds(begun);
        match reply.map_err(late).flatten() {
            Err(error) => {
                self.note(What::Unanswered { error: error.what.clone(), ms }, events);
                self.turn.failed(error);
            }
            Ok(reply) => {
                let (stop, usage) = (reply.stop.clone(), reply.usage);
                let (chars, intents) = (reply.said.text().chars().count(), reply.said.intents().count());
                self.note(What::Replied { stop, usage, chars, intents, ms }, events);
                self.read(reply, events);
            }
        }
    }

    fn read(&mut self, reply: crate::model::Reply, events: &mut Events<'_>) {
        let (agent, round) = (&*self.agent, self.turn.round());
        let beside = |tool: &Tool| match agent.settings.parallel {
            Parallel::Never => Beside::Nobody,
            Parallel::Always => Beside::Others,
            Parallel::ReadOnly if agent.policy.trust(&tool.id.server).believes_read_only(tool) => Beside::Others,
            Parallel::ReadOnly => Beside::Nobody,
        };
        self.turn.replied(reply, &mut |intent| {
            let (reading, tool) = agent.shown.read(intent, &beside);
            let what = wanted(intent, tool.map(|tool| tool.id.clone()), &reading);
            events(Event::Step(&agent.trace.add(round, what)));
            reading
        });
    }
}

/// An intent, as a step.
fn wanted(intent: &Intent, tool: Option<ToolId>, reading: &Reading) -> What {
    let arguments = match &intent.arguments {
        Written::Object(object) => Cut::of_object(object),
        Written::Unreadable(text) => Cut::of(text),
    };
    let flaw = match reading {
        Reading::Call { .. } => None,
        Reading::Not(why) => Some(Cut::of(why).text),
    };
    What::Intent { id: intent.id.clone(), sent: intent.name.clone(), tool, arguments, flaw }
}

/// How long something took so far.
pub(super) fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// How much a transcript holds. In bytes: to count characters, all of it would have to be read, each time.
fn bytes(transcript: &Transcript) -> usize {
    let parts = |parts: &[crate::transcript::Part]| -> usize {
        let length = |part: &crate::transcript::Part| match &part.what {
            Content::Text(text) => text.len(),
            Content::Image { data, .. } => data.len(),
        };
        parts.iter().map(length).sum()
    };
    let length = |message: &Message| match message {
        Message::User(said) => parts(said),
        Message::Tools(answers) => answers.iter().map(|answer| parts(&answer.parts)).sum(),
        Message::Model(said) => {
            said.pieces.iter().map(|piece| if let Piece::Text(text) = piece { text.len() } else { 0 }).sum()
        }
    };
    transcript.messages.iter().map(length).sum()
}
