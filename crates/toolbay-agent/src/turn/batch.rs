//! The calls of one reply: each is decided, made and answered, and all are answered in the order in which they were wanted.

use super::{
    call::{Beside, Call, Decided, Given, Reading, Target},
    words,
};
use crate::transcript::{Answer, Intent};

/// The calls of one reply.
#[derive(Clone, Debug)]
pub(super) struct Batch(Vec<Slot>);

#[derive(Clone, Debug)]
struct Slot {
    intent: Intent,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Undecided(Call),
    Ready(Call),
    Answered(Given),
}

/// What a batch needs.
pub(super) enum Wants<'a> {
    Decision(&'a Call),
    Calls(Vec<&'a Call>),
    Nothing,
}

impl Batch {
    pub(super) fn new(intents: Vec<Intent>, mut read: impl FnMut(usize, &Intent) -> Reading) -> Self {
        let slots = intents.into_iter().enumerate().map(|(place, intent)| {
            let state = match read(place, &intent) {
                Reading::Not(why) => State::Answered(Given::failure(why)),
                Reading::Call { target, arguments, beside } => {
                    let (id, sent) = (intent.id.clone(), intent.name.clone());
                    let call = Call { place, id, sent, target, arguments, beside };
                    match call.target {
                        Target::Tool(_) => State::Undecided(call),
                        Target::Host(_) => State::Ready(call),
                    }
                }
            };
            Slot { intent, state }
        });
        Self(slots.collect())
    }

    /// First every decision, then the calls: those that may be in flight together, and the others one by one.
    pub(super) fn wants(&self) -> Wants<'_> {
        let undecided = self.0.iter().find_map(|slot| match &slot.state {
            State::Undecided(call) => Some(call),
            State::Ready(_) | State::Answered(_) => None,
        });
        if let Some(call) = undecided {
            return Wants::Decision(call);
        }
        let mut ready = self.0.iter().filter_map(|slot| match &slot.state {
            State::Ready(call) => Some(call),
            State::Undecided(_) | State::Answered(_) => None,
        });
        let Some(first) = ready.next() else { return Wants::Nothing };
        let mut together = vec![first];
        if first.beside == Beside::Others {
            together.extend(ready.take_while(|call| call.beside == Beside::Others));
        }
        Wants::Calls(together)
    }

    pub(super) fn decide(&mut self, place: usize, decided: Decided) {
        let Some(slot) = self.0.get_mut(place) else { return };
        if let State::Undecided(call) = &slot.state {
            slot.state = match decided {
                Decided::Allowed => State::Ready(call.clone()),
                Decided::Edited(arguments) => State::Ready(Call { arguments, ..call.clone() }),
                Decided::Denied(reason) => State::Answered(Given::failure(words::denied(&reason))),
            };
        }
    }

    pub(super) fn answer(&mut self, place: usize, given: Given) {
        if let Some(slot) = self.0.get_mut(place)
            && !matches!(slot.state, State::Answered(_))
        {
            slot.state = State::Answered(given);
        }
    }

    /// Answers what is not answered yet. Calls that may be in flight are told apart from those that were never made.
    pub(super) fn cancel(&mut self) {
        let flying: Vec<usize> = match self.wants() {
            Wants::Calls(calls) => calls.iter().map(|call| call.place).collect(),
            Wants::Decision(_) | Wants::Nothing => vec![],
        };
        for (place, slot) in self.0.iter_mut().enumerate() {
            if !matches!(slot.state, State::Answered(_)) {
                let why = if flying.contains(&place) { words::CANCELLED } else { words::NOT_BEGUN };
                slot.state = State::Answered(Given::failure(why));
            }
        }
    }

    /// What was wanted and what each was answered, once all are.
    pub(super) fn finish(self) -> Vec<(Intent, Answer)> {
        let answered = self.0.into_iter().map(|Slot { intent, state }| {
            let given = match state {
                State::Answered(given) => given,
                State::Undecided(_) | State::Ready(_) => Given::failure(words::NOT_BEGUN),
            };
            let answer =
                Answer { id: intent.id.clone(), name: intent.name.clone(), parts: given.parts, outcome: given.outcome };
            (intent, answer)
        });
        answered.collect()
    }
}
