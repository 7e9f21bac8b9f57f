//! The client that is played direct and through the gateway: it follows a plan (JSON, its only argument) and prints one
//! JSON line for each feature, with all that it heard. It judges nothing.

#![allow(clippy::print_stdout, reason = "this is what it is for")]

use std::{
    error::Error,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{sync::Notify, time::timeout};
use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw, Revision,
    exchange::{Answers, Ask, Note, Outcome, Return, Standing, Step, Wishes},
    greeting::Introduction,
    peer::Call,
    watch::{Change, Filter},
};
use toolbay_transport::{
    Approach, Connection, Listener, connect,
    http::client::{self, Mode, Target},
    stdio::child::ServerCommand,
};

/// A feature that does not answer within this is one that never ends.
const LIMIT: Duration = Duration::from_secs(20);

type Heard = Result<Value, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("the only argument must be a plan")?;
    let plan: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let player = Player::connect(&plan).await?;
    let meeting = player.connection.meeting();
    println!("{}", json!({"feature": "connect", "heard": meeting.revision.as_str()}));
    let declares = meeting.profile.declares(&["logging"]);
    if declares && meeting.revision.has(Feature::Handshake) {
        player.follow(Method::SetLevel, json!({"level": player.level})).await?;
    }
    for job in plan["script"].as_array().into_iter().flatten() {
        let heard = match timeout(LIMIT, player.play(job)).await {
            Ok(Ok(heard)) => heard,
            Ok(Err(error)) => json!({"broken": error.to_string()}),
            Err(_) => json!({"broken": "it never ends"}),
        };
        println!("{}", json!({"feature": job["feature"], "heard": heard}));
    }
    player.connection.close().await;
    Ok(())
}

/// A connected client.
struct Player {
    connection: Connection,
    /// What stands before public names.
    prefix: String,
    /// From which level on lines of log are wanted.
    level: String,
    ears: Arc<Ears>,
}

/// What is heard beside calls.
#[derive(Default)]
struct Ears {
    changes: Mutex<Vec<Change>>,
    notes: Mutex<Vec<Note>>,
    told: Notify,
}

impl Listener for Ears {
    fn changed(&self, change: Change) {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).push(change);
        self.told.notify_one();
    }

    fn noted(&self, note: Note) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
        self.told.notify_one();
    }

    /// Many servers ask for the roots as soon as they can.
    fn asked(&self, ask: Ask) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(async move {
            match ask.method {
                Method::RootsList => Ok(answer(&ask)),
                other => Err(ErrorObject::internal(format!("{other} belongs to no call"))),
            }
        })
    }
}

