//! The client that the official conformance suite drives: the last argument is the server's URL. It does what any host
//! does, list and call, with whatever the scenario gives it.

use serde_json::{Map, Value, json};
use toolbay::{
    client::ClientError,
    prelude::*,
    protocol::Revision,
    types::{self, CreateMessageResult, Dict, ElicitResult, Root},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().next_back().ok_or("the last argument must be the server's URL")?;
    let mut builder = Client::builder("toolbay-conformance", env!("CARGO_PKG_VERSION"))
        .on_form(|form| async move { ElicitResult::accept(content(&form)) })
        .on_sample(|_| async { Ok(CreateMessageResult::text("none", "A sampled answer.")) })
        .roots([Root::new("file:///conformance")]);
    // The newer ones are found without help; an older one is spoken only when it is asked for.
    let asked = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").ok().and_then(|text| Revision::parse(&text));
    if let Some(older @ (Revision::V2025_03_26 | Revision::V2025_06_18)) = asked {
        builder = builder.revision(older);
    }
    let client = builder.connect(url).await?;
    let calls = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str::<Value>(&context)?["toolCalls"].as_array().cloned().unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let tools = if client.capabilities().tools.is_some() { client.tools().all().await? } else { Vec::new() };
    for tool in &tools {
        let given: Vec<&Value> = calls.iter().filter(|call| call["name"] == *tool.name).collect();
        if calls.is_empty() {
            call(&client, &tool.name, &arguments(tool, &tools)).await?;
        }
        for one in given {
            call(&client, &tool.name, &one["arguments"]).await?;
        }
    }
    others(&client).await?;
    client.close().await;
    Ok(())
}

/// A refusal is an answer too.
async fn call(client: &Client, name: &str, arguments: &Value) -> Result<(), ClientError> {
    match client.call(name, arguments).await {
        Ok(_) | Err(ClientError::Refused(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Resources and prompts, where the server has them.
async fn others(client: &Client) -> Result<(), ClientError> {
    let can = client.capabilities();
    if can.resources.is_some() {
        for resource in client.resources().all().await? {
            client.read(&resource.uri).await?;
        }
    }
    if can.prompts.is_some() {
        for prompt in client.prompts().all().await? {
            client.prompt(&prompt.name, &json!({})).await?;
        }
    }
    Ok(())
}

/// Arguments that fit the schema of a tool; a member called `schema` is given the first schema there is.
fn arguments(tool: &types::Tool, tools: &[types::Tool]) -> Value {
    let schema: Value = tool.input_schema.read().unwrap_or_default();
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let fits = |(name, of): (String, Value)| {
        let value = match of["type"].as_str() {
            Some("number" | "integer") => json!(3),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") if name == "schema" => tools[0].input_schema.read().unwrap_or_default(),
            Some("object") => json!({}),
            _ => json!("text"),
        };
        required.contains(&name.as_str()).then_some((name, value))
    };
    properties.into_iter().filter_map(fits).collect::<Map<_, _>>().into()
}

/// What must be filled in and has no default.
fn content(form: &types::ElicitFormParams) -> Dict<toolbay::Raw> {
    let schema: Value = form.requested_schema.read().unwrap_or_default();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let wanted =
        required.iter().filter_map(Value::as_str).filter(|name| schema["properties"][name].get("default").is_none());
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("boolean") => json!(true),
        Some("number" | "integer") => json!(1),
        _ => json!("text"),
    };
    wanted.map(|name| (name, toolbay::Raw::of(&value(name)))).collect()
}
