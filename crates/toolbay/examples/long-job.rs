//! A job that outlives its call: clients that know tasks come back for it, others wait.

use std::time::Duration;

use toolbay::prelude::*;

/// Renders a film, scene by scene.
#[tool(task)]
async fn render(
    /// How many scenes.
    #[arg(range = 1..=100)]
    scenes: u32,
    cx: &Ctx,
) -> String {
    for scene in 1..=scenes {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cx.progress(scene.into()).of(scenes.into()).saying(format!("scene {scene} of {scenes}")).await;
    }
    format!("{scenes} scenes are rendered")
}

#[tokio::main]
async fn main() -> Result<(), toolbay::Error> {
    Server::new("film", "1.0.0").tool(render::tool()).serve(stdio()).await
}