impl Player {
    async fn connect(plan: &Value) -> Result<Self, Box<dyn Error>> {
        let revision = plan["revision"].as_str().map(|text| Revision::parse(text).ok_or("no such revision"));
        let revision = revision.transpose()?;
        let capabilities = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
        let newest = revision.unwrap_or(Revision::LATEST);
        let us = Introduction { capabilities: Raw::of(&capabilities), ..Introduction::anonymous(newest) };
        let ears = Arc::<Ears>::default();
        let mut approach = Approach::new(us).heard_by(Arc::clone(&ears) as Arc<dyn Listener>);
        approach.revision = revision;
        let connection = if plan["transport"] == "stdio" {
            let mut words = plan["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let program = words.next().ok_or("the plan names no command")?;
            connect::child(ServerCommand::new(program).args(words.map(str::to_owned)), approach).await?
        } else {
            let mode = if plan["transport"] == "sse" { Mode::LegacySse } else { Mode::Auto };
            let url = plan["url"].as_str().ok_or("the plan names no URL")?.parse()?;
            client::connect(Target { mode, ..Target::new(url) }, approach).await?
        };
        let text = |key: &str| plan[key].as_str().unwrap_or_default().to_owned();
        Ok(Self { connection, prefix: text("prefix"), level: text("level"), ears })
    }

    async fn play(&self, job: &Value) -> Heard {
        if let Some(method) = job["list"].as_str() {
            return self.list(&Method::parse(method)).await;
        }
        if let Some(calls) = job["calls"].as_array() {
            let mut heard = vec![];
            for call in calls {
                heard.push(self.call(call).await?);
            }
            return Ok(heard.into());
        }
        for (key, value) in job.as_object().into_iter().flatten() {
            match key.as_str() {
                "cancel" => return self.cancel(value).await,
                "watch" => return self.watch(value).await,
                "outside" => return self.outside(value).await,
                "task" => return self.task(value).await,
                _ => {}
            }
        }
        Err("the plan is not understood".into())
    }

    /// Calls what is named without the prefix, `[method, params]`.
    async fn call(&self, call: &Value) -> Heard {
        let (method, params) = self.named(call);
        self.follow(method, params).await
    }

    fn named(&self, call: &Value) -> (Method, Value) {
        let (method, mut params) = (Method::parse(call[0].as_str().unwrap_or_default()), call[1].clone());
        let place = if method == Method::Complete { &mut params["ref"] } else { &mut params };
        let named = matches!(method, Method::ToolsCall | Method::PromptsGet | Method::Complete);
        if let Some(name) = place.get_mut("name").filter(|_| named) {
            *name = json!(format!("{}{}", self.prefix, name.as_str().unwrap_or_default()));
        }
        (method, params)
    }

    /// A whole list, under the server's own names.
    async fn list(&self, method: &Method) -> Heard {
        let (mut items, mut cursor) = (vec![], Value::Null);
        let last = loop {
            let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
            let mut page = self.follow(method.clone(), params).await?;
            let Some(result) = page["outcome"].as_object_mut() else { break page };
            for (_, list) in
                result.iter_mut().filter(|(key, _)| key.starts_with(['t', 'p', 'r']) && *key != "resultType")
            {
                items.extend(list.take().as_array().into_iter().flatten().cloned());
            }
            cursor = result.remove("nextCursor").unwrap_or_default();
            if cursor.is_null() {
                break page;
            }
        };
        for item in &mut items {
            if let Some(name) = item["name"].as_str().and_then(|name| name.strip_prefix(&self.prefix)) {
                item["name"] = json!(name);
            }
        }
        items.sort_by_key(|item| format!("{}{}", item["uri"], item["name"]));
        Ok(json!({"items": items, "page": last}))
    }

    /// Takes a call back once it said something, and goes on when the server knows.
    async fn cancel(&self, job: &Value) -> Heard {
        let before = self.call(&job["then"]).await?;
        let (method, params) = self.named(&job["call"]);
        let call = Call { wishes: Wishes::progress(), ..Call::new(method, Some(Raw::of(&params))) };
        let mut running = self.connection.call(call).await?;
        loop {
            match running.step().await? {
                Step::Note(_) => break,
                Step::Away(_) | Step::Withdrawn(_) => {}
                Step::Ask(asks) => {
                    let answers = asks.iter().map(|(key, ask)| (key.to_owned(), Ok(answer(ask)))).collect();
                    running.answer(answers).await?;
                }
                Step::Done(outcome) => return Err(format!("it ends before it says anything: {outcome:?}").into()),
            }
        }
        drop(running);
        loop {
            let after = self.call(&job["then"]).await?;
            if job["counts"] != true || after != before {
                return Ok(
                    json!({"stopped": job["counts"] == true, "then": if job["counts"] == true { Value::Null } else { after }}),
                );
            }
            tokio::task::yield_now().await;
        }
    }

    async fn watch(&self, job: &Value) -> Heard {
        let uri = job["uri"].as_str().ok_or("the plan names no URI")?;
        let subscription = self.connection.subscribe(Filter::resource(uri)).await?;
        let honoured = subscription.filter().uris.len();
        let said = self.call(&job["trigger"]).await?;
        let updated = Change::Updated(uri.to_owned());
        let told =
            self.hear(|ears| ears.changes.lock().unwrap_or_else(PoisonError::into_inner).contains(&updated)).await;
        if job["off"].is_array() {
            self.call(&job["off"]).await?;
        }
        drop(subscription);
        Ok(json!({"honoured": honoured, "said": said, "told": told}))
    }

    /// Lines of log that belong to no call: whether any came.
    async fn outside(&self, job: &Value) -> Heard {
        let sessions = self.connection.meeting().revision.has(Feature::Handshake);
        let said = self.call(&job["trigger"]).await?;
        let line = |ears: &Ears| {
            ears.notes.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|note| note.method == Method::Message)
        };
        let during = said["notes"].as_array().is_some_and(|notes| !notes.is_empty());
        let told = during || (sessions && self.hear(line).await);
        self.call(&job["off"]).await?;
        Ok(json!({"outcome": said["outcome"], "told": told}))
    }

