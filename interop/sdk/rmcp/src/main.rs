//! The Rust SDK `rmcp` as a client of our server: it follows a plan (JSON, its only argument) and prints one JSON line for
//! each feature that the plan names.

#![allow(deprecated, reason = "what the newest revision deprecates is tried too")]

use std::{error::Error, future::Future, time::Duration};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientInfo, ClientRequest,
        CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction,
        GetPromptRequestParams, Implementation, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
        ResourceUpdatedNotificationParam, SamplingMessage, ServerNotification, SubscribeRequestParams,
        SubscriptionFilter,
    },
    service::{
        ClientLifecycleMode, NotificationContext, PeerRequestOptions, RequestContext, RunningService,
        serve_client_with_lifecycle,
    },
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

type Told = Result<String, Box<dyn Error>>;

const LIMIT: Duration = Duration::from_secs(60);

struct Hand {
    content: Value,
    progress: mpsc::UnboundedSender<f64>,
    updates: mpsc::UnboundedSender<String>,
}

impl ClientHandler for Hand {
    fn get_info(&self) -> ClientInfo {
        let can: ClientCapabilities =
            serde_json::from_value(json!({"elicitation": {"form": {}}, "sampling": {}})).expect("capabilities");
        ClientInfo::new(can, Implementation::new("interop-rmcp", "1.0.0"))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("a sampled answer"), "model".to_owned()))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(self.content.clone()))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.progress.send(params.progress);
    }

    async fn on_resource_updated(&self, params: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.updates.send(params.uri);
    }
}

type Client = RunningService<RoleClient, Hand>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("the only argument must be a plan")?;
    let plan: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let ((progress, mut steps), (updates, mut told)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    let hand = Hand { content: plan["elicit"]["content"].clone(), progress, updates };
    let client = match timeout(LIMIT, connect(&plan, hand)).await {
        Ok(Ok(client)) => client,
        Ok(Err(error)) => return Ok(say("connect", Err(error))),
        Err(_) => return Ok(say("connect", Err("no answer in time".into()))),
    };
    let revision = client.peer_info().map(|info| info.protocol_version.to_string()).unwrap_or_default();
    say("connect", Ok(revision.clone()));
    said("list", list(&client, &plan["list"])).await;
    said("call", call(&client, &plan["call"])).await;
    said("structured", structured(&client, &plan["structured"])).await;
    said("progress", async {
        call(&client, &plan["progress"]).await?;
        // What was told goes its own way here, and may come after the answer.
        let mut seen = Vec::new();
        while plan["progress"]["steps"].as_u64().is_none_or(|steps| (seen.len() as u64) < steps) {
            seen.push(steps.recv().await.ok_or_else(|| format!("progress was {seen:?}"))?);
        }
        if seen.is_sorted() { Ok(format!("{seen:?}")) } else { Err(format!("progress was {seen:?}").into()) }
    })
    .await;
    said("cancel", cancel(&client, &plan["cancel"])).await;
    said("elicit", call(&client, &plan["elicit"])).await;
    said("sample", call(&client, &plan["sample"])).await;
    said("read", read(&client, &plan["read"])).await;
    said("update", update(&client, &plan["update"], &mut told, revision.as_str() > "2026")).await;
    said("prompt", prompt(&client, &plan["prompt"])).await;
    let job = &plan["complete"];
    said("complete", async {
        let found =
            client.complete_prompt_argument(text(job, "prompt"), text(job, "argument"), text(job, "typed"), None);
        holds(&found.await?.values.join(" "), job)
    })
    .await;
    said("close", async { Ok(format!("{:?}", client.cancel().await?)) }).await;
    Ok(())
}

fn say(feature: &str, told: Told) {
    let detail = match &told {
        Ok(detail) => detail.clone(),
        Err(error) => error.to_string(),
    };
    println!("{}", json!({"feature": feature, "ok": told.is_ok(), "detail": detail}));
}

async fn said(feature: &str, job: impl Future<Output = Told>) {
    say(feature, timeout(LIMIT, job).await.unwrap_or_else(|_| Err("no answer in time".into())));
}

