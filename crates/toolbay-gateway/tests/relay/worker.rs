//! A server whose tools run as tasks, of either kind, each in its own way.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use serde_json::{Value, json};
use tokio::sync::Notify;
use toolbay_protocol::{
    ErrorObject, Fault, Feature, Method, Raw,
    exchange::{Ask, Asks, Outcome},
    fault::code,
    greeting::Profile,
    method::TASKS,
    types::meta::key::RELATED_TASK,
    watch::Filter,
};
use toolbay_transport::{Caller, Cx, Hub, Reply, Request, Service, Watch};

use crate::script::{said, text};

#[derive(Default)]
pub(crate) struct Worker {
    jobs: Mutex<Vec<Job>>,
    /// What was asked for beside the state of a task.
    pub(crate) asked: Mutex<Vec<String>>,
    /// Told with each of these.
    pub(crate) heard: Notify,
    /// Whether a task that is taken back goes on all the same.
    pub(crate) deaf: AtomicBool,
    /// Whether an answer is refused.
    pub(crate) refuses: AtomicBool,
    /// Whether tasks are kept for a day, and not for a minute.
    pub(crate) keeps: AtomicBool,
    moved: Notify,
    hub: Hub,
}

#[derive(Clone)]
struct Job {
    tool: String,
    answer: Option<Value>,
    cancelled: bool,
}

const TOOLS: [&str; 9] = ["plain", "curious", "asks", "quick", "sad", "breaks", "hangs", "large", "shy"];

impl Worker {
    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
        self.heard.notify_waiters();
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until so much was asked for.
    pub(crate) async fn hears(&self, what: &str) {
        loop {
            let heard = self.heard.notified();
            if self.asked.lock().unwrap().iter().any(|asked| asked == what) {
                return;
            }
            heard.await;
        }
    }

    /// Takes a task back of its own accord.
    pub(crate) fn takes_back(&self, id: &str) {
        self.change(id, |job| job.cancelled = true);
    }

    /// Knows nothing of a task any more.
    pub(crate) fn forgets(&self, id: &str) {
        self.change(id, |job| job.tool.clear());
    }

    fn job(&self, id: &str) -> Result<Job, ErrorObject> {
        let place: usize = id.trim_start_matches("t-").parse().unwrap_or(0);
        let jobs = self.jobs.lock().unwrap();
        let job = jobs.get(place.wrapping_sub(1)).filter(|job| !job.tool.is_empty());
        job.cloned().ok_or_else(|| ErrorObject::invalid_params("unknown task"))
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Job)) {
        let place: usize = id.trim_start_matches("t-").parse().unwrap();
        change(&mut self.jobs.lock().unwrap()[place - 1]);
        self.moved.notify_waiters();
    }

    fn call(&self, request: &Request) -> Outcome {
        let core = request.caller.introduction.revision.has(Feature::CoreTasks);
        let tool = text(&request.params, "name");
        let wanted = if core { request.params.get("task").is_some() } else { declares(&request.caller) };
        match (&*tool, wanted) {
            ("plain" | "curious", _) => return Ok(said("done at once")),
            (_, false) if core => return Err(ErrorObject::new(code::METHOD_NOT_FOUND, "it runs as a task alone")),
            (_, false) => return Err(Fault::extension(TASKS).into()),
            (_, true) => {}
        }
        let mut jobs = self.jobs.lock().unwrap();
        jobs.push(Job { tool, answer: None, cancelled: false });
        let mut task = self.task(&format!("t-{}", jobs.len()), "working", core);
        if core {
            return Ok(Raw::of(&json!({"task": task})));
        }
        task["resultType"] = json!("task");
        Ok(Raw::of(&task))
    }

    /// What a job came to, if it did.
    fn outcome(job: &Job) -> Option<Outcome> {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}], "isError": false});
        Some(match &*job.tool {
            _ if job.cancelled => Err(ErrorObject::internal("it was cancelled")),
            "asks" => Ok(Raw::of(&text(&format!("hello {}", job.answer.as_ref()?["content"]["name"])))),
            "quick" | "shy" => Ok(Raw::of(&text("quick"))),
            "large" => Ok(Raw::of(&text(&"x".repeat(4096)))),
            "sad" => Ok(Raw::of(&json!({"content": [{"type": "text", "text": "no"}], "isError": true}))),
            "breaks" => Err(ErrorObject::new(-77, "it breaks").with_data(&json!({"deep": [1]}))),
            _ => return None,
        })
    }

    fn task(&self, id: &str, status: &str, core: bool) -> Value {
        let when = "2026-01-01T00:00:00Z";
        let (ttl, poll) = if core { ("ttl", "pollInterval") } else { ("ttlMs", "pollIntervalMs") };
        let life = if self.keeps.load(Ordering::SeqCst) { 86_400_000 } else { 60_000 };
        json!({"taskId": id, "status": status, "createdAt": when, "lastUpdatedAt": when, ttl: life, poll: 2000})
    }

    fn state(&self, id: &str, core: bool) -> Outcome {
        let job = self.job(id)?;
        let outcome = Self::outcome(&job);
        let status = match &outcome {
            _ if job.cancelled => "cancelled",
            Some(Ok(result)) if core && result.get("isError") == Some(Raw::of(&true)) => "failed",
            Some(Ok(_)) => "completed",
            Some(Err(_)) => "failed",
            None if job.tool == "asks" => "input_required",
            None => "working",
        };
        let mut state = self.task(id, status, core);
        match outcome {
            _ if core || job.cancelled => {}
            Some(Ok(result)) => state["result"] = result.read().unwrap(),
            Some(Err(error)) => {
                state["error"] = json!({"code": error.code, "message": error.message, "data": error.data})
            }
            None if job.tool == "asks" => {
                state["inputRequests"] = json!({"who": {"method": "elicitation/create", "params": question()}});
            }
            None => {}
        }
        Ok(Raw::of(&state))
    }

    async fn result(&self, id: &str, cx: &Cx) -> Outcome {
        let related = Raw::of(&json!({RELATED_TASK: {"taskId": id}}));
        if self.job(id)?.tool == "asks" && self.job(id)?.answer.is_none() {
            let params = Raw::of(&question()).with(&[("_meta", Some(&related))]);
            let ask = Ask { method: Method::Elicit, params: Some(params) };
            let Ok(Reply::Answers(answers)) = cx.ask(Asks::one("who", ask), None).await else { return Ok(Raw::EMPTY) };
            let answer = answers.get("who").unwrap().clone()?.read().unwrap();
            self.change(id, |job| job.answer = Some(answer));
        }
        loop {
            let moved = self.moved.notified();
            if let Some(outcome) = Self::outcome(&self.job(id)?) {
                return outcome.map(|result| result.with(&[("_meta", Some(&related))]));
            }
            moved.await;
        }
    }
}

