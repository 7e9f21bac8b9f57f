//! The calls that outlive their request, as each era has them.

use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::sync::Notify;
use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw,
    exchange::{Answers, Asks, Outcome},
    types::meta::key::RELATED_TASK,
};
use toolbay_transport::{Cx, Reply, Request};

use crate::play::{question, said, shown, text};

/// All of them.
#[derive(Default)]
pub(crate) struct Jobs {
    all: Mutex<Vec<Job>>,
    moved: Notify,
}

#[derive(Clone)]
struct Job {
    asks: bool,
    ends: String,
    answer: Option<String>,
    cancelled: bool,
}

pub(crate) fn core(request: &Request) -> bool {
    request.caller.introduction.revision.has(Feature::CoreTasks)
}

fn task(id: &str, status: &str, core: bool) -> Value {
    let when = "2026-01-01T00:00:00Z";
    let (life, pace) = if core { ("ttl", "pollInterval") } else { ("ttlMs", "pollIntervalMs") };
    json!({"taskId": id, "status": status, "createdAt": when, "lastUpdatedAt": when, life: 60000, pace: 50})
}

impl Jobs {
    pub(crate) fn begin(&self, request: &Request) -> Raw {
        if core(request) && request.params.get("task").is_none() {
            return Raw::of(&said("at once"));
        }
        let arguments = request.params.get("arguments").unwrap_or(Raw::EMPTY);
        let job = Job {
            asks: arguments.get("asks").is_some(),
            ends: text(&arguments, "ends"),
            answer: None,
            cancelled: false,
        };
        let mut all = self.all.lock().unwrap();
        all.push(job);
        let mut task = task(&format!("t-{}", all.len()), "working", core(request));
        if core(request) {
            return Raw::of(&json!({"task": task}));
        }
        task["resultType"] = json!("task");
        Raw::of(&task)
    }

    fn place(&self, id: &str) -> Result<usize, ErrorObject> {
        let place = id.strip_prefix("t-").and_then(|place| place.parse::<usize>().ok());
        let place = place.filter(|place| (1..=self.all.lock().unwrap().len()).contains(place));
        place.map(|place| place - 1).ok_or_else(|| ErrorObject::invalid_params("unknown task"))
    }

    fn job(&self, id: &str) -> Result<Job, ErrorObject> {
        let place = self.place(id)?;
        Ok(self.all.lock().unwrap()[place].clone())
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Job)) -> Result<(), ErrorObject> {
        let place = self.place(id)?;
        change(&mut self.all.lock().unwrap()[place]);
        self.moved.notify_waiters();
        Ok(())
    }

    fn outcome(job: &Job) -> Option<Outcome> {
        match &*job.ends {
            _ if job.cancelled => Some(Err(ErrorObject::internal("it was cancelled"))),
            "sad" => Some(Ok(Raw::of(&json!({"content": [{"type": "text", "text": "no"}], "isError": true})))),
            "fails" => Some(Err(ErrorObject::new(-77, "it fails").with_data(&json!({"deep": [1]})))),
            _ => job.answer.as_ref().map(|answer| Ok(Raw::of(&said(answer)))),
        }
    }

    fn state(&self, id: &str, request: &Request) -> Result<Value, ErrorObject> {
        let (job, core) = (self.job(id)?, core(request));
        let outcome = Self::outcome(&job);
        let status = match &outcome {
            _ if job.cancelled => "cancelled",
            Some(Ok(result)) if core && result.get("isError") == Some(Raw::of(&true)) => "failed",
            Some(Ok(_)) => "completed",
            Some(Err(_)) => "failed",
            None if job.asks => "input_required",
            None => "working",
        };
        let mut state = task(id, status, core);
        match outcome {
            _ if core || job.cancelled => {}
            Some(Ok(result)) => {
                state["result"] = result.read().unwrap();
                state["result"]["resultType"] = json!("complete");
            }
            Some(Err(error)) => {
                state["error"] = json!({"code": error.code, "message": error.message, "data": error.data});
            }
            None if job.asks => {
                let form = question("form", request);
                let request = json!({"method": form.method.as_str(), "params": form.params});
                state["inputRequests"] = json!({"form": request});
            }
            None => {}
        }
        Ok(state)
    }

    pub(crate) async fn task(&self, request: &Request, cx: &Cx) -> Outcome {
        let id = text(&request.params, "taskId");
        match &request.method {
            Method::TasksGet => Ok(Raw::of(&self.state(&id, request)?)),
            Method::TasksCancel => {
                let over = Self::outcome(&self.job(&id)?).is_some();
                if over && core(request) {
                    return Err(ErrorObject::invalid_params("it is over"));
                }
                self.change(&id, |job| job.cancelled |= !over)?;
                Ok(if core(request) { Raw::of(&self.state(&id, request)?) } else { Raw::EMPTY })
            }
            Method::TasksUpdate => {
                let answers = Answers::read(&request.params.get("inputResponses").unwrap_or(Raw::EMPTY));
                self.change(&id, |job| job.answer = Some(shown(answers.iter())))?;
                Ok(Raw::EMPTY)
            }
            Method::TasksList => {
                let count = self.all.lock().unwrap().len();
                let tasks: Result<Vec<_>, _> =
                    (1..=count).map(|one| self.state(&format!("t-{one}"), request)).collect();
                Ok(Raw::of(&json!({"tasks": tasks?})))
            }
            _ => self.result(&id, request, cx).await,
        }
    }

    async fn result(&self, id: &str, request: &Request, cx: &Cx) -> Outcome {
        let related = Raw::of(&json!({RELATED_TASK: {"taskId": id}}));
        let job = self.job(id)?;
        if job.asks && job.answer.is_none() {
            let mut ask = question("form", request);
            ask.params = ask.params.map(|params| params.with(&[("_meta", Some(&related))]));
            let Ok(Reply::Answers(answers)) = cx.ask(Asks::one("form", ask), None).await else { return Ok(Raw::EMPTY) };
            self.change(id, |job| job.answer = Some(shown(answers.iter())))?;
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
