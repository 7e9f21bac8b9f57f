//! A server of tasks, of both kinds. It names them as every server would: `t-1`, `t-2`.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw,
    exchange::{Ask, Asks, Note, Outcome},
    fault::code,
    greeting::Profile,
    method::TASKS,
    types::meta::key::RELATED_TASK,
    watch::{Change, Filter, TaskChange},
};
use toolbay_transport::{Caller, Cx, Hub, Reply, Request, Service, Voice, Watch};

use crate::script::{said, text};

#[derive(Default)]
pub(crate) struct Tasker {
    pub(crate) hub: Hub,
    begun: Mutex<usize>,
    /// What was asked for by `tasks/cancel` and `tasks/update`.
    pub(crate) asked: Mutex<Vec<String>>,
    voices: Mutex<Vec<Voice>>,
    /// Under which tokens those wait who began tasks.
    pub(crate) tokens: Mutex<Vec<Raw>>,
}

fn task(id: &str, status: &str) -> Value {
    let when = "2026-01-01T00:00:00Z";
    json!({"taskId": id, "status": status, "createdAt": when, "lastUpdatedAt": when, "ttl": 60000, "ttlMs": 60000})
}

impl Tasker {
    /// Tells where a task stands, as each era does.
    pub(crate) fn tell(&self, id: &str, status: &str) {
        let state = Raw::of(&task(id, status));
        self.hub.publish(&Change::Task(TaskChange { id: id.into(), state: state.clone() }));
        self.voices.lock().unwrap().iter().for_each(|voice| voice.say(Note::new(Method::TaskStatus, state.clone())));
    }

    /// Tells how far those are who began tasks.
    pub(crate) fn progress(&self, progress: f64) {
        for token in self.tokens.lock().unwrap().iter() {
            let params = Note::progress(progress, Some(9.0), None).params.unwrap();
            let note = Note::new(Method::Progress, params.with(&[("progressToken", Some(token))]));
            self.voices.lock().unwrap().iter().for_each(|voice| voice.say(note.clone()));
        }
    }

    fn call(&self, request: &Request) -> Outcome {
        let (name, core) =
            (text(&request.params, "name"), request.caller.introduction.revision.has(Feature::CoreTasks));
        let wanted = if core { request.params.get("task").is_some() } else { declares(&request.caller) };
        match (&*name, wanted) {
            ("only", false) => Err(ErrorObject::new(code::METHOD_NOT_FOUND, "it runs as a task alone")),
            ("plain", _) | (_, false) => Ok(said("done at once")),
            (_, true) => {
                let mut begun = self.begun.lock().unwrap();
                *begun += 1;
                let token = request.params.get("_meta").and_then(|meta| meta.get("progressToken"));
                self.tokens.lock().unwrap().extend(token);
                let mut task = task(&format!("t-{begun}"), "working");
                if core {
                    return Ok(Raw::of(&json!({"task": task})));
                }
                task["resultType"] = json!("task");
                Ok(Raw::of(&task))
            }
        }
    }

    async fn result(&self, id: &str, cx: &Cx) -> Outcome {
        self.progress(4.0);
        let related = json!({RELATED_TASK: {"taskId": id}});
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let params = json!({"message": "who?", "requestedSchema": schema, "_meta": related});
        let ask = Ask { method: Method::Elicit, params: Some(Raw::of(&params)) };
        let Ok(Reply::Answers(answers)) = cx.ask(Asks::one("who", ask), None).await else { return Ok(Raw::EMPTY) };
        let text = json!({"type": "text", "text": format!("{:?}", answers.get("who").unwrap())});
        Ok(Raw::of(&json!({"content": [text], "_meta": related})))
    }

    fn list(&self, request: &Request) -> Outcome {
        let begun = *self.begun.lock().unwrap();
        let from: usize = text(&request.params, "cursor").parse().unwrap_or(0);
        let mut page = json!({"tasks": []});
        if from < begun {
            page["tasks"] = json!([task(&format!("t-{}", from + 1), "working")]);
        }
        if from + 1 < begun {
            page["nextCursor"] = json!((from + 1).to_string());
        }
        Ok(Raw::of(&page))
    }
}

fn declares(caller: &Caller) -> bool {
    caller.introduction.declares(&["extensions", TASKS])
}

impl Service for Tasker {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = json!({
            "tools": {"listChanged": true}, "extensions": {TASKS: {}},
            "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
        });
        let server = Raw::of(&json!({"name": "tasker", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&capabilities), instructions: None })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        let id = text(&request.params, "taskId");
        match &request.method {
            Method::ToolsList => {
                let tool = |name: &str, support: &str| json!({"name": name, "inputSchema": {"type": "object"}, "execution": {"taskSupport": support}});
                let tools = [
                    tool("job", "optional"),
                    tool("only", "required"),
                    tool("plain", "forbidden"),
                    tool("shy", "required"),
                ];
                Ok(Raw::of(&json!({"tools": tools})))
            }
            Method::ToolsCall if text(&request.params, "name") == "shy" => {
                let schema = json!({"type": "object", "properties": {}});
                let params = json!({"message": "may I begin?", "requestedSchema": schema});
                let ask = Ask { method: Method::Elicit, params: Some(Raw::of(&params)) };
                let Ok(Reply::Answers(answers)) = cx.ask(Asks::one("may", ask), None).await else {
                    return Ok(Raw::EMPTY);
                };
                match answers.get("may") {
                    Some(Ok(_)) => self.call(&request),
                    refused => Err(ErrorObject::new(-77, format!("not begun: {refused:?}"))),
                }
            }
            Method::ToolsCall => self.call(&request),
            Method::TasksGet => {
                let mut task = task(&id, "working");
                task["inputRequests"] = json!({"k": {"method": "roots/list"}});
                Ok(Raw::of(&task))
            }
            Method::TasksResult => self.result(&id, &cx).await,
            Method::TasksList => self.list(&request),
            Method::TasksCancel | Method::TasksUpdate => {
                let answers = request.params.get("inputResponses").map(|all| format!(" {all:?}")).unwrap_or_default();
                self.asked.lock().unwrap().push(format!("{} {id}{answers}", request.method));
                let core = request.caller.introduction.revision.has(Feature::CoreTasks);
                Ok(if core { Raw::of(&task(&id, "cancelled")) } else { Raw::EMPTY })
            }
            other => Err(ErrorObject::new(code::METHOD_NOT_FOUND, other.to_string())),
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        let watch = self.hub.watch(filter);
        if watch.filter().tools {
            self.voices.lock().unwrap().push(watch.voice());
        }
        Ok(watch)
    }
}
