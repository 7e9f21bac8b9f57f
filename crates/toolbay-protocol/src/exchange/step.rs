//! The steps that both eras encode.

use std::{
    collections::{HashMap, hash_map::Entry},
    time::Duration,
};

use crate::{
    fault::ErrorObject,
    frame::{Frame, Id},
    greeting::Introduction,
    method::Method,
    raw::{Member, Object, Raw},
    types::meta::key::RELATED_TASK,
};

/// What a request came to.
pub type Outcome = Result<Raw, ErrorObject>;

/// What happens next in a request's life.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Something worth knowing; any number of times.
    Note(Note),
    /// The callee let go of the connection on which the answer is awaited; it is come back to after so long.
    // spec: 2025-11-25 basic/transports, polling
    Away(Duration),
    /// The callee needs these answers before it can go on.
    Ask(Asks),
    /// It asked the question under this key, and needs no answer any more.
    Withdrawn(String),
    /// The end.
    Done(Outcome),
}

/// A notification: progress, a line of log, a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// What it is.
    pub method: Method,
    /// What it says.
    pub params: Option<Raw>,
}

impl Note {
    /// A notification with parameters.
    pub fn new(method: Method, params: Raw) -> Self {
        Self { method, params: Some(params) }
    }

    /// That request `id` is taken back.
    pub fn cancelled(id: &Id, reason: &str) -> Self {
        let mut params = Object::with_capacity(64);
        params.put("requestId", &id.to_raw());
        params.put_text("reason", reason);
        Self::new(Method::Cancelled, params.finish())
    }

    /// The frame that says it.
    pub fn into_frame(self) -> Frame {
        Frame::Notification { method: self.method, params: self.params }
    }

    /// How far a request is; the token is written where the caller's is known.
    pub fn progress(progress: f64, total: Option<f64>, message: Option<&str>) -> Self {
        let mut params = Object::with_capacity(64);
        params.put_value("progress", &progress);
        if let Some(total) = total {
            params.put_value("total", &total);
        }
        if let Some(message) = message {
            params.put_value("message", message);
        }
        Self::new(Method::Progress, params.finish())
    }
}

/// One question to the caller: `elicitation/create`, `sampling/createMessage` or `roots/list`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// Which of the three.
    pub method: Method,
    /// What is asked.
    pub params: Option<Raw>,
}

impl Ask {
    /// Whether this question, where it names no call, may be put to a call of `method` that is made on `behalf` of
    /// somebody, or of ourselves where nobody is named.
    pub fn suits(&self, method: &Method, behalf: Option<&Introduction>) -> bool {
        // spec: 2025-11-25 basic/utilities/tasks, what a task asks comes while its result is awaited
        let may = method.may_ask() || *method == Method::TasksResult;
        may && behalf.is_none_or(|behalf| behalf.admits(self).is_ok())
    }

    /// How far it is from a call that waits for the result of this task, or for none: what a task asks says so, and what
    /// says nothing is no task's.
    // spec: 2025-11-25 basic/utilities/tasks, related task
    pub fn strays(&self, awaited: Option<&Raw>) -> u8 {
        let meta = self.params.as_ref().and_then(|params| params.get("_meta"));
        let task = meta.and_then(|meta| meta.get(RELATED_TASK)).and_then(|task| task.get("taskId"));
        match (task.as_ref().and_then(Raw::as_text), awaited.and_then(Raw::as_text)) {
            (None, None) => 0,
            (Some(task), Some(awaited)) => {
                if task == awaited {
                    0
                } else {
                    2
                }
            }
            (Some(_), None) | (None, Some(_)) => 1,
        }
    }
}

/// Questions, each under a key of the callee's choice, in the callee's order. None at all means: come back later.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asks {
    items: Vec<(String, Ask)>,
    standing: Standing,
}

/// Answers, each under its question's key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    items: Vec<(String, Outcome)>,
}

/// What became of the request in which something was asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Standing {
    /// It goes on when the answers are in.
    #[default]
    Open,
    /// It is over; the callee keeps nothing but, perhaps, this state with its caller.
    Over(Option<Raw>),
}

