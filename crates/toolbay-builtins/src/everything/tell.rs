//! What is told during a call: progress, log; and changes of the server's own lists.

use std::time::Duration;

use toolbay::{Ctx, Prompt, Server, Tool};

/// Long enough for a client to see that notes come one by one.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn add(server: Server) -> Server {
    server
        .tool(Tool::new("test_tool_with_logging", "Logs three lines", logging))
        .tool(Tool::new("test_logging_tool", "Logs one line", |cx: Ctx| async move {
            cx.info("a line of log").await;
            "logged"
        }))
        .tool(Tool::new("test_tool_with_progress", "Tells how far it is", progress))
        .tool(Tool::new("test_reconnection", "Lets go of its connection before it answers", reconnection))
        .tool(Tool::new("test_trigger_tool_change", "Changes the list of tools", |cx: Ctx| async move {
            let server = cx.server();
            server.add_tool(Tool::new(PASSING, "Is there for a moment", || async {}));
            server.remove_tool(PASSING);
            "a tool came and went"
        }))
        .tool(Tool::new("test_trigger_prompt_change", "Changes the list of prompts", |cx: Ctx| async move {
            let server = cx.server();
            server.add_prompt(Prompt::new(PASSING, "Is there for a moment", || async { "nothing" }));
            server.remove_prompt(PASSING);
            "a prompt came and went"
        }))
        .tool(Tool::new(
            "test_trigger_resource_update",
            "Tells that the watched resource changed",
            |cx: Ctx| async move {
                cx.server().updated("test://watched-resource");
                "told"
            },
        ))
}

const PASSING: &str = "passing";

async fn logging(cx: Ctx) -> &'static str {
    cx.info("Tool execution started").await;
    tokio::time::sleep(PAUSE).await;
    cx.info("Tool processing data").await;
    tokio::time::sleep(PAUSE).await;
    cx.info("Tool execution completed").await;
    "Tool with logging executed successfully"
}

async fn progress(cx: Ctx) -> &'static str {
    cx.progress(0.0).of(100.0).await;
    tokio::time::sleep(PAUSE).await;
    cx.progress(50.0).of(100.0).saying("half of it").await;
    tokio::time::sleep(PAUSE).await;
    cx.progress(100.0).of(100.0).await;
    "Tool with progress executed successfully"
}

async fn reconnection(cx: Ctx) -> &'static str {
    cx.hang_up(Duration::from_millis(500));
    tokio::time::sleep(Duration::from_millis(100)).await;
    "Reconnection test completed successfully"
}
