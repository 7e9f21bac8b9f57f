//! A task in the words of the core of 2025-11-25 and in those of the extension. What neither changes stays as it was
//! written.

use toolbay_protocol::{
    ErrorObject, Raw,
    exchange::{Asks, Outcome},
    fault::code,
    raw::Object,
    types::{TaskStatus, meta::key::RELATED_TASK},
};

/// What both call differently: the core's word first.
const WORDS: [(&str, &str); 2] = [("ttl", "ttlMs"), ("pollInterval", "pollIntervalMs")];
/// What belongs to one form of the answer alone, or is said anew.
const OWN: [&str; 9] =
    ["resultType", "inputRequests", "result", "error", "requestState", "_meta", "taskId", "status", "cacheScope"];

/// Where a task stands.
pub(crate) fn status(task: &Raw) -> Option<TaskStatus> {
    task.get("status")?.read().ok()
}

/// A task of the extension as the core writes it.
pub(crate) fn to_core(task: &Raw, id: &str, status: &TaskStatus) -> Raw {
    let mut core =
        reworded(task, id, status, |key| WORDS.iter().find(|(_, theirs)| *theirs == key).map(|(ours, _)| *ours));
    if task.get("ttlMs").is_none() {
        core.put("ttl", &Raw::NULL);
    }
    core.finish()
}

/// A task of the core as the extension writes it.
pub(crate) fn to_extension(task: &Raw, id: &str, status: &TaskStatus) -> Object {
    let mut extended =
        reworded(task, id, status, |key| WORDS.iter().find(|(theirs, _)| *theirs == key).map(|(_, ours)| *ours));
    if task.get("ttl").is_none() {
        extended.put("ttlMs", &Raw::NULL);
    }
    extended
}

fn reworded<'w>(task: &Raw, id: &str, status: &TaskStatus, word: impl Fn(&str) -> Option<&'w str>) -> Object {
    let mut reworded = Object::with_capacity(task.as_bytes().len() + 64);
    reworded.put_text("taskId", id);
    reworded.put_text("status", status.as_str());
    for member in task.members() {
        let key = &*member.key;
        let foreign = OWN.contains(&key) || WORDS.iter().any(|(ours, theirs)| [*ours, *theirs].contains(&key));
        match word(key) {
            Some(word) => reworded.put(word, &member.value),
            None if foreign => {}
            None => reworded.put(key, &member.value),
        }
    }
    reworded
}

/// What a task of the extension came to; none while it has not.
pub(crate) fn outcome(task: &Raw) -> Option<Outcome> {
    match status(task)? {
        TaskStatus::Completed => Some(
            task.get("result").ok_or_else(|| ErrorObject::internal("the server ended the task without its result")),
        ),
        TaskStatus::Failed => {
            let nothing = || ErrorObject::internal("the task failed, and its server does not say why");
            Some(Err(task.get("error").map_or_else(nothing, |error| ErrorObject::read(&error))))
        }
        TaskStatus::Cancelled => Some(Err(cancelled())),
        _ => None,
    }
}

/// What is said of a task that was taken back.
pub(crate) fn cancelled() -> ErrorObject {
    ErrorObject::internal("the task was cancelled")
}

/// What a server says of a task that it does not know, by the name that its caller gave it.
pub(crate) fn of_task(error: ErrorObject, public: &str) -> ErrorObject {
    match error.code {
        code::INVALID_PARAMS => ErrorObject::invalid_params(format!("unknown task: {public:?}")),
        _ => error,
    }
}

/// What a task of the extension asks.
pub(crate) fn asks(task: &Raw) -> Result<Asks, ErrorObject> {
    task.get("inputRequests").map_or_else(|| Ok(Asks::default()), |requests| Asks::read(&requests))
}

/// Whether the tool itself says that it failed: in the core the task has failed with that, in the extension it has not.
pub(crate) fn says_failure(result: &Raw) -> bool {
    result.get("isError").is_some_and(|error| error.as_bytes() == b"true")
}

/// The same message, which says that it belongs to this task.
pub(crate) fn tagged(message: &Raw, id: &str) -> Raw {
    let mut task = Object::with_capacity(id.len() + 16);
    task.put_text("taskId", id);
    let task = task.finish();
    let meta = message.get("_meta").unwrap_or(Raw::EMPTY).with(&[(RELATED_TASK, Some(&task))]);
    message.with(&[("_meta", Some(&meta))])
}

/// The same message, which does not.
pub(crate) fn untagged(message: &Raw) -> Raw {
    let Some(meta) = message.get("_meta") else { return message.clone() };
    let meta = meta.with(&[(RELATED_TASK, None)]);
    message.with(&[("_meta", Some(&meta).filter(|meta| **meta != Raw::EMPTY))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned().into(), Default::default()).unwrap()
    }

    #[test]
    fn a_task_says_the_same_in_both_eras() {
        let extended = raw(
            r#"{"resultType":"task","taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"u","ttlMs":5.0,"pollIntervalMs":7,"x":[1.50],"_meta":{}}"#,
        );
        let core = to_core(&extended, "p", &TaskStatus::Working);
        let expected = r#"{"taskId":"p","status":"working","createdAt":"c","lastUpdatedAt":"u","ttl":5.0,"pollInterval":7,"x":[1.50]}"#;
        assert_eq!(core.as_str(), expected);
        let back = to_extension(&core, "t", &TaskStatus::Failed).finish();
        let expected = r#"{"taskId":"t","status":"failed","createdAt":"c","lastUpdatedAt":"u","ttlMs":5.0,"pollIntervalMs":7,"x":[1.50]}"#;
        assert_eq!(back.as_str(), expected);
        assert_eq!(to_core(&raw(r#"{"status":"x"}"#), "p", &TaskStatus::Working).get("ttl"), Some(Raw::NULL));
    }

    #[test]
    fn a_message_is_tagged_and_untagged() {
        let tagged = tagged(&raw(r#"{"content":[],"_meta":{"v/x":1}}"#), "t");
        let expected = r#"{"content":[],"_meta":{"v/x":1,"io.modelcontextprotocol/related-task":{"taskId":"t"}}}"#;
        assert_eq!(tagged.as_str(), expected);
        assert_eq!(untagged(&tagged).as_str(), r#"{"content":[],"_meta":{"v/x":1}}"#);
        assert_eq!(untagged(&super::tagged(&Raw::EMPTY, "t")).as_str(), "{}");
    }
}
