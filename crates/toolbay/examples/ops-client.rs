//! Asks `ops-demo` for its orders and its policy: the program and its arguments are ours.

#![allow(clippy::print_stdout, reason = "this is what it is for")]

use serde_json::json;
use toolbay::{client::command, prelude::*};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let program = args.next().ok_or("say how the server is started: PROGRAM ARGUMENTS…")?;
    let client = Client::connect(command(program, args)).await?;
    let mut tools = client.tools();
    while let Some(tool) = tools.next().await {
        let tool = tool?;
        println!("{}: {}", tool.name, tool.description.unwrap_or_default());
    }
    let orders = client.call("query_orders", &json!({"status": "pending", "limit": 2})).await?;
    println!("{}", orders.texts());
    let policy = client.read("file://policy/order-policy.md").await?;
    println!("{}", policy.contents[0].text.as_deref().unwrap_or_default());
    let report = client.prompt("weekly_report", &json!({"week": "2026-W48"})).await?;
    println!("{}", report.messages[0].content.as_text().unwrap_or_default());
    client.close().await;
    Ok(())
}