fn question() -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    json!({"mode": "form", "message": "who?", "requestedSchema": schema})
}

fn declares(caller: &Caller) -> bool {
    caller.introduction.declares(&["extensions", TASKS])
}

impl Service for Worker {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = json!({
            "tools": {}, "extensions": {TASKS: {}}, "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}},
        });
        let server = Raw::of(&json!({"name": "worker", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&capabilities), instructions: None })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        let id = text(&request.params, "taskId");
        let core = request.caller.introduction.revision.has(Feature::CoreTasks);
        if id.starts_with("t-") && !core {
            assert!(declares(&request.caller), "{}: the extension is not declared", request.method);
        }
        match &request.method {
            Method::ToolsList => {
                let tool = |name: &str| {
                    let mut tool = json!({"name": name, "inputSchema": {"type": "object"}});
                    if core {
                        let support = if ["plain", "curious"].contains(&name) { "forbidden" } else { "required" };
                        tool["execution"] = json!({"taskSupport": support});
                    }
                    tool
                };
                Ok(Raw::of(&json!({"tools": TOOLS.map(tool)})))
            }
            Method::ToolsCall
                if request.returning.answers.is_none()
                    && match &*text(&request.params, "name") {
                        "curious" => true,
                        "shy" => core || declares(&request.caller),
                        _ => false,
                    } =>
            {
                let ask = Ask { method: Method::Elicit, params: Some(Raw::of(&question())) };
                match cx.ask(Asks::one("may", ask), None).await {
                    Ok(Reply::Answers(_)) => self.call(&request),
                    _ => Ok(Raw::EMPTY),
                }
            }
            Method::ToolsCall => self.call(&request),
            Method::TasksGet => self.state(&id, core),
            Method::TasksResult => self.result(&id, &cx).await,
            Method::TasksUpdate if self.refuses.load(Ordering::SeqCst) => Err(ErrorObject::internal("not now")),
            Method::TasksUpdate => {
                let responses = request.params.get("inputResponses").unwrap();
                self.note(format!("update {id} {responses:?}"));
                if let Some(answer) = responses.get("who") {
                    self.change(&id, |job| job.answer = Some(answer.read().unwrap()));
                }
                Ok(Raw::EMPTY)
            }
            Method::TasksCancel => {
                self.note(format!("cancel {id}"));
                if core && Self::outcome(&self.job(&id)?).is_some() {
                    return Err(ErrorObject::invalid_params("it is over"));
                }
                if !self.deaf.load(Ordering::SeqCst) {
                    self.change(&id, |job| job.cancelled = true);
                }
                if core { self.state(&id, core) } else { Ok(Raw::EMPTY) }
            }
            other => Err(ErrorObject::new(code::METHOD_NOT_FOUND, other.to_string())),
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }
}
