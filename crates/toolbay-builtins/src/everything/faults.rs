//! Tools that misbehave, for tests of whoever calls them.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use serde::Deserialize;
use toolbay::{Ctx, JsonSchema, Server, Tool, schemars};

pub(super) fn add(server: Server) -> Server {
    server
        .tool(Tool::new("slow", "Answers after so many milliseconds", |args: Slow| async move {
            tokio::time::sleep(Duration::from_millis(args.ms)).await;
            args.tag
        }))
        .tool(Tool::new("boom", "Panics", || async { boom() }))
        .tool(Tool::new("add_tool", "Adds a tool to the server", |cx: Ctx| async move {
            static COUNT: AtomicU32 = AtomicU32::new(1);
            let name = format!("added_{}", COUNT.fetch_add(1, Ordering::Relaxed));
            let said = format!("{name} was added while the server ran");
            let tool = Tool::new(&*name, "Was added while the server ran", move || std::future::ready(said.clone()));
            cx.server().add_tool(tool);
            name
        }))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Slow {
    /// How long to wait, in milliseconds.
    ms: u64,
    /// What to answer.
    #[serde(default)]
    tag: String,
}

#[expect(clippy::panic, reason = "this is what it is for")]
fn boom() {
    panic!("boom")
}
