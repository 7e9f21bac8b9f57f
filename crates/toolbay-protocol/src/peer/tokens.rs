//! Tokens of progress that outlive their requests: what began as a task goes on.

use std::collections::VecDeque;

use crate::{
    exchange::{Note, Outcome, Outgoing, Step},
    frame::Id,
    method::Method,
    raw::{Object, Raw},
    types::meta::key::RELATED_TASK,
};

/// How many are remembered; the oldest are forgotten first.
const MOST: usize = 256;

/// Those of one session, and the tasks that they belong to.
#[derive(Debug, Default)]
pub struct Tokens(VecDeque<(Id, Raw)>);

impl Tokens {
    /// Remembers the token of a request that comes to its end with `step`, where it began a task.
    pub fn learn(&mut self, exchange: &Outgoing, step: &Step) {
        let Step::Done(Outcome::Ok(result)) = step else { return };
        let Some(task) = exchange.began(result) else { return };
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        // No slice of a message that would stay in memory with it.
        let task = task.as_text().map_or(Raw::NULL, |id| Raw::of(&*id));
        self.0.push_back((exchange.id().clone(), task));
    }

    /// Progress under such a token, saying in `_meta` which task it belongs to; `None` where nobody knows the token.
    pub fn progress(&self, params: Option<&Raw>) -> Option<Note> {
        let params = params?;
        let token = params.get("progressToken").and_then(|token| Id::read(&token))?;
        let (_, task) = self.0.iter().find(|(known, _)| *known == token)?;
        let mut related = Object::with_capacity(64);
        related.put("taskId", task);
        let meta = params.get("_meta").unwrap_or(Raw::EMPTY).with(&[(RELATED_TASK, Some(&related.finish()))]);
        Some(Note::new(Method::Progress, params.with(&[("_meta", Some(&meta))])))
    }
}
