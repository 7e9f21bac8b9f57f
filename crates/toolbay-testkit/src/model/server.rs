//! The service: reads a question, judges it, says the next turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::{
    anthropic, gemini, ollama, openai_chat, openai_responses,
    script::{Dialect, Draft, Ending, Question, Say, Turn, object},
};
use crate::services::{Asked, Ends, Reply, Web};

/// A scripted model on a port of its own; over when it is dropped. It speaks all five dialects at once, each at its address.
pub struct ModelServer {
    web: Web,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    questions: Vec<Question>,
    complaints: Vec<String>,
    replies: usize,
    /// What must come back with a call: by what it is known, in a question, and the seal beside it.
    sealed: Vec<(Dialect, String, String)>,
}

type Speaker = Box<dyn FnMut(&Question) -> Turn + Send>;

impl ModelServer {
    /// Says these turns, one for each question that is in order; after the last one it complains.
    pub fn scripted(turns: impl IntoIterator<Item = Turn>) -> Self {
        let mut turns: std::collections::VecDeque<Turn> = turns.into_iter().collect();
        Self::answering(move |_| turns.pop_front().unwrap_or_else(|| Turn::fails(400, OVER)))
    }

    /// Says what `speaker` makes of each question that is in order.
    pub fn answering(speaker: impl FnMut(&Question) -> Turn + Send + 'static) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let (kept, speaker) = (Arc::clone(&state), Mutex::new(Box::new(speaker) as Speaker));
        let web = Web::serve(move |asked| {
            // One after the other: what is said may depend on what was said before.
            let mut speaker = speaker.lock().unwrap_or_else(PoisonError::into_inner);
            answer(asked, &mut lock(&kept), &mut speaker)
        });
        Self { web, state }
    }

    /// What a client of a provider takes as its base URL.
    pub fn base_url(&self, dialect: Dialect) -> String {
        match dialect {
            Dialect::OpenAiChat | Dialect::OpenAiResponses => self.web.url("/v1"),
            Dialect::Anthropic | Dialect::Gemini | Dialect::Ollama => self.web.url(""),
        }
    }

    /// The questions so far, also those that were refused.
    pub fn questions(&self) -> Vec<Question> {
        lock(&self.state).questions.clone()
    }

    /// What was wrong with questions so far. Whoever asked got it as an error of the provider.
    pub fn complaints(&self) -> Vec<String> {
        lock(&self.state).complaints.clone()
    }
}

const OVER: &str = "the script is over";

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn dialect(target: &str) -> Option<Dialect> {
    let path = target.split('?').next().unwrap_or_default();
    match path {
        "/v1/messages" => Some(Dialect::Anthropic),
        "/v1/chat/completions" => Some(Dialect::OpenAiChat),
        "/v1/responses" => Some(Dialect::OpenAiResponses),
        "/api/chat" => Some(Dialect::Ollama),
        path if of_gemini(path).is_some() => Some(Dialect::Gemini),
        _ => None,
    }
}

fn answer(asked: &Asked, state: &mut State, speaker: &mut Speaker) -> Reply {
    let Some(dialect) = dialect(&asked.target) else {
        state.complaints.push(format!("nothing is at {} {}", asked.verb, asked.target));
        return Reply::json(404, json!({"error": "not found"}));
    };
    let body: Value = serde_json::from_str(&asked.body).unwrap_or(Value::Null);
    let streamed = match dialect {
        Dialect::Gemini => asked.target.contains(":streamGenerateContent"),
        Dialect::Ollama => body["stream"] != false,
        Dialect::Anthropic | Dialect::OpenAiChat | Dialect::OpenAiResponses => body["stream"] == true,
    };
    let (target, headers) = (asked.target.clone(), asked.headers.clone());
    let model = model(&target, &body);
    let question = Question { dialect, model, target, headers, streamed, tools: tools(dialect, &body), body };
    let judged = check(&question, asked, state);
    state.questions.push(question.clone());
    if let Err(complaint) = judged {
        state.complaints.push(format!("{dialect:?}: {complaint}"));
        return refused(dialect, 400, &complaint, None);
    }
    match speaker(&question) {
        Turn::Silent => Reply::Silence,
        Turn::Fails { status, message, after } => {
            if message == OVER {
                state.complaints.push(format!("{dialect:?}: {OVER}"));
            }
            let overloaded = if dialect == Dialect::Anthropic { 529 } else { 503 };
            refused(dialect, status.unwrap_or(overloaded), &message, after)
        }
        Turn::Says { says, ending, usage } => {
            state.replies += 1;
            let model = question.model.clone();
            let draft = Draft { says: &says, ending: &ending, usage, model, number: state.replies };
            seal(dialect, &draft, state);
            said(&question, &draft)
        }
    }
}

