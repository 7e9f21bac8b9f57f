//! Answers with odd contents: the same messages over pipes and over HTTP.

use anyhow::{Result, ensure};

use super::scenes::{Scene, Script, Seen, delivered, fails, fails_at_once, holds};

/// Every scene of this room.
pub(super) const SCENES: &[Scene] = &[
    Scene::new("plain", "a plain answer is delivered", Script::Words(|id| vec![result(id, KNOWN, "")]), delivered),
    Scene::new(
        "unknown-content",
        "a content block of an unknown kind costs nothing else: the rest is delivered",
        Script::Words(unknown_content),
        delivered,
    ),
    Scene::new(
        "nulls",
        "`isError: null` and `_meta: null` are as if absent",
        Script::Words(|id| vec![result(id, KNOWN, r#","isError":null,"_meta":null"#)]),
        delivered,
    ),
    Scene::new(
        "null-optionals",
        "`structuredContent: null`, `annotations: null` are as if absent",
        Script::Words(null_optionals),
        delivered,
    ),
    Scene::new(
        "big-numbers",
        "1e400 and an integer of 23 digits in structured content are kept as written",
        Script::Words(numbers),
        big_numbers,
    ),
    Scene::new("unknown-enums", "unknown roles and levels cost nothing else", Script::Words(enums), delivered),
    Scene::new("unknown-fields", "unknown fields everywhere cost nothing", Script::Words(fields), delivered),
    Scene::new(
        "wrong-id-first",
        "an answer to another id is dropped, and the right one delivered",
        Script::Words(|id| vec![result("424242", r#"{"type":"text","text":"wrong"}"#, ""), result(id, KNOWN, "")]),
        delivered,
    ),
    Scene::new(
        "twice",
        "of two answers the first counts",
        Script::Words(|id| vec![result(id, KNOWN, ""), result(id, r#"{"type":"text","text":"second"}"#, "")]),
        delivered,
    ),
    Scene::new(
        "both",
        "an answer with both a result and an error is an error at once",
        Script::Words(both),
        fails_at_once,
    ),
    Scene::new(
        "neither",
        "an answer with neither is an error at once",
        Script::Words(|id| vec![format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#)]),
        fails_at_once,
    ),
    Scene::new(
        "result-no-object",
        "a result that is no object is an error at once",
        Script::Words(|id| vec![format!(r#"{{"jsonrpc":"2.0","id":{id},"result":[1]}}"#)]),
        fails_at_once,
    ),
    Scene::new(
        "error-odd",
        "an error with a text for a code is still an error at once",
        Script::Words(|id| vec![format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":"x","message":7}}}}"#)]),
        fails_at_once,
    ),
    Scene::new(
        "error-plain",
        "an error is told with its message",
        Script::Words(|id| {
            vec![format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32050,"message":"out of coal","data":{{"a":1}}}}}}"#
            )]
        }),
        coal,
    ),
    Scene::new(
        "progress-after-the-end",
        "progress that comes after the answer, or for nobody, costs nothing",
        Script::Words(late_progress),
        delivered,
    ),
    Scene::new(
        "unknown-notification",
        "notifications of unknown kinds, and malformed ones, cost nothing",
        Script::Words(notifications),
        delivered,
    ),
    Scene::new(
        "deep-result",
        "a result nested 100,000 deep is delivered or an error, never a crash",
        Script::Words(deep),
        no_crash,
    ),
    Scene::new(
        "duplicate-keys",
        "an answer with two `result`s is delivered or an error, never a hang",
        Script::Words(duplicate),
        no_crash,
    ),
];

const KNOWN: &str = r#"{"type":"text","text":"known text"}"#;

/// A result with these content blocks and more members.
pub(super) fn result(id: &str, blocks: &str, more: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{blocks}]{more}}}}}"#)
}

/// The plain one.
pub(super) fn known(id: &str) -> String {
    result(id, KNOWN, "")
}

fn unknown_content(id: &str) -> Vec<String> {
    vec![result(id, &format!(r#"{{"type":"hologram","beam":[1,2],"text":7}},{KNOWN}"#), "")]
}

fn null_optionals(id: &str) -> Vec<String> {
    let block = r#"{"type":"text","text":"known text","annotations":null,"_meta":null}"#;
    vec![result(id, block, r#","structuredContent":null"#)]
}

fn numbers(id: &str) -> Vec<String> {
    vec![result(
        id,
        KNOWN,
        r#","structuredContent":{"int":12345678901234567890123,"big":1e400,"long":0.1234567890123456789012345}"#,
    )]
}

fn big_numbers(seen: &Seen) -> Result<String> {
    holds(seen, "12345678901234567890123")?;
    let result = seen.result.as_deref().unwrap_or_default().to_lowercase().replace("e+", "e");
    ensure!(result.contains("1e400"), "1e400 is lost: {result}");
    ensure!(result.contains("0.1234567890123456789012345"), "digits are lost: {result}");
    Ok("kept".to_owned())
}

fn enums(id: &str) -> Vec<String> {
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"whisper","data":1}}"#;
    let block = r#"{"type":"text","text":"known text","annotations":{"audience":["narrator"],"priority":7}}"#;
    vec![log.to_owned(), result(id, block, "")]
}

fn fields(id: &str) -> Vec<String> {
    let block = r#"{"type":"text","text":"known text","colour":"blue","deep":{"a":[null]}}"#;
    let message = result(id, block, r#","verdict":{"x":1},"kind":"strange""#);
    vec![message.replacen("\"jsonrpc\"", "\"trace\":[1],\"jsonrpc\"", 1)]
}

fn both(id: &str) -> Vec<String> {
    let message = known(id);
    vec![message.replacen("\"result\"", "\"error\":{\"code\":1,\"message\":\"both\"},\"result\"", 1)]
}

fn coal(seen: &Seen) -> Result<String> {
    let told = fails(seen)?;
    ensure!(told.contains("out of coal"), "the message is lost: {told}");
    Ok(told)
}

fn late_progress(id: &str) -> Vec<String> {
    let note = |token: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
        )
    };
    vec![note("\"nobody\""), known(id), note(id), note("1")]
}

fn notifications(id: &str) -> Vec<String> {
    let odd = [
        r#"{"jsonrpc":"2.0","method":"notifications/nobody/knows","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"half"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":[]}"#,
    ];
    odd.iter().map(|one| (*one).to_owned()).chain([known(id)]).collect()
}

fn deep(id: &str) -> Vec<String> {
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    vec![result(id, KNOWN, &format!(r#","structuredContent":{{"deep":{nested}}}"#))]
}

fn duplicate(id: &str) -> Vec<String> {
    vec![known(id).replacen("\"result\"", "\"result\":{\"content\":[]},\"result\"", 1)]
}

fn no_crash(seen: &Seen) -> Result<String> {
    if seen.result.is_some() { Ok("delivered".to_owned()) } else { fails(seen) }
}
