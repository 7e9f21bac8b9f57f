//! What the configured model makes of a request and of the tools, before it is planned.

use std::time::Duration;

use toolbay_agent::planner::{Meanings, Planner};
use toolbay_gateway::embeddings::Settings;

use crate::{meaning, show};

/// How long the tools are waited for that were never encoded before.
const PATIENCE: Duration = Duration::from_secs(5);

/// The planner with what the model makes of both; as it was where there is no model, or none that answers.
pub(super) async fn known(planner: Planner, settings: Option<Settings>, request: &str) -> Planner {
    let Some(embedder) = meaning::embedder(settings) else { return planner };
    let (names, texts): (Vec<_>, Vec<_>) = planner.tools().into_iter().unzip();
    let vectors = embedder.vectors(&texts, PATIENCE).await;
    let asked = planner.texts(request);
    let meaning = embedder.requests(&asked.iter().map(String::as_str).collect::<Vec<_>>()).await;
    if let Some(note) = &meaning.note {
        eprintln!("toolbay: {}", show::safe(note));
    }
    let Some((_, encoder)) = embedder.encoder().filter(|(stamp, _)| *stamp == meaning.stamp) else { return planner };
    let tools = names.into_iter().zip(vectors).filter_map(|(name, vector)| Some((name, vector?))).collect();
    let texts = asked.into_iter().zip(meaning.vectors).collect();
    planner.knowing(Meanings { encoder: (*encoder).clone(), tools, texts })
}