/// What stands behind the version and `models`: clients name one version or the other.
fn of_gemini(path: &str) -> Option<&str> {
    path.strip_prefix("/v1beta/models/").or_else(|| path.strip_prefix("/v1/models/"))
}

fn model(target: &str, body: &Value) -> String {
    let path = of_gemini(target).unwrap_or_default();
    let named = path.split(':').next().unwrap_or_default();
    body["model"].as_str().unwrap_or(named).to_owned()
}

fn tools(dialect: Dialect, body: &Value) -> Vec<String> {
    match dialect {
        Dialect::Anthropic => anthropic::tools(body),
        Dialect::OpenAiChat => openai_chat::tools(body),
        Dialect::OpenAiResponses => openai_responses::tools(body),
        Dialect::Gemini => gemini::tools(body),
        Dialect::Ollama => ollama::tools(body),
    }
}

fn check(question: &Question, asked: &Asked, state: &State) -> Result<(), String> {
    let body = &question.body;
    if asked.verb != "POST" || !body.is_object() {
        return Err("the body must be a JSON object, posted".into());
    }
    match question.dialect {
        Dialect::Anthropic if asked.header("anthropic-version").is_none() => {
            Err("anthropic-version: header is required".into())
        }
        Dialect::Anthropic => anthropic::check(body),
        Dialect::OpenAiChat => openai_chat::check(body),
        Dialect::OpenAiResponses => openai_responses::check(body),
        Dialect::Gemini => gemini::check(body),
        Dialect::Ollama => ollama::check(body),
    }?;
    come_back(question, state)
}

/// What was sealed is there again, where its call is.
fn come_back(question: &Question, state: &State) -> Result<(), String> {
    let sealed = state.sealed.iter().filter(|(dialect, ..)| *dialect == question.dialect);
    let missing = |call: &str| Err(format!("the call {call} comes back without what was sealed with it"));
    if question.dialect == Dialect::Gemini {
        let signed = gemini::signed(&question.body);
        for (_, call, seal) in sealed {
            let mut same = signed.iter().filter(|(known, _)| known == call).peekable();
            if same.peek().is_some() && !same.any(|(_, signature)| signature.as_ref() == Some(seal)) {
                return missing(call);
            }
        }
        return Ok(());
    }
    let text = question.body.to_string();
    for (_, call, seal) in sealed {
        if text.contains(&format!("\"{call}\"")) && !text.contains(&format!("\"{seal}\"")) {
            return missing(call);
        }
    }
    Ok(())
}

fn seal(dialect: Dialect, draft: &Draft<'_>, state: &mut State) {
    let calls = draft.says.iter().enumerate().filter(|(_, say)| matches!(say, Say::Intent { .. }));
    let thoughts = draft.says.iter().enumerate().filter(|(_, say)| matches!(say, Say::Thought(_)));
    let Some((at, call)) = calls.into_iter().next() else { return };
    match dialect {
        Dialect::Gemini => {
            let (name, arguments) = object(call);
            state.sealed.push((dialect, gemini::key(name, &arguments), draft.seal(at)));
        }
        Dialect::Anthropic | Dialect::OpenAiResponses => {
            let prefix = if dialect == Dialect::Anthropic { "toolu_" } else { "call_" };
            let id = draft.id(prefix, at);
            state.sealed.extend(thoughts.map(|(thought, _)| (dialect, id.clone(), draft.seal(thought))));
        }
        Dialect::OpenAiChat | Dialect::Ollama => {}
    }
}

