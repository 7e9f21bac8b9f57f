//! Input that is no message, or an odd one.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::stand::{Case, Scope, Stand};
use crate::faults::link::Link;
use crate::faults::targets::Way;
use crate::faults::wire::{self, Answer, Talk, request};

/// Every case of this room.
pub(super) const CASES: &[Case] = &[
    Case::new("plain", Scope::Any, "a call is answered with its text", plain),
    Case::new(
        "broken-json",
        Scope::Any,
        "what is not JSON is answered −32700 (HTTP 400), and the server goes on",
        broken,
    ),
    Case::new(
        "not-utf8",
        Scope::Any,
        "bytes that are not UTF-8 are answered −32700 (HTTP 400), and the server goes on",
        not_utf8,
    ),
    Case::new("deep-nesting", Scope::Any, "100,000 brackets are refused, and the server goes on", deep),
    Case::new(
        "deep-arguments",
        Scope::Any,
        "50,000 nested objects in arguments are refused, and the server goes on",
        deep_arguments,
    ),
    Case::new("not-a-message", Scope::Any, "JSON that is no message (5, \"x\", {}) is answered −32600", not_a_message),
    Case::new("wrong-jsonrpc", Scope::Any, "another `jsonrpc` than 2.0 is answered −32600", wrong_version),
    Case::new(
        "duplicate-keys",
        Scope::Any,
        "a message with two `method`s is refused: two readers could see two methods",
        duplicate,
    ),
    Case::new(
        "duplicate-argument",
        Scope::Any,
        "two arguments of one name are refused, for the same reason",
        duplicate_argument,
    ),
    Case::new("case-variant-keys", Scope::Any, "`METHOD` is not `method`: nothing is run for it", case_variant),
    Case::new("id-null", Scope::Any, "a request with the id null is answered with an error", |stand| {
        odd_id(stand, "null")
    }),
    Case::new("id-fraction", Scope::Any, "a request with the id 1.5 is answered with an error", |stand| {
        odd_id(stand, "1.5")
    }),
    Case::new("id-true", Scope::Any, "a request with the id true is answered with an error", |stand| {
        odd_id(stand, "true")
    }),
    Case::new("id-object", Scope::Any, "a request with an object for an id is answered with an error", |stand| {
        odd_id(stand, r#"{"a":1}"#)
    }),
    Case::new(
        "id-huge",
        Scope::Any,
        "an id of 23 digits comes back as written, or is refused; it is never rounded",
        huge_id,
    ),
    Case::new("id-string", Scope::Any, "a string id comes back with the same characters", string_id),
    Case::new("id-zero-and-negative", Scope::Any, "the ids 0, −1 and \"\" are as good as any", small_ids),
    Case::new("result-and-error", Scope::Any, "a message with both a result and an error changes nothing", both),
    Case::new("reply-to-unknown-id", Scope::Any, "a reply nobody waits for changes nothing", stray_reply),
    Case::new("batch", Scope::Any, "an array is no message where the revision has no batches: −32600", |stand| {
        array(stand, 2)
    }),
    Case::new("empty-batch", Scope::Any, "an empty array is answered −32600", |stand| array(stand, 0)),
    Case::new(
        "unknown-method",
        Scope::Any,
        "an unknown method is answered −32601 (404 over HTTP with an envelope)",
        unknown_method,
    ),
    Case::new(
        "params-of-wrong-kind",
        Scope::Any,
        "`params` that is an array or a text is refused, and the server goes on",
        wrong_params,
    ),
    Case::new(
        "unknown-notification",
        Scope::Any,
        "an unknown notification is not answered (HTTP 202)",
        unknown_notification,
    ),
    Case::new(
        "malformed-cancel",
        Scope::Handshake,
        "a cancellation that names nothing, or nonsense, is ignored",
        malformed_cancel,
    ),
    Case::new(
        "before-initialize",
        Scope::StdioHandshake,
        "a request before `initialize` is answered with an error",
        early,
    ),
    Case::new(
        "second-initialize",
        Scope::StdioHandshake,
        "a second `initialize` is answered with an error, and the session goes on",
        second,
    ),
    Case::new(
        "unknown-revision",
        Scope::Handshake,
        "`initialize` with an unknown revision is answered with one that the server knows",
        unknown_revision,
    ),
];

const NO_MESSAGE: &[i64] = &[-32600];
const NO_JSON: &[i64] = &[-32700];
const EITHER: &[i64] = &[-32700, -32600];
const INVALID: &[i64] = &[-32700, -32600, -32602];

fn plain(stand: &Stand) -> Result<String> {
    let mut link = stand.link()?;
    link.alive(&stand.echo())?;
    Ok("answered".to_owned())
}

/// Says it, wants a refusal, and then a good answer.
fn refused(stand: &Stand, bytes: &[u8], codes: &[i64], statuses: &[u16]) -> Result<String> {
    let mut link = stand.link()?;
    let seen = link.say(bytes)?.refused(codes, statuses);
    link.alive(&stand.echo())?;
    seen
}

fn broken(stand: &Stand) -> Result<String> {
    refused(stand, br#"{"jsonrpc":"2.0","id":1,"method":"#, NO_JSON, &[400])
}

fn not_utf8(stand: &Stand) -> Result<String> {
    let body = request(stand.target.talk, "1", "tools/call", stand.tools.echo("MARK").params());
    let (before, after) = body.split_once("MARK").expect("the mark is in it");
    refused(stand, &[before.as_bytes(), b"\xff\xfe\xc3", after.as_bytes()].concat(), NO_JSON, &[400])
}

fn deep(stand: &Stand) -> Result<String> {
    refused(stand, "[".repeat(100_000).as_bytes(), EITHER, &[400])
}

fn deep_arguments(stand: &Stand) -> Result<String> {
    let body = request(stand.target.talk, "1", "tools/call", stand.tools.echo("MARK").params());
    let nested = format!("{}1{}", r#"{"a":"#.repeat(50_000), "}".repeat(50_000));
    let mut link = stand.link()?;
    let answer = link.say(body.replace("\"MARK\"", &nested).as_bytes())?;
    link.alive(&stand.echo())?;
    if answer.is_failure() { Ok(answer.told()) } else { bail!("answered {}", answer.told()) }
}

fn not_a_message(stand: &Stand) -> Result<String> {
    for text in ["5", "\"x\"", "{}", "null"] {
        refused(stand, text.as_bytes(), NO_MESSAGE, &[400]).map_err(|error| error.context(text))?;
    }
    Ok("refused".to_owned())
}

fn wrong_version(stand: &Stand) -> Result<String> {
    let body = request(stand.target.talk, "1", "tools/call", stand.echo().params());
    refused(stand, body.replace("\"2.0\"", "\"1.0\"").as_bytes(), NO_MESSAGE, &[400])
}

fn duplicate(stand: &Stand) -> Result<String> {
    let body = request(stand.target.talk, "1", "tools/call", stand.echo().params());
    refused(stand, body.replacen("\"method\"", "\"method\":\"tools/list\",\"method\"", 1).as_bytes(), EITHER, &[400])
}

fn duplicate_argument(stand: &Stand) -> Result<String> {
    let body = request(stand.target.talk, "1", "tools/call", stand.tools.echo("MARK").params());
    let key = stand.tools.echo("").arguments.as_object().and_then(|map| map.keys().next().cloned()).unwrap_or_default();
    let body = body.replace("\"MARK\"", &format!("\"one\",\"{key}\":\"two\""));
    let mut link = stand.link()?;
    let answer = link.say(body.as_bytes())?;
    link.alive(&stand.echo())?;
    if answer.is_failure() { Ok(answer.told()) } else { bail!("answered {}", answer.told()) }
}

fn case_variant(stand: &Stand) -> Result<String> {
    let body = request(stand.target.talk, "1", "tools/call", stand.tools.echo("smuggled").params());
    let body = body.replacen("\"method\"", "\"METHOD\"", 1);
    let mut link = stand.link()?;
    let answer = match &mut link {
        Link::Pipe(..) => link.say(body.as_bytes())?,
        Link::Web(web) => web.post(body.as_bytes(), &[("Mcp-Method", Some("tools/call"))])?,
    };
    link.alive(&stand.echo())?;
    if answer.text.contains("\"result\"") { bail!("it ran: {}", answer.told()) } else { Ok(answer.told()) }
}

fn odd_id(stand: &Stand, id: &str) -> Result<String> {
    let body = request(stand.target.talk, id, "tools/call", stand.echo().params());
    refused(stand, body.as_bytes(), INVALID, &[400])
}

fn huge_id(stand: &Stand) -> Result<String> {
    const ID: &str = "12345678901234567890123";
    let mut link = stand.link()?;
    let body = request(stand.target.talk, ID, "tools/call", stand.echo().params());
    let answer = link.say(body.as_bytes())?;
    link.alive(&stand.echo())?;
    let echoed = answer.text.contains(&format!("\"id\":{ID}"));
    if echoed || answer.code().is_some_and(|code| INVALID.contains(&code)) {
        return Ok(answer.told());
    }
    bail!("answered {}", answer.told())
}

fn string_id(stand: &Stand) -> Result<String> {
    let id = "é \" \\ \u{0} \u{2028} 💥 </script> 007";
    let answer = stand.link()?.ask(&Value::from(id).to_string(), "tools/call", stand.echo().params())?;
    if answer.json()["id"] == id { answer.served() } else { bail!("answered {}", answer.told()) }
}

fn small_ids(stand: &Stand) -> Result<String> {
    let mut link = stand.link()?;
    for id in ["0", "-1", "\"\""] {
        let answer = link.ask(id, "tools/call", stand.echo().params())?;
        answer.served().map_err(|error| error.context(format!("id {id}")))?;
        if answer.json()["id"] != serde_json::from_str::<Value>(id)? {
            bail!("id {id} came back as {}", answer.json()["id"]);
        }
    }
    Ok("came back".to_owned())
}

const DROPPED: &[u16] = &[200, 202, 204, 400];

fn both(stand: &Stand) -> Result<String> {
    let body = br#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#;
    unmoved(stand, body)
}

fn stray_reply(stand: &Stand) -> Result<String> {
    unmoved(stand, br#"{"jsonrpc":"2.0","id":424242,"result":{}}"#)
}

/// Dropped, or refused without an id; the server goes on.
fn unmoved(stand: &Stand, body: &[u8]) -> Result<String> {
    let mut link = stand.link()?;
    let status = match &mut link {
        Link::Pipe(pipe, ..) => {
            pipe.line(body)?;
            "dropped".to_owned()
        }
        Link::Web(web) => web.post(body, &[])?.status(DROPPED)?,
    };
    link.alive(&stand.echo())?;
    Ok(status)
}

fn array(stand: &Stand, length: usize) -> Result<String> {
    let one = |id: usize| request(stand.target.talk, &id.to_string(), "tools/call", stand.echo().params());
    let all: Vec<String> = (0..length).map(one).collect();
    refused(stand, format!("[{}]", all.join(",")).as_bytes(), NO_MESSAGE, &[400])
}

fn unknown_method(stand: &Stand) -> Result<String> {
    let mut link = stand.link()?;
    let answer = link.ask("1", "nobody/knows", json!({}))?;
    link.alive(&stand.echo())?;
    answer.refused(&[-32601], if stand.target.talk == Talk::Envelope { &[404] } else { &[200] })
}

fn wrong_params(stand: &Stand) -> Result<String> {
    let mut link = stand.link()?;
    let mut seen = Answer::default();
    for params in ["[1,2]", "\"x\"", "7"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        seen = link.say(body.as_bytes())?;
        if !seen.is_failure() {
            bail!("params {params}: answered {}", seen.told());
        }
    }
    link.alive(&stand.echo())?;
    Ok(seen.told())
}

fn unknown_notification(stand: &Stand) -> Result<String> {
    let mut link = stand.link()?;
    let body = wire::notification(stand.target.talk, "notifications/nobody/knows", json!({ "a": [1] }));
    link.hush(body.as_bytes(), &[202], &stand.echo())
}

fn malformed_cancel(stand: &Stand) -> Result<String> {
    let mut link = stand.link()?;
    let wrong = [
        json!({}),
        json!({ "requestId": null }),
        json!({ "requestId": [1] }),
        json!({ "requestId": 999_999 }),
        json!([]),
    ];
    for params in wrong {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
        let statuses: &[u16] = if params.is_array() { &[202, 400] } else { &[202] };
        match (&mut link, params.is_array()) {
            // An array is no params at all: a server may say so.
            (Link::Pipe(pipe, ..), true) => pipe.line(body.as_bytes())?,
            _ => {
                drop(link.hush(body.as_bytes(), statuses, &stand.echo()).map_err(|error| error.context(body.clone()))?)
            }
        }
    }
    link.alive(&stand.echo())?;
    Ok("ignored".to_owned())
}

fn early(stand: &Stand) -> Result<String> {
    let mut pipe = stand.pipe()?;
    pipe.line(request(Talk::Handshake, "1", "tools/list", json!({})).as_bytes())?;
    let answer = Answer { text: pipe.answer_to(&json!(1), crate::faults::link::START)?.0, ..Answer::default() };
    pipe.line(wire::initialize("2").as_bytes())?;
    pipe.answer_to(&json!(2), crate::faults::link::PATIENCE)?;
    if answer.code().is_some() { Ok(answer.told()) } else { bail!("answered {}", answer.told()) }
}

fn second(stand: &Stand) -> Result<String> {
    let mut link = stand.link()?;
    let answer = link.say(wire::initialize("\"again\"").as_bytes())?;
    link.alive(&stand.echo())?;
    if answer.code().is_some() { Ok(answer.told()) } else { bail!("answered {}", answer.told()) }
}

fn unknown_revision(stand: &Stand) -> Result<String> {
    let body = wire::initialize("1").replace(wire::HANDSHAKE, "1999-01-01");
    let text = match stand.target.way {
        Way::Stdio => {
            let mut pipe = stand.pipe()?;
            pipe.line(body.as_bytes())?;
            pipe.answer_to(&json!(1), crate::faults::link::START)?.0
        }
        Way::Http => stand.web()?.post(body.as_bytes(), &[])?.text,
    };
    let message: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(revision) = message["result"]["protocolVersion"].as_str() else { bail!("answered {text}") };
    match revision {
        "1999-01-01" => bail!("it claims to know it"),
        known => Ok(known.to_owned()),
    }
}
