//! `toolbay call`.

use serde_json::{Map, Value};
use toolbay_protocol::{
    ErrorObject, Method, Raw,
    exchange::{Answers, Note, Outcome, Step, Wishes},
    fault::code,
    peer,
    raw::Object,
};
use toolbay_transport::Connection;

use crate::{
    args::Call,
    exit::Exit,
    show,
    target::{self, Reached, Wanted},
};

/// Runs it.
pub(crate) async fn run(call: Call) -> Result<(), Exit> {
    let wanted = Wanted { config: call.config, url: call.url, command: call.command };
    let mut pairs = call.pairs;
    let json = call.json.is_some();
    // `--json` alone may stand before a pair: only an object is taken for the arguments.
    let given = match call.json.flatten() {
        Some(pair) if !pair.trim_start().starts_with('{') && pair.contains('=') => {
            pairs.push(pair);
            None
        }
        given => given,
    };
    let reached = target::reach(wanted).await?;
    let done = called(&reached, &call.tool, &pairs, given.as_deref(), json).await;
    if done.as_ref().is_err_and(Exit::is_unknown) {
        reached.say_who_is_missing();
    }
    reached.close().await;
    done
}

async fn called(reached: &Reached, tool: &str, pairs: &[String], given: Option<&str>, json: bool) -> Result<(), Exit> {
    // Without a schema, values are taken as they look.
    let definition = if pairs.is_empty() { None } else { reached.tool(tool).await };
    let schema = definition.and_then(|tool| tool.get("inputSchema")?.read().ok());
    let arguments = arguments(pairs, given, schema.as_ref())?;
    let mut params = Object::with_capacity(256);
    params.put_text("name", tool);
    params.put_value("arguments", &arguments);
    let result = complete(&reached.connection, Method::ToolsCall, params.finish()).await?;
    let failed = show::is_true(&result, "isError");
    if json {
        show::line(&show::json(&result));
        return if failed { Err(Exit::shown()) } else { Ok(()) };
    }
    let blocks: Vec<_> =
        result.get("content").iter().flat_map(Raw::elements).map(|block| show::block(&block)).collect();
    let text = match (blocks.is_empty(), result.get("structuredContent")) {
        (true, Some(structured)) => show::json(&structured),
        _ => blocks.join("\n"),
    };
    if failed {
        return Err(Exit::failed(format!("{tool} failed: {text}")));
    }
    show::line(&text);
    Ok(())
}

fn arguments(pairs: &[String], given: Option<&str>, schema: Option<&Value>) -> Result<Map<String, Value>, Exit> {
    let mut arguments = match given.map(serde_json::from_str) {
        None => Map::new(),
        Some(Ok(Value::Object(object))) => object,
        Some(Ok(other)) => return Err(Exit::usage(format!("--json wants an object, not {other}"))),
        Some(Err(error)) => return Err(Exit::usage(format!("--json is not JSON: {error}"))),
    };
    for pair in pairs {
        let (key, value) = match pair.split_once('=') {
            Some((key, value)) => match key.strip_suffix(':') {
                Some(key) => (key, literal(key, value)?),
                None => (key, typed(schema, key, value)?),
            },
            None => return Err(Exit::usage(format!("{pair:?} is no argument: write key=value or key:=JSON"))),
        };
        arguments.insert(key.to_owned(), value);
    }
    Ok(arguments)
}

fn literal(key: &str, value: &str) -> Result<Value, Exit> {
    serde_json::from_str(value).map_err(|error| Exit::usage(format!("{key:?} is not JSON: {error}")))
}

