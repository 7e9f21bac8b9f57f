//! The client that is tried against foreign servers: it follows a plan (JSON, its only argument) and prints one JSON line
//! for each feature that the plan names.

#![allow(clippy::print_stdout, reason = "this is what it is for")]

use std::{error::Error, future::Future, time::Duration};

use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};
use toolbay::{
    Raw,
    client::command,
    prelude::*,
    protocol::{Revision, watch::Change, watch::Filter},
    types::{CreateMessageResult, Dict, ElicitResult, PromptReference, Reference, Root},
};

type Told = Result<String, Box<dyn Error>>;

/// A feature that does not answer within this is a failure.
const LIMIT: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("the only argument must be a plan")?;
    let plan: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let (send, changes) = mpsc::channel(64);
    let Some(client) = said("connect", connect(&plan, send)).await else { return Ok(()) };
    said("list", list(&client, &plan["list"])).await;
    let each = |feature: &str| plan.get(feature).cloned();
    if let Some(job) = each("call") {
        said("call", call(&client, &job)).await;
    }
    if let Some(job) = each("structured") {
        said("structured", structured(&client, &job)).await;
    }
    if let Some(job) = each("progress") {
        said("progress", progress(&client, &job)).await;
    }
    if let Some(job) = each("cancel") {
        said("cancel", cancel(&client, &job)).await;
    }
    if let Some(job) = each("elicit") {
        said("elicit", call(&client, &job)).await;
    }
    if let Some(job) = each("sample") {
        said("sample", call(&client, &job)).await;
    }
    if let Some(job) = each("read") {
        said("read", read(&client, &job)).await;
    }
    if let Some(job) = each("update") {
        said("update", update(&client, &job, changes)).await;
    }
    if let Some(job) = each("prompt") {
        said("prompt", prompt(&client, &job)).await;
    }
    if let Some(job) = each("complete") {
        said("complete", complete(&client, &job)).await;
    }
    client.close().await;
    println!("{}", json!({"feature": "close", "ok": true, "detail": ""}));
    Ok(())
}

/// Does it, and says how it went.
async fn said<T: ToText>(feature: &str, job: impl Future<Output = Result<T, Box<dyn Error>>>) -> Option<T> {
    let done = timeout(LIMIT, job).await.unwrap_or_else(|_| Err("no answer in time".into()));
    let detail = done.as_ref().map_or_else(|error| error.to_string(), ToText::to_text);
    println!("{}", json!({"feature": feature, "ok": done.is_ok(), "detail": detail}));
    done.ok()
}

/// What is told of a result.
trait ToText {
    fn to_text(&self) -> String;
}

impl ToText for String {
    fn to_text(&self) -> String {
        self.clone()
    }
}

impl ToText for Client {
    fn to_text(&self) -> String {
        self.revision().to_string()
    }
}

async fn connect(plan: &Value, changes: mpsc::Sender<Change>) -> Result<Client, Box<dyn Error>> {
    let content = plan["elicit"]["content"].clone();
    let mut builder = Client::builder("interop", "1.0.0")
        .on_form(move |_| {
            let content = content.clone();
            let fields: Dict<Raw> = content
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| (name.as_str(), Raw::of(value)))
                .collect();
            async move { ElicitResult::accept(fields) }
        })
        .on_sample(|_| async { Ok(CreateMessageResult::text("model", "a sampled answer")) })
        .roots([Root::new("file:///interop")])
        .on_change(move |change| drop(changes.try_send(change)));
    if let Some(revision) = plan["revision"].as_str() {
        builder = builder.revision(Revision::parse(revision).ok_or("no such revision")?);
    }
    if plan["transport"] != "stdio" {
        return Ok(builder.connect(text(plan, "url")).await?);
    }
    let mut words = plan["command"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let program = words.next().ok_or("the plan names no command")?;
    Ok(builder.connect(command(program, words)).await?)
}

