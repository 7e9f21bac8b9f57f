//! A weather service that answers a call with a session, and the session with the weather.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use serde_json::{Value, json};

use super::web::{Asked, Reply, Web};

/// When the weather is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// When it was asked for so often.
    Polled(usize),
    /// It comes as an event, and never to those who ask.
    ByEvent,
    /// Never.
    Never,
}

struct Session {
    city: String,
    polls: usize,
}

/// The weather service, at `/sse`: a POST opens a session, `GET /sse/SESSION` asks for it, `GET /sse?session_id=SESSION`
/// brings its events.
pub fn weather(ready: Ready) -> Web {
    let (sessions, number) = (Mutex::new(std::collections::BTreeMap::<String, Session>::new()), AtomicU64::new(1));
    Web::serve(move |asked| {
        let mut sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
        match (asked.verb.as_str(), asked.target.as_str()) {
            ("POST", "/sse") => {
                let Some(city) = city(asked) else {
                    return Reply::json(422, json!({"error": "give a city"}));
                };
                let session = format!("w{}", number.fetch_add(1, Ordering::Relaxed));
                sessions.insert(session.clone(), Session { city, polls: 0 });
                Reply::json(200, json!({"session_id": session}))
            }
            ("GET", target) => {
                if let Some(name) = target.strip_prefix("/sse?session_id=") {
                    return events(ready, name, sessions.get(name));
                }
                let name = target.strip_prefix("/sse/").unwrap_or_default();
                match sessions.get_mut(name) {
                    Some(session) => poll(ready, name, session),
                    None => Reply::json(404, json!({"error": "no such session"})),
                }
            }
            _ => Reply::json(405, json!({"error": "GET or POST"})),
        }
    })
}

fn city(asked: &Asked) -> Option<String> {
    let call: Value = serde_json::from_str(&asked.body).ok()?;
    let given = call.get("arguments").unwrap_or(&call);
    let city = ["city", "location", "query"].iter().find_map(|key| given[*key].as_str())?;
    (!city.is_empty()).then(|| city.to_owned())
}

fn known(session: &str, city: &str) -> Value {
    json!({"session_id": session, "status": "done", "result": {"city": city, "weather": "晴", "temperature": 21.0}})
}

fn poll(ready: Ready, name: &str, session: &mut Session) -> Reply {
    session.polls += 1;
    match ready {
        Ready::Polled(after) if session.polls >= after => Reply::json(200, known(name, &session.city)),
        Ready::Polled(_) | Ready::ByEvent | Ready::Never => {
            Reply::json(200, json!({"session_id": name, "status": "processing"}))
        }
    }
}

fn events(ready: Ready, name: &str, session: Option<&Session>) -> Reply {
    match (ready, session) {
        (Ready::ByEvent, Some(session)) => Reply::Events(vec![
            ("progress".into(), json!({"session_id": name, "status": "running"}).to_string()),
            ("result".into(), known("somebody-else", "x").to_string()),
            ("result".into(), known(name, &session.city).to_string()),
        ]),
        (Ready::ByEvent | Ready::Never | Ready::Polled(_), _) => Reply::json(404, json!({"error": "no events"})),
    }
}