/// The value as the schema's type of `key` wants it.
fn typed(schema: Option<&Value>, key: &str, value: &str) -> Result<Value, Exit> {
    let property = schema.and_then(|schema| schema.get("properties")?.get(key));
    let kinds: Vec<&str> = match property.and_then(|property| property.get("type")) {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    if kinds.contains(&"string") {
        return Ok(value.into());
    }
    match (serde_json::from_str(value), kinds.is_empty()) {
        (Ok(json), _) => Ok(json),
        (Err(_), true) => Ok(value.into()),
        (Err(_), false) => Err(Exit::usage(format!("{key:?} wants {}: {value:?} is none", kinds.join(" or ")))),
    }
}

/// Makes a request and follows it to its result; progress and log lines go to stderr.
pub(crate) async fn complete(connection: &Connection, method: Method, params: Raw) -> Result<Raw, Exit> {
    let reading = method == Method::ResourcesRead;
    let call = peer::Call { wishes: Wishes::progress(), ..peer::Call::new(method, Some(params)) };
    let lost = |error: toolbay_transport::Error| Exit::unreachable(error.to_string());
    let mut running = connection.call(call).await.map_err(lost)?;
    let outcome: Outcome = loop {
        let step = tokio::select! {
            step = running.step() => step.map_err(lost)?,
            _ = tokio::signal::ctrl_c() => return Err(Exit::interrupted()),
        };
        match step {
            Step::Note(note) => show_note(&note),
            Step::Away(_) | Step::Withdrawn(_) => {}
            Step::Ask(asks) => {
                let refused = ErrorObject::new(code::REFUSED, "nobody is there to answer: this is a single call");
                running.answer(Answers::refuse(&asks, &refused)).await.map_err(lost)?;
            }
            Step::Done(outcome) => break outcome,
        }
    };
    outcome.map_err(|error| match error.code {
        code::RESOURCE_NOT_FOUND => Exit::unknown(error.to_string()),
        // spec: server/resources, how the newest revision says "not found"
        code::INVALID_PARAMS if reading => Exit::unknown(error.to_string()),
        code::INVALID_PARAMS if error.message.to_lowercase().contains("unknown") => Exit::unknown(error.to_string()),
        code::MISSING_CAPABILITY => {
            Exit::failed(format!("{error}; the server wants to ask something, which a single call cannot answer"))
        }
        _ => Exit::failed(error.to_string()),
    })
}

fn show_note(note: &Note) {
    let Some(params) = &note.params else { return };
    let number = |key: &str| params.get(key).map(|value| format!("{value:?}"));
    match note.method {
        Method::Progress => {
            let total = number("total").map(|total| format!("/{total}")).unwrap_or_default();
            let message = show::text(params, "message").map(|text| format!(" {}", show::safe(&text)));
            let line = format!("{}{total}{}", number("progress").unwrap_or_default(), message.unwrap_or_default());
            eprintln!("{}", show::dim(&line));
        }
        Method::Message => {
            let level = show::text(params, "level").unwrap_or_default();
            let data = params.get("data").map(|data| show::safe(&show::json(&data))).unwrap_or_default();
            eprintln!("{}", show::dim(&format!("{}: {data}", show::safe(&level))));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_become_what_the_schema_wants() {
        let schema = json!({"properties": {
            "s": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"},
            "o": {"type": ["string", "null"]}, "l": {"type": "array"}
        }});
        let take = |pairs: &[&str]| {
            let pairs: Vec<_> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
            arguments(&pairs, None, Some(&schema)).map(Value::from).map_err(|exit| exit.to_string())
        };
        assert_eq!(
            take(&["s=1", "n=2", "b=true", "o=null", "l=[1]"]),
            Ok(json!({"s": "1", "n": 2, "b": true, "o": "null", "l": [1]}))
        );
        assert_eq!(take(&["x=1", "y=a=b", "z:={\"k\":1}"]), Ok(json!({"x": 1, "y": "a=b", "z": {"k": 1}})));
        assert!(take(&["n=two"]).unwrap_err().contains("integer"));
        assert!(take(&["nothing"]).unwrap_err().contains("key=value"));
        assert!(arguments(&[], Some("[]"), None).is_err());
    }
}
