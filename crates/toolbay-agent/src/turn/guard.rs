//! Calls that fail again and again, in the same way.

use std::{
    collections::{HashMap, HashSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

use serde_json::Value;

use super::limits::Repeats;
use crate::transcript::{Answer, Content, Intent, Outcome, Written};

/// How often the same intent met the same error, round by round.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard(HashMap<(u64, u64), u32>);

/// What follows from that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Warning {
    /// The model should know.
    Hint { name: String, times: u32 },
    /// It is enough.
    End { name: String, times: u32 },
}

impl Guard {
    /// Counts one round; what follows for the call that failed most often.
    pub(super) fn count<'a>(
        &mut self,
        round: impl Iterator<Item = (&'a Intent, &'a Answer)>,
        repeats: Repeats,
    ) -> Option<Warning> {
        let mut seen = HashSet::new();
        let mut worst: Option<(u32, &str)> = None;
        for (intent, answer) in round {
            let wanted = hash_of(|to| hash_intent(intent, to));
            if answer.outcome == Outcome::Success {
                self.0.retain(|(of, _), _| *of != wanted);
                continue;
            }
            let key = (wanted, hash_of(|to| hash_answer(answer, to)));
            // Twice in one reply is one attempt: nothing was learned in between.
            if !seen.insert(key) {
                continue;
            }
            let times = self.0.entry(key).or_default();
            *times += 1;
            if worst.is_none_or(|(most, _)| *times > most) {
                worst = Some((*times, &intent.name));
            }
        }
        let (times, name) = worst.map(|(times, name)| (times, name.to_owned()))?;
        match times {
            _ if times >= repeats.end => Some(Warning::End { name, times }),
            _ if times >= repeats.hint => Some(Warning::Hint { name, times }),
            _ => None,
        }
    }
}

fn hash_of(write: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    write(&mut hasher);
    hasher.finish()
}

fn hash_intent(intent: &Intent, to: &mut DefaultHasher) {
    intent.name.hash(to);
    match &intent.arguments {
        Written::Object(object) => hash_object(object.iter(), to),
        Written::Unreadable(text) => text.hash(to),
    }
}

fn hash_answer(answer: &Answer, to: &mut DefaultHasher) {
    for part in &answer.parts {
        match &part.what {
            Content::Text(text) => text.hash(to),
            Content::Image { data, .. } => data.hash(to),
        }
    }
}

/// The order of keys means nothing.
fn hash_object<'a>(members: impl Iterator<Item = (&'a String, &'a Value)>, to: &mut DefaultHasher) {
    let mut members: Vec<_> = members.collect();
    members.sort_by_key(|(key, _)| *key);
    for (key, value) in members {
        key.hash(to);
        hash_value(value, to);
    }
}

fn hash_value(value: &Value, to: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(to);
    match value {
        Value::Null => {}
        Value::Bool(value) => value.hash(to),
        Value::Number(number) => number.to_string().hash(to),
        Value::String(text) => text.hash(to),
        Value::Array(items) => {
            items.len().hash(to);
            items.iter().for_each(|item| hash_value(item, to));
        }
        Value::Object(object) => {
            object.len().hash(to);
            hash_object(object.iter(), to);
        }
    }
}