fn refused(dialect: Dialect, status: u16, message: &str, after: Option<u32>) -> Reply {
    let body = error(dialect, status, message).to_string();
    let headers = after.map(|seconds| ("Retry-After", seconds.to_string())).into_iter().collect();
    Reply::Whole { status, kind: "application/json", headers, body }
}

fn error(dialect: Dialect, status: u16, message: &str) -> Value {
    match dialect {
        Dialect::Anthropic => anthropic::error(status, message),
        Dialect::OpenAiChat | Dialect::OpenAiResponses => openai_chat::error(status, message),
        Dialect::Gemini => gemini::error(status, message),
        Dialect::Ollama => json!({"error": message}),
    }
}

fn said(question: &Question, draft: &Draft<'_>) -> Reply {
    let dialect = question.dialect;
    if !question.streamed {
        return document(dialect, draft);
    }
    let mut events = match dialect {
        Dialect::Anthropic => anthropic::stream(draft),
        Dialect::OpenAiChat => openai_chat::stream(draft),
        Dialect::OpenAiResponses => openai_responses::stream(draft),
        Dialect::Gemini => gemini::stream(draft),
        Dialect::Ollama => ollama::stream(draft),
    };
    // What comes after the last word: of OpenAI's chat two events, of Anthropic's two, of the others one.
    let last = if matches!(dialect, Dialect::OpenAiChat | Dialect::Anthropic) { 2 } else { 1 };
    let whole = !matches!(draft.ending, Ending::Cut | Ending::Early | Ending::Stalls | Ending::Breaks(_));
    if !whole {
        events.truncate(events.len().saturating_sub(last));
    }
    if let Ending::Breaks(message) = draft.ending {
        events.push(match dialect {
            Dialect::OpenAiResponses => {
                json!({"type": "error", "code": "server_error", "message": message, "param": null, "sequence_number": 99})
            }
            _ => error(dialect, if dialect == Dialect::Anthropic { 529 } else { 503 }, message),
        });
    }
    let mut pieces: Vec<String> = events.iter().map(|event| framed(dialect, event)).collect();
    if dialect == Dialect::OpenAiChat && whole {
        pieces.push("data: [DONE]\n\n".into());
    }
    let end = match draft.ending {
        Ending::Cut => Ends::Cut,
        Ending::Stalls => Ends::Open,
        _ => Ends::Whole,
    };
    let kind = if dialect == Dialect::Ollama { "application/x-ndjson" } else { "text/event-stream" };
    Reply::Pieces { kind, pieces, end }
}

fn framed(dialect: Dialect, event: &Value) -> String {
    match dialect {
        Dialect::Anthropic | Dialect::OpenAiResponses => {
            format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
        }
        Dialect::OpenAiChat => format!("data: {event}\n\n"),
        Dialect::Gemini => format!("data: {event}\r\n\r\n"),
        Dialect::Ollama => format!("{event}\n"),
    }
}

fn document(dialect: Dialect, draft: &Draft<'_>) -> Reply {
    let whole = match dialect {
        Dialect::Anthropic => anthropic::whole(draft),
        Dialect::OpenAiChat => openai_chat::whole(draft),
        Dialect::OpenAiResponses => openai_responses::whole(draft),
        Dialect::Gemini => gemini::whole(draft),
        Dialect::Ollama => ollama::whole(draft),
    };
    let text = whole.to_string();
    let half = || vec![text.chars().take(text.chars().count() / 2).collect()];
    match draft.ending {
        Ending::Breaks(message) => refused(dialect, 500, message, None),
        Ending::Cut => Reply::Pieces { kind: "application/json", pieces: half(), end: Ends::Cut },
        Ending::Early => Reply::Pieces { kind: "application/json", pieces: half(), end: Ends::Whole },
        Ending::Stalls => Reply::Pieces { kind: "application/json", pieces: half(), end: Ends::Open },
        Ending::Whole | Ending::Length | Ending::Refused | Ending::Strange | Ending::Paused => Reply::json(200, text),
    }
}