async fn list(client: &Client, wanted: &Value) -> Told {
    let tools: Vec<_> = client.tools().all().await?.into_iter().map(|tool| tool.name.to_string()).collect();
    let prompts: Vec<_> = client.prompts().all().await?.into_iter().map(|prompt| prompt.name.to_string()).collect();
    let resources: Vec<_> = client.resources().all().await?.into_iter().map(|one| one.uri.to_string()).collect();
    let templates: Vec<_> =
        client.templates().all().await?.into_iter().map(|one| one.uri_template.to_string()).collect();
    for (kind, names) in
        [("tools", &tools), ("prompts", &prompts), ("resources", &resources), ("templates", &templates)]
    {
        for name in wanted[kind].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !names.iter().any(|known| known == name) {
                return Err(format!("{kind} lack {name}: {names:?}").into());
            }
        }
    }
    Ok(format!(
        "{} tools, {} prompts, {} resources, {} templates",
        tools.len(),
        prompts.len(),
        resources.len(),
        templates.len()
    ))
}

async fn call(client: &Client, job: &Value) -> Told {
    let result = client.call(text(job, "name"), &job["arguments"]).await?;
    if result.failed() {
        return Err(format!("the tool failed: {}", result.texts()).into());
    }
    holds(&result.texts(), job)
}

async fn structured(client: &Client, job: &Value) -> Told {
    let result = client.call(text(job, "name"), &job["arguments"]).await?;
    let content: Value = result.structured_content.as_ref().ok_or("no structured content")?.read()?;
    let wanted = job["equal"].as_object().into_iter().flatten();
    match wanted.into_iter().find(|(name, value)| content[name.as_str()] != **value) {
        None => Ok(content.to_string()),
        Some((name, value)) => Err(format!("{name} is not {value}: {content}").into()),
    }
}

async fn progress(client: &Client, job: &Value) -> Told {
    let mut seen = Vec::new();
    client.call(text(job, "name"), &job["arguments"]).on_progress(|told| seen.push(told.done)).await?;
    let enough = job["steps"].as_u64().is_some_and(|steps| seen.len() as u64 >= steps);
    if enough && seen.is_sorted() { Ok(format!("{seen:?}")) } else { Err(format!("progress was {seen:?}").into()) }
}

/// Takes a long call back; the server goes on serving, and tells that the call was stopped where it can tell.
async fn cancel(client: &Client, job: &Value) -> Told {
    let long = client.call(text(job, "name"), &job["arguments"]);
    if timeout(Duration::from_secs(1), long).await.is_ok() {
        return Err("the long call was over at once".into());
    }
    // The cancellation goes its own way, and the server may hear of it after the next call.
    let mut last = call(client, &job["then"]).await;
    for _ in 0..100 {
        if last.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        last = call(client, &job["then"]).await;
    }
    last
}

async fn read(client: &Client, job: &Value) -> Told {
    let result = client.read(&text(job, "uri")).await?;
    let first = result.contents.first().ok_or("no contents")?;
    holds(first.text.as_deref().unwrap_or_default(), job)
}

async fn update(client: &Client, job: &Value, mut changes: mpsc::Receiver<Change>) -> Told {
    let uri = text(job, "uri");
    let watching = client.watch(Filter::resource(uri.clone())).await?;
    call(client, &job["trigger"]).await?;
    while let Some(change) = changes.recv().await {
        if change == Change::Updated(uri.clone()) {
            drop(watching);
            return Ok(uri);
        }
    }
    Err("nothing was told".into())
}

async fn prompt(client: &Client, job: &Value) -> Told {
    let result = client.prompt(&text(job, "name"), &job["arguments"]).await?;
    holds(result.messages.first().and_then(|message| message.content.as_text()).unwrap_or_default(), job)
}

async fn complete(client: &Client, job: &Value) -> Told {
    let of = Reference::Prompt(PromptReference::new(text(job, "prompt")));
    let found = client.complete(of, &text(job, "argument"), &text(job, "typed"), Dict::default()).await?;
    holds(&found.values.join(" "), job)
}

fn holds(got: &str, job: &Value) -> Told {
    let wanted = job["expect"].as_str().unwrap_or_default();
    if got.contains(wanted) { Ok(got.to_owned()) } else { Err(format!("{got:?} lacks {wanted:?}").into()) }
}

fn text(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}