macro_rules! keyed {
    ($name:ident, $item:ty) => {
        impl $name {
            /// One entry.
            #[allow(clippy::needless_update, reason = "one of the two has more fields")]
            pub fn one(key: impl Into<String>, item: $item) -> Self {
                Self { items: vec![(key.into(), item)], ..Self::default() }
            }

            /// Adds an entry; an earlier one under the same key is replaced.
            pub fn insert(&mut self, key: impl Into<String>, item: $item) {
                let key = key.into();
                match self.items.iter_mut().find(|(seen, _)| *seen == key) {
                    Some((_, old)) => *old = item,
                    None => self.items.push((key, item)),
                }
            }

            /// The entry under `key`.
            pub fn get(&self, key: &str) -> Option<&$item> {
                self.items.iter().find(|(seen, _)| seen == key).map(|(_, item)| item)
            }

            /// Every entry in order.
            pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &$item)> {
                self.items.iter().map(|(key, item)| (key.as_str(), item))
            }

            /// How many there are.
            pub fn len(&self) -> usize {
                self.items.len()
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.items.is_empty()
            }
        }

        impl IntoIterator for $name {
            type Item = (String, $item);
            type IntoIter = std::vec::IntoIter<(String, $item)>;
            fn into_iter(self) -> Self::IntoIter {
                self.items.into_iter()
            }
        }

        impl FromIterator<(String, $item)> for $name {
            #[allow(clippy::needless_update, reason = "one of the two has more fields")]
            fn from_iter<I: IntoIterator<Item = (String, $item)>>(items: I) -> Self {
                let mut all = Self::default();
                let mut places: HashMap<String, usize> = HashMap::new();
                for (key, item) in items {
                    match places.entry(key.clone()) {
                        Entry::Occupied(place) => all.items[*place.get()].1 = item,
                        Entry::Vacant(place) => {
                            place.insert(all.items.len());
                            all.items.push((key, item));
                        }
                    }
                }
                all
            }
        }
    };
}
keyed!(Asks, Ask);
keyed!(Answers, Outcome);

impl Asks {
    /// What became of the request.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    pub(super) fn state(&self) -> Option<&Raw> {
        match &self.standing {
            Standing::Open => None,
            Standing::Over(state) => state.as_ref(),
        }
    }

    pub(super) fn ending(self, state: Option<Raw>) -> Self {
        Self { standing: Standing::Over(state), ..self }
    }

    /// Reads `inputRequests`.
    pub fn read(requests: &Raw) -> Result<Self, ErrorObject> {
        let ask = |member: Member<'_>| {
            let method = member.value.get("method").and_then(|name| name.as_text().map(|name| Method::parse(&name)));
            let Some(method @ (Method::Elicit | Method::CreateMessage | Method::RootsList)) = method else {
                let key = &member.key;
                return Err(ErrorObject::internal(format!("server asks something under {key:?} that nobody may ask")));
            };
            Ok((member.key.into_owned(), Ask { method, params: member.value.get("params") }))
        };
        requests.members().map(ask).collect()
    }

    /// Writes `inputRequests`.
    pub fn write(&self) -> Raw {
        let mut requests = Object::with_capacity(128);
        for (key, ask) in self.iter() {
            let mut request = Object::with_capacity(128);
            request.put_value("method", ask.method.as_str());
            if let Some(params) = &ask.params {
                request.put("params", params);
            }
            requests.put(key, &request.finish());
        }
        requests.finish()
    }
}

impl Answers {
    /// Reads `inputResponses`.
    pub fn read(responses: &Raw) -> Self {
        responses.members().map(|member| (member.key.into_owned(), Ok(member.value))).collect()
    }

    /// Writes `inputResponses`. There is no place for an error in it: a question to the user counts as cancelled, for
    /// any other the call itself fails.
    pub fn write(self, asked: &Asks) -> Result<Raw, ErrorObject> {
        let mut responses = Object::with_capacity(128);
        for (key, answer) in self {
            match (answer, asked.get(&key).map(|ask| &ask.method)) {
                (Ok(answer), _) => responses.put(&key, &answer),
                (Err(_), Some(Method::Elicit)) => responses.put_value(&key, &serde_json::json!({"action": "cancel"})),
                (Err(error), _) => return Err(error),
            }
        }
        Ok(responses.finish())
    }

    /// The same error for every question.
    pub fn refuse(asks: &Asks, error: &ErrorObject) -> Self {
        asks.iter().map(|(key, _)| (key.to_owned(), Err(error.clone()))).collect()
    }
}