async fn connect(plan: &Value, hand: Hand) -> Result<Client, Box<dyn Error>> {
    let mode = if plan["mode"] == "legacy" {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None }
    };
    if plan["transport"] != "stdio" {
        let transport = StreamableHttpClientTransport::from_uri(text(plan, "url"));
        return Ok(serve_client_with_lifecycle(hand, transport, mode).await?);
    }
    let mut words = plan["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut command = tokio::process::Command::new(words.next().ok_or("the plan names no command")?);
    command.args(words);
    Ok(serve_client_with_lifecycle(hand, TokioChildProcess::new(command)?, mode).await?)
}

async fn list(client: &Client, wanted: &Value) -> Told {
    let names = json!({
        "tools": client.list_all_tools().await?.iter().map(|one| one.name.to_string()).collect::<Vec<_>>(),
        "prompts": client.list_all_prompts().await?.iter().map(|one| one.name.clone()).collect::<Vec<_>>(),
        "resources": client.list_all_resources().await?.iter().map(|one| one.uri.clone()).collect::<Vec<_>>(),
        "templates": client.list_all_resource_templates().await?.iter().map(|one| one.uri_template.clone()).collect::<Vec<_>>(),
    });
    for (kind, names) in names.as_object().into_iter().flatten() {
        let known = names.as_array().into_iter().flatten().collect::<Vec<_>>();
        if let Some(missing) = wanted[kind].as_array().into_iter().flatten().find(|name| !known.contains(name)) {
            return Err(format!("{kind} lack {missing}").into());
        }
    }
    Ok("all there".to_owned())
}

fn params(job: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(text(job, "name"))
        .with_arguments(job["arguments"].as_object().cloned().unwrap_or_default())
}

fn words(result: &CallToolResult) -> String {
    result
        .content
        .iter()
        .filter_map(|block| block.as_text())
        .map(|text| text.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

async fn call(client: &Client, job: &Value) -> Told {
    let result = client.call_tool(params(job)).await?;
    if result.is_error == Some(true) {
        return Err(format!("the tool failed: {}", words(&result)).into());
    }
    holds(&words(&result), job)
}

async fn structured(client: &Client, job: &Value) -> Told {
    let content = client.call_tool(params(job)).await?.structured_content.ok_or("no structured content")?;
    match job["equal"].as_object().into_iter().flatten().find(|(name, value)| content[name.as_str()] != **value) {
        None => Ok(content.to_string()),
        Some((name, value)) => Err(format!("{name} is not {value}: {content}").into()),
    }
}

async fn cancel(client: &Client, job: &Value) -> Told {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params(job)));
    let handle = client.send_cancellable_request(request, PeerRequestOptions::default()).await?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    handle.cancel(Some("interop".to_owned())).await?;
    call(client, &job["then"]).await
}

async fn read(client: &Client, job: &Value) -> Told {
    let result = client.read_resource(ReadResourceRequestParams::new(text(job, "uri"))).await?;
    holds(serde_json::to_value(&result.contents)?[0]["text"].as_str().unwrap_or_default(), job)
}

async fn update(client: &Client, job: &Value, told: &mut mpsc::UnboundedReceiver<String>, modern: bool) -> Told {
    let uri = text(job, "uri");
    if !modern {
        client.subscribe(SubscribeRequestParams::new(uri.clone())).await?;
        call(client, &job["trigger"]).await?;
        while told.recv().await.ok_or("nothing was told")? != uri {}
        return Ok(uri);
    }
    let mut filter = SubscriptionFilter::new();
    filter.resource_subscriptions = Some(vec![uri.clone()]);
    let mut watching = client.listen(filter).await?;
    call(client, &job["trigger"]).await?;
    while let Some(note) = watching.next().await? {
        if let ServerNotification::ResourceUpdatedNotification(note) = note
            && note.params.uri == uri
        {
            watching.cancel().await?;
            return Ok(uri);
        }
    }
    Err("the subscription ended without a word".into())
}

async fn prompt(client: &Client, job: &Value) -> Told {
    let params = GetPromptRequestParams::new(text(job, "name"))
        .with_arguments(job["arguments"].as_object().cloned().unwrap_or_default());
    let result = serde_json::to_value(client.get_prompt(params).await?)?;
    holds(result["messages"][0]["content"]["text"].as_str().unwrap_or_default(), job)
}

fn holds(got: &str, job: &Value) -> Told {
    let wanted = job["expect"].as_str().unwrap_or_default();
    if got.contains(wanted) { Ok(got.to_owned()) } else { Err(format!("{got:?} lacks {wanted:?}").into()) }
}

fn text(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}
