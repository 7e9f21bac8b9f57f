//! The machine itself.

use super::{
    batch::{Batch, Wants},
    budget::Spent,
    call::{Call, Decided, Given, Reading},
    end::{End, Ended},
    guard::{Guard, Warning},
    limits::Limits,
    words,
};
use crate::{
    model::{Choice, ModelError, Reply, Stop},
    transcript::{Answer, Intent, Message, Part, Said, Transcript},
};

/// A turn: what was said, and how far it is.
///
/// [`Turn::next`] says what is needed; whoever drives it brings that about and feeds it. It reads no clock and waits for
/// nothing. At every moment [`Turn::cancel`] leaves a transcript in which each intent is answered.
#[derive(Debug)]
pub struct Turn {
    transcript: Transcript,
    limits: Limits,
    spent: Spent,
    rounds: u32,
    guard: Guard,
    silent: Silent,
    closing: Option<Ended>,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Ask(Choice),
    Calls(Batch),
    Done(End),
}

/// Whether the model was silent already in this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silent {
    Never,
    Once,
}

/// What is needed next.
#[derive(Debug, PartialEq)]
pub enum Need<'a> {
    /// The model's reply to the transcript.
    Model(Choice),
    /// A decision on a call.
    Approval(&'a Call),
    /// The results of these calls, which may all be in flight together.
    Tools(Vec<&'a Call>),
    /// Nothing: it has ended.
    Done(&'a End),
}

impl Turn {
    /// A turn over what was said so far, the person's words at its end; `spent` is what the conversation took before.
    pub fn new(transcript: Transcript, limits: Limits, spent: Spent) -> Self {
        let (silent, guard) = (Silent::Never, Guard::default());
        let phase = Phase::Ask(Choice::Auto);
        let mut turn = Self { transcript, limits, spent, rounds: 0, guard, silent, closing: None, phase };
        turn.ask(Choice::Auto);
        turn
    }

    /// What is needed next; the same until it is fed.
    pub fn next(&self) -> Need<'_> {
        match &self.phase {
            Phase::Ask(choice) => Need::Model(*choice),
            Phase::Done(end) => Need::Done(end),
            Phase::Calls(batch) => match batch.wants() {
                Wants::Decision(call) => Need::Approval(call),
                Wants::Calls(calls) => Need::Tools(calls),
                Wants::Nothing => unreachable!("a batch that wants nothing is settled when it is fed"),
            },
        }
    }

    /// The model replied; `read` says what each intent means. What comes unasked is left aside.
    pub fn replied(&mut self, reply: Reply, read: &mut dyn FnMut(&Intent) -> Reading) {
        let Phase::Ask(choice) = self.phase else { return };
        self.spent.add(&reply.usage);
        let intents: Vec<Intent> = reply.said.intents().cloned().collect();
        let text = reply.said.text();
        self.push(reply.said);
        if intents.is_empty() {
            return self.spoke(&reply.stop, text, choice);
        }
        let budget = self.limits.budget.spent(&self.spent);
        let hindrance = match (&reply.stop, choice, budget) {
            (Stop::Refused, ..) => Some((words::REFUSED.to_owned(), End::model(Ended::Refused, text))),
            (_, Choice::None, _) => Some((words::NO_MORE.to_owned(), self.closed(text))),
            (_, _, Some(why)) => Some((words::unaffordable(&why), End::host(Ended::Budget, words::over_budget(&why)))),
            (..) => None,
        };
        if let Some((why, end)) = hindrance {
            let batch = Batch::new(intents, |_, _| Reading::Not(why.clone()));
            let answers = batch.finish().into_iter().map(|(_, answer)| answer).collect();
            self.transcript.messages.push(Message::Tools(answers));
            self.phase = Phase::Done(end);
            return;
        }
        let (most, last) = (self.limits.calls, intents.len() - 1);
        let cut = reply.stop == Stop::Length;
        let batch = Batch::new(intents, |place, intent| match place {
            // What it wrote last is what it could not finish.
            _ if cut && place == last => Reading::Not(words::CUT_OFF.into()),
            _ if place >= most => Reading::Not(words::too_many(most)),
            _ => read(intent),
        });
        self.phase = Phase::Calls(batch);
        self.settle();
    }

    /// The model did not reply.
    pub fn failed(&mut self, error: ModelError) {
        if let Phase::Ask(_) = self.phase {
            let text = words::failed(&error.what);
            self.phase = Phase::Done(End::host(Ended::Failed(error), text));
        }
    }

    /// It was decided whether the call at that place may be made.
    pub fn decided(&mut self, place: usize, decided: Decided) {
        if let Phase::Calls(batch) = &mut self.phase {
            batch.decide(place, decided);
            self.settle();
        }
    }

    /// The call at that place gave something. The first answer stands.
    pub fn answered(&mut self, place: usize, given: Given) {
        if let Phase::Calls(batch) = &mut self.phase {
            batch.answer(place, given);
            self.settle();
        }
    }

    /// Ends it here: what was answered stays, all other intents are answered with that.
    pub fn cancel(&mut self) {
        let end = End::host(Ended::Cancelled, words::STOPPED.into());
        match std::mem::replace(&mut self.phase, Phase::Done(end)) {
            Phase::Calls(mut batch) => {
                batch.cancel();
                let answers = batch.finish().into_iter().map(|(_, answer)| answer).collect();
                self.transcript.messages.push(Message::Tools(answers));
            }
            Phase::Ask(_) => {}
            done @ Phase::Done(_) => self.phase = done,
        }
    }

    /// What was said so far. Every intent in it is answered while the model is asked, and when it is done.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// What the conversation took so far.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// The round of calls it is in, from one.
    pub fn round(&self) -> u32 {
        self.rounds + 1
    }

    /// Takes what was said out of a turn that is over: cancelled where it has not ended.
    pub fn take_transcript(&mut self) -> Transcript {
        self.cancel();
        std::mem::take(&mut self.transcript)
    }

    fn push(&mut self, said: Said) {
        if said.pieces.is_empty() {
            return;
        }
        match self.transcript.messages.last_mut() {
            // It paused: this goes on where that ended.
            Some(Message::Model(before)) => before.pieces.extend(said.pieces),
            Some(Message::User(_) | Message::Tools(_)) | None => {
                self.transcript.messages.push(Message::Model(said));
            }
        }
    }

    /// A reply that wants nothing called.
    fn spoke(&mut self, stop: &Stop, text: String, choice: Choice) {
        let silent = text.trim().is_empty();
        match stop {
            Stop::Paused => {
                self.rounds += 1;
                match self.rounds > self.limits.rounds {
                    true => self.phase = Phase::Done(End::host(Ended::Rounds, words::rounds(self.limits.rounds))),
                    false => self.ask(choice),
                }
            }
            Stop::Length => self.phase = Phase::Done(End::model(Ended::Length, text)),
            Stop::Refused => self.phase = Phase::Done(End::model(Ended::Refused, text)),
            Stop::End | Stop::Tools | Stop::Other(_) if silent && self.silent == Silent::Never => {
                self.silent = Silent::Once;
                self.ask(choice);
            }
            Stop::End | Stop::Tools | Stop::Other(_) => {
                self.phase = Phase::Done(match (silent, &self.closing) {
                    (_, Some(_)) => self.closed(text),
                    (true, None) => End::host(Ended::Silent, words::SILENT.into()),
                    (false, None) => End::model(Ended::Answered, text),
                });
            }
        }
    }

    /// The end of a turn whose last question was for an answer.
    fn closed(&self, text: String) -> End {
        let why = self.closing.clone().unwrap_or(Ended::Rounds);
        if !text.trim().is_empty() {
            return End::model(why, text);
        }
        let text = if why == Ended::Repeating { words::repeating() } else { words::rounds(self.limits.rounds) };
        End::host(why, text)
    }

    /// Goes to the model, as far as the budget lasts.
    fn ask(&mut self, choice: Choice) {
        self.phase = match self.limits.budget.spent(&self.spent) {
            Some(why) => Phase::Done(End::host(Ended::Budget, words::over_budget(&why))),
            None => Phase::Ask(choice),
        };
    }

    /// Goes on once every call is answered.
    fn settle(&mut self) {
        let Phase::Calls(batch) = &self.phase else { return };
        if !matches!(batch.wants(), Wants::Nothing) {
            return;
        }
        let phase = std::mem::replace(&mut self.phase, Phase::Ask(Choice::Auto));
        let Phase::Calls(batch) = phase else { return };
        let mut answered = batch.finish();
        self.rounds += 1;
        let round = answered.iter().map(|(intent, answer)| (intent, answer));
        let warning = self.guard.count(round, self.limits.repeats);
        let (note, closing) = match warning {
            Some(Warning::End { name, times }) => (Some(words::enough(&name, times)), Some(Ended::Repeating)),
            _ if self.rounds >= self.limits.rounds => (Some(words::LAST_ROUND.into()), Some(Ended::Rounds)),
            Some(Warning::Hint { name, times }) => (Some(words::hint(&name, times)), None),
            None => (None, None),
        };
        if let (Some(note), Some((_, last))) = (note, answered.last_mut()) {
            last.parts.push(Part::text(note));
        }
        let answers: Vec<Answer> = answered.into_iter().map(|(_, answer)| answer).collect();
        self.transcript.messages.push(Message::Tools(answers));
        let choice = if closing.is_some() { Choice::None } else { Choice::Auto };
        self.closing = closing;
        self.ask(choice);
    }
}
