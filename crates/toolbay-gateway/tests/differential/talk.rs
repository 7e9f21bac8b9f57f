//! One call as its client hears it: what it is told, what it is asked, what comes of it; without what names only the way.

use serde_json::{Value, json};
use toolbay_protocol::{
    Method, Raw,
    exchange::{Answers, Ask, Outcome, Return, Standing, Step, Wishes},
    peer::Call,
};

use crate::way::Place;

/// Calls a tool.
pub(crate) async fn tool(place: &Place, name: &str, arguments: Value) -> Value {
    let params = json!({"name": format!("{}{name}", place.prefix), "arguments": arguments});
    follow(place, Method::ToolsCall, params).await
}

/// Calls and answers every question; everything that was heard.
pub(crate) async fn follow(place: &Place, method: Method, params: Value) -> Value {
    let wishes = Wishes { log_level: Some("warning".into()), ..Wishes::progress() };
    let mut call = Call { wishes, ..Call::new(method, Some(Raw::of(&params))) };
    let (mut notes, mut asked) = (vec![], vec![]);
    loop {
        let again = call.clone();
        let mut running = match place.client.call(call).await {
            Ok(running) => running,
            Err(error) => return json!({"broken": error.to_string()}),
        };
        let returning = loop {
            match running.step().await {
                Err(error) => return json!({"broken": error.to_string()}),
                Ok(Step::Note(note)) => {
                    let params = note.params.map(|params| params.with(&[("progressToken", None)]));
                    notes.push(json!([note.method.as_str(), params.map_or(Value::Null, |params| bare(&params))]));
                }
                Ok(Step::Away(_) | Step::Withdrawn(_)) => {}
                Ok(Step::Ask(asks)) => {
                    asked.extend(
                        asks.iter()
                            .map(|(_, ask)| json!([ask.method.as_str(), ask.params.as_ref().map_or(json!({}), bare)])),
                    );
                    let answers: Answers = asks.iter().map(|(key, ask)| (key.to_owned(), Ok(answer(ask)))).collect();
                    match asks.standing() {
                        Standing::Open => running.answer(answers).await.unwrap(),
                        Standing::Over(state) => break Return { answers: Some(answers), state: state.clone() },
                    }
                }
                Ok(Step::Done(outcome)) => {
                    // Several at once come in any order.
                    asked.sort_by_key(|asked| asked[0].to_string());
                    return json!({"notes": notes, "asked": asked, "outcome": shown(outcome)});
                }
            }
        };
        call = Call { returning, ..again };
    }
}

pub(crate) fn shown(outcome: Outcome) -> Value {
    match outcome {
        Ok(result) => bare(&result),
        Err(error) => json!({"code": error.code, "message": error.message, "data": error.data}),
    }
}

/// Without who it was that answered: there the bay names itself.
pub(crate) fn bare(raw: &Raw) -> Value {
    let mut value: Value = raw.read().unwrap();
    let empty = value.get_mut("_meta").and_then(Value::as_object_mut).is_some_and(|meta| {
        meta.remove("io.modelcontextprotocol/serverInfo");
        meta.is_empty()
    });
    if empty {
        value.as_object_mut().unwrap().remove("_meta");
    }
    value
}

fn answer(ask: &Ask) -> Raw {
    let page = ask.params.as_ref().is_some_and(|params| params.get("url").is_some());
    let no = ask.params.as_ref().and_then(|params| params.get("message")).is_some_and(|why| why.as_str() == "\"no?\"");
    Raw::of(&match ask.method {
        _ if no => json!({"action": "decline"}),
        Method::RootsList => json!({"roots": [{"uri": "file:///r", "name": "r"}]}),
        Method::CreateMessage => {
            json!({"role": "assistant", "content": {"type": "text", "text": "42"}, "model": "m", "stopReason": "endTurn"})
        }
        _ if page => json!({"action": "accept"}),
        _ => json!({"action": "accept", "content": {"name": "Ada"}}),
    })
}
