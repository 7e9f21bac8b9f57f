//! The embedding endpoint of a configuration, where a command is to ask one.

use std::{path::Path, sync::Arc};

use toolbay_gateway::{
    config::{Surroundings, System},
    embeddings::{Embedder, Settings},
};

use crate::show;

/// Asks by these settings, and keeps vectors among what the user's programs can make anew. One that cannot be used is told of.
pub(crate) fn embedder(settings: Option<Settings>) -> Option<Embedder> {
    let settings = settings?;
    let variable = |name: &str| std::env::var(name).ok();
    let around = Surroundings { folder: Path::new("/"), system: System::here(), variable: &variable };
    let folder = around.cache_folder().map(|folder| folder.join("embeddings"));
    let begun = Embedder::start(settings, folder.as_deref(), Arc::new(say));
    begun.inspect_err(|why| say(&format!("tools are found by words alone: {why}"))).ok()
}

fn say(what: &str) {
    eprintln!("{}", show::dim(&format!("embeddings: {}", show::safe(what))));
}
