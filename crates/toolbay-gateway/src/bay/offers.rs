//! What the bay promises its clients: no more than some server of its can.

use toolbay_protocol::{
    Feature, Raw,
    greeting::{Meeting, Profile},
    method::TASKS,
    raw::Object,
};

use crate::catalog::Tasks;

/// MCP Apps: resources that a client shows as pages. It has no methods of its own.
const APPS: &str = "io.modelcontextprotocol/ui";

/// Whether there are servers that nobody has met yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strangers {
    Some,
    None,
}

/// `plain`, and what the servers add.
///
/// A session is promised once what it may use. One that opens before all servers were met, as that of a host over stdio
/// always does, is promised tasks in any case: to wait for the slowest server would keep it from the others, and to promise
/// less would take tasks from it for good. Nothing is wrong with a promise that turns out too large: each tool says itself
/// whether it runs as a task, and one that does not is refused by name.
// spec: 2025-11-25 basic/utilities/tasks, tool-level negotiation
pub(super) fn joined(plain: &Profile, meetings: &[Meeting], strangers: Strangers) -> Profile {
    let (tasks, extensions) = match strangers {
        Strangers::Some => (Some(all_tasks()), Some(with_tasks(extensions(meetings)))),
        Strangers::None => (core_tasks(meetings), extensions(meetings)),
    };
    let edits = [("tasks", tasks.as_ref()), ("extensions", extensions.as_ref())];
    Profile { capabilities: plain.capabilities.with(&edits), ..plain.clone() }
}

fn all_tasks() -> Raw {
    Raw::of(&serde_json::json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}))
}

fn with_tasks(extensions: Option<Raw>) -> Raw {
    let extensions = extensions.unwrap_or(Raw::EMPTY);
    if extensions.get(TASKS).is_some() { extensions } else { extensions.with(&[(TASKS, Some(&Raw::EMPTY))]) }
}

/// Whether calls of a server become tasks of the extension.
fn has_extension(meeting: &Meeting) -> bool {
    Tasks::of(meeting) == Tasks::Extension
}

/// Whether it runs tools as tasks of the core.
fn runs_tools(meeting: &Meeting) -> bool {
    meeting.revision.has(Feature::CoreTasks) && meeting.profile.declares(&["tasks", "requests", "tools", "call"])
}

/// Tasks of the 2025-11-25 core, as far as any server has them.
fn core_tasks(meetings: &[Meeting]) -> Option<Raw> {
    let any = |path: &[&str]| {
        meetings.iter().any(|meeting| meeting.revision.has(Feature::CoreTasks) && meeting.profile.declares(path))
    };
    if meetings.iter().any(has_extension) {
        // What such a server cannot do itself is done here.
        return Some(all_tasks());
    }
    if !any(&["tasks"]) {
        return None;
    }
    let mut tasks = Object::with_capacity(96);
    for way in ["list", "cancel"] {
        if any(&["tasks", way]) {
            tasks.put(way, &Raw::EMPTY);
        }
    }
    if any(&["tasks", "requests", "tools", "call"]) {
        tasks.put_value("requests", &serde_json::json!({"tools": {"call": {}}}));
    }
    Some(tasks.finish())
}

/// The extensions that some server has and that we carry; the settings are those of the first.
fn extensions(meetings: &[Meeting]) -> Option<Raw> {
    let mut all = Object::with_capacity(96);
    for id in [TASKS, APPS] {
        let found = meetings.iter().find_map(|meeting| {
            if id == TASKS && meeting.revision.has(Feature::Handshake) {
                // spec: tasks extension, it means nothing in a handshake; the core's own tasks are passed off as it
                return runs_tools(meeting).then_some(Raw::EMPTY);
            }
            meeting.profile.capabilities.get("extensions")?.get(id)
        });
        if let Some(settings) = found {
            all.put(id, &settings);
        }
    }
    let all = all.finish();
    (all != Raw::EMPTY).then_some(all)
}
