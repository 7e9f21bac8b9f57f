//! Calls that outlive their request.

use std::time::Duration;

use serde::Deserialize;
use toolbay::{Ctx, ErrorObject, JsonSchema, Result, Server, Tool, ToolError, ok, schemars};

pub(super) fn add(server: Server) -> Server {
    server
        .tool(Tool::new("greet", "Greets, at once", |args: Name| async move { format!("Hello, {}!", args.name) }))
        .tool(Tool::new("slow_compute", "Computes for so many seconds, as a task", slow).task())
        .tool(
            Tool::new("failing_job", "Fails after a second, as a task", || async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Err::<(), _>(ToolError::new("the job failed, as it always does"))
            })
            .only_as_task(),
        )
        .tool(
            Tool::new("protocol_error_job", "Ends in an error of the protocol, as a task", || async {
                Err::<(), _>(ErrorObject::internal("the job broke down, as it always does"))
            })
            .task(),
        )
        .tool(
            Tool::new("confirm_delete", "Asks before it deletes, as a task", |args: File, cx: Ctx| async move {
                let answer: Confirmation = cx.ask("confirm", format!("Delete {}?", args.filename)).await?;
                ok(if answer.confirm { format!("{} is deleted", args.filename) } else { "nothing is deleted".into() })
            })
            .task(),
        )
        .tool(Tool::new("multi_input", "Asks two things at once, as a task", two).task())
        .tool(
            Tool::new("test_tool_with_task", "Asks for a name, then goes on as a task", |cx: Ctx| async move {
                let name: Name = cx.ask("user_name", "What is your name?").await?;
                cx.into_task().await?;
                tokio::time::sleep(Duration::from_millis(200)).await;
                ok(format!("Hello, {}!", name.name))
            })
            .only_as_task()
            .task_when_asked(),
        )
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Name {
    /// Whom to greet.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Slow {
    /// How long it takes.
    #[serde(default)]
    seconds: f64,
    /// What to call it.
    #[serde(default)]
    label: String,
}

async fn slow(args: Slow, cx: Ctx) -> Result<String> {
    let time = Duration::try_from_secs_f64(args.seconds.clamp(0.0, 3600.0)).unwrap_or_default();
    cx.progress(0.0).of(1.0).saying("computing").await;
    tokio::time::sleep(time).await;
    Ok(format!("computed {} in {} s", args.label, args.seconds))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct File {
    /// Which file.
    #[serde(default)]
    filename: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Confirmation {
    /// Go on.
    #[serde(default)]
    confirm: bool,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Answer {
    /// Anything.
    #[serde(default)]
    value: String,
}

async fn two(cx: Ctx) -> Result<String> {
    let (first, second) = tokio::try_join!(cx.ask::<Answer>("first", "One?"), cx.ask::<Answer>("second", "Two?"))?;
    Ok(format!("first: {}, second: {}", first.value, second.value))
}