    async fn hear(&self, what: impl Fn(&Ears) -> bool) -> bool {
        let heard = async {
            while !what(&self.ears) {
                self.ears.told.notified().await;
            }
        };
        timeout(Duration::from_secs(10), heard).await.is_ok()
    }

    /// The result of a tool that runs as a task alone: begun as one where the revision has them, else called like any other.
    async fn task(&self, job: &Value) -> Heard {
        let (method, mut params) = self.named(job);
        if !self.connection.meeting().revision.has(Feature::CoreTasks) {
            return self.follow(method, params).await;
        }
        params["task"] = json!({"ttl": 60_000});
        let begun = self.follow(method, params).await?;
        let id = begun["outcome"]["task"]["taskId"].clone();
        if !id.is_string() {
            return Ok(begun);
        }
        let result = self.follow(Method::TasksResult, json!({"taskId": id})).await?;
        let state = self.follow(Method::TasksGet, json!({"taskId": id})).await?;
        Ok(json!({"begun": begun["outcome"]["task"]["status"], "result": result, "state": state["outcome"]["status"]}))
    }

    /// Calls and answers every question; everything that was heard.
    async fn follow(&self, method: Method, params: Value) -> Heard {
        let wishes = Wishes { log_level: Some(self.level.as_str().into()), ..Wishes::progress() };
        let mut call = Call { wishes, ..Call::new(method, Some(Raw::of(&params))) };
        let (mut notes, mut asked) = (vec![], vec![]);
        loop {
            let again = call.clone();
            let mut running = self.connection.call(call).await?;
            let returning = loop {
                match running.step().await? {
                    Step::Note(note) => {
                        let params = note.params.map(|params| params.with(&[("progressToken", None)]));
                        notes.push(json!([note.method.as_str(), params.map_or(Value::Null, |params| value(&params))]));
                    }
                    Step::Ask(asks) => {
                        asked.extend(asks.iter().map(|(_, ask)| {
                            json!([ask.method.as_str(), ask.params.as_ref().map_or(json!({}), value)])
                        }));
                        let answers: Answers =
                            asks.iter().map(|(key, ask)| (key.to_owned(), Ok(answer(ask)))).collect();
                        match asks.standing() {
                            Standing::Open => running.answer(answers).await?,
                            Standing::Over(state) => break Return { answers: Some(answers), state: state.clone() },
                        }
                    }
                    // By which stream an answer comes is not compared, nor which call carries a question that belongs to none,
                    // and is taken back where that call ends first.
                    Step::Away(_) | Step::Withdrawn(_) => {}
                    Step::Done(outcome) => {
                        return Ok(json!({"notes": notes, "asked": asked, "outcome": shown(outcome)}));
                    }
                }
            };
            call = Call { returning, ..again };
        }
    }
}

fn shown(outcome: Outcome) -> Value {
    match outcome {
        Ok(result) => value(&result),
        Err(error) => json!({"code": error.code, "message": error.message, "data": error.data}),
    }
}

fn value(raw: &Raw) -> Value {
    raw.read().unwrap_or_else(|error| json!({"broken": error.to_string()}))
}

fn answer(ask: &Ask) -> Raw {
    let page = ask.params.as_ref().is_some_and(|params| params.get("url").is_some());
    Raw::of(&match ask.method {
        Method::RootsList => json!({"roots": [{"uri": "file:///harbour", "name": "harbour"}]}),
        Method::CreateMessage => {
            json!({"role": "assistant", "content": {"type": "text", "text": "42"}, "model": "m", "stopReason": "endTurn"})
        }
        _ if page => json!({"action": "accept"}),
        _ => json!({"action": "accept", "content": filled(ask)}),
    })
}

/// What a form must have, filled in.
fn filled(ask: &Ask) -> Value {
    let schema = ask.params.as_ref().and_then(|params| params.get("requestedSchema")).map(|schema| value(&schema));
    let schema = schema.unwrap_or_default();
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut content: serde_json::Map<_, _> = required
        .map(|name| {
            let property = &schema["properties"][name];
            let filled = match (property["enum"].get(0), property["type"].as_str()) {
                (Some(first), _) => first.clone(),
                (None, Some("boolean")) => json!(true),
                (None, Some("integer" | "number")) => property.get("minimum").cloned().unwrap_or(json!(1)),
                (None, _) => json!("Ada"),
            };
            (name.to_owned(), filled)
        })
        .collect();
    if content.is_empty() {
        content.insert("name".into(), json!("Ada"));
    }
    content.into()
}
