//! An embedding endpoint of the shape of `/v1/embeddings`, that encodes as it is told and fails as it is told.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash as _, Hasher as _},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};

use super::web::{Asked, Reply, Web};

/// How the endpoint behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It answers with vectors of that many numbers.
    Answers(usize),
    /// It answers with that status and text.
    Refuses(u16, &'static str),
    /// It refuses what is longer than so many bytes.
    Picky(usize, usize),
    /// It answers with that document.
    Says(&'static str),
    /// It does not answer.
    Silent,
}

/// What a model of our own makes of texts, and how it behaves.
#[derive(Clone)]
pub struct Model(Arc<State>);

struct State {
    alike: Vec<Vec<String>>,
    manner: Mutex<Manner>,
    asked: Mutex<Vec<Vec<String>>>,
}

impl Model {
    /// A model to which the words of one line are the same; all others are as they are. It answers with vectors of 64 numbers.
    pub fn knowing(alike: &[&[&str]]) -> Self {
        let alike = alike.iter().map(|words| words.iter().map(|word| word.to_lowercase()).collect()).collect();
        Self(Arc::new(State { alike, manner: Mutex::new(Manner::Answers(64)), asked: Mutex::default() }))
    }

    /// Behaves so from here on.
    pub fn behave(&self, manner: Manner) {
        *self.0.manner.lock().unwrap_or_else(PoisonError::into_inner) = manner;
    }

    /// The texts of each request so far.
    pub fn asked(&self) -> Vec<Vec<String>> {
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Serves it at `/v1/embeddings`.
    pub fn serve(&self) -> Web {
        let model = self.clone();
        Web::serve(move |asked: &Asked| match (asked.verb.as_str(), asked.target.as_str()) {
            ("POST", "/v1/embeddings") => match model.answer(&asked.body) {
                Some((status, body)) => Reply::json(status, body),
                None => Reply::Silence,
            },
            _ => Reply::json(404, json!({"error": "there is only POST /v1/embeddings"})),
        })
    }

    /// Status and document for one request; nothing where it does not answer.
    pub fn answer(&self, body: &str) -> Option<(u16, String)> {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let texts: Vec<String> = body["input"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect();
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner).push(texts.clone());
        let manner = self.0.manner.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let width = match manner {
            Manner::Answers(width) => width,
            Manner::Picky(width, longest) if texts.iter().all(|text| text.len() <= longest) => width,
            Manner::Picky(..) => return Some((400, json!({"error": {"message": "input is too long"}}).to_string())),
            Manner::Refuses(status, says) => return Some((status, json!({"error": {"message": says}}).to_string())),
            Manner::Says(document) => return Some((200, document.to_owned())),
            Manner::Silent => return None,
        };
        let row = |(index, text): (usize, &String)| json!({"index": index, "embedding": self.vector(text, width)});
        let rows: Vec<Value> = texts.iter().enumerate().map(row).collect();
        Some((200, json!({"object": "list", "data": rows, "model": body["model"]}).to_string()))
    }

    /// What the model makes of a text: an axis for each line of words that are the same to it, and one by chance for any other.
    pub fn vector(&self, text: &str, width: usize) -> Vec<f32> {
        let small = text.to_lowercase();
        let mut vector = vec![0.01; width];
        for (axis, words) in self.0.alike.iter().enumerate() {
            if words.iter().any(|word| small.contains(word.as_str())) {
                vector[axis % width] += 3.0;
            }
        }
        let own = self.0.alike.len().min(width - 1);
        for word in small.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let mut hash = DefaultHasher::new();
            word.hash(&mut hash);
            let axis = usize::try_from(hash.finish() % (width - own) as u64).unwrap_or_default();
            vector[own + axis] += 0.3;
        }
        vector
    }
}
