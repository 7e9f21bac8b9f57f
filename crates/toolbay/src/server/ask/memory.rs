//! What a call remembers: answers it was given, things it did, questions it waits for.

use std::time::SystemTime;

use toolbay_protocol::{
    ErrorObject, Raw,
    exchange::{Answers, Ask, Asks, Outcome, Return},
    types::Dict,
};

use super::seal::{Binding, Carried, Sealer};

/// How many answers are taken along at most.
const MOST_ANSWERS: usize = 64;

/// What a call remembers.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    carried: Carried,
    fresh: Vec<(String, Outcome)>,
    open: Asks,
}

impl Memory {
    /// What a returning caller brings; an error where its state is not ours (spec: basic/patterns/mrtr).
    pub(crate) fn returned(sealer: Option<&Sealer>, binding: &Binding, back: Return) -> Result<Self, ErrorObject> {
        let Return { answers, state } = back;
        let foreign = || {
            let what = "`requestState` was not given for this request, or is too old: send the request anew without it";
            ErrorObject::invalid_params(what)
        };
        let carried = match (&state, sealer) {
            (Some(state), Some(sealer)) => sealer.open(state, binding, SystemTime::now()).ok_or_else(foreign)?,
            (Some(_), None) => return Err(foreign()),
            (None, _) => Carried::default(),
        };
        // Answers to what was not asked are nobody's (spec: basic/patterns/mrtr).
        let asked = |key: &str| state.is_none() || carried.asked.iter().any(|asked| asked == key);
        let fresh = answers.into_iter().flatten().filter(|(key, _)| asked(key)).take(MOST_ANSWERS).collect();
        Ok(Self { carried, fresh, open: Asks::default() })
    }

    /// The answer to `key`, where it is in.
    pub(crate) fn answer(&self, key: &str) -> Option<Outcome> {
        let fresh = self.fresh.iter().find(|(known, _)| known == key).map(|(_, answer)| answer.clone());
        fresh.or_else(|| self.carried.answers.get(key).cloned().map(Ok))
    }

    /// Takes answers in.
    pub(crate) fn take(&mut self, answers: Answers) {
        self.fresh.extend(answers);
    }

    /// Forgets an answer that does not do.
    pub(crate) fn forget(&mut self, key: &str) {
        self.fresh.retain(|(known, _)| known != key);
        self.carried.answers.remove(key);
    }

    /// Notes a question that the caller is to be sent back with; the round it would be.
    pub(crate) fn wait_for(&mut self, key: &str, ask: Ask) -> u32 {
        self.open.insert(key, ask);
        self.carried.round + 1
    }

    /// What was done under `key` before.
    pub(crate) fn done(&self, key: &str) -> Option<&Raw> {
        self.carried.done.get(key)
    }

    /// Notes what was done under `key`.
    pub(crate) fn do_once(&mut self, key: &str, outcome: Raw) {
        self.carried.done.insert(key, outcome);
    }

    /// The questions that are open, where there are any.
    pub(crate) fn open(&mut self) -> Option<Asks> {
        (!self.open.is_empty()).then(|| std::mem::take(&mut self.open))
    }

    /// All that is to be carried on, beside these questions.
    pub(crate) fn carry(&self, asks: &Asks) -> Carried {
        let mut answers: Dict<Raw> = self.carried.answers.clone();
        for (key, answer) in &self.fresh {
            if let Ok(answer) = answer {
                answers.insert(key.as_str(), answer.clone());
            }
        }
        let asked = asks.iter().map(|(key, _)| key.to_owned()).collect();
        Carried { round: self.carried.round + 1, asked, answers, done: self.carried.done.clone() }
    }
}
