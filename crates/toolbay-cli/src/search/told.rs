//! What `find` and `get` share: where is looked, and what was found in words.

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use serde_json::{Value, json};
use toolbay_gateway::{
    config::{self, Choice, Loaded, Surroundings, System},
    registry::{
        Registry,
        acquire::{Acquirer, Offer, Outcome},
        fetch,
        plan::{Means, Plan, Secrecy},
    },
};

use super::args::Sources;
use crate::{exit::Exit, meaning, show};

/// A search that can be asked, and the file that what is found is added to.
pub(super) struct Search {
    pub(super) acquirer: Acquirer,
    pub(super) registry: Registry,
}

impl Search {
    /// Looks where the command line says, else where the configuration does.
    pub(super) fn by(sources: &Sources) -> Result<Self, Exit> {
        let gone = |error| Exit::config(format!("the current folder is gone: {error}"));
        let here = std::env::current_dir().map_err(gone)?;
        let variable = |name: &str| std::env::var(name).ok();
        let around = Surroundings { folder: &here, system: System::here(), variable: &variable };
        // A file to be made is no file to be read.
        let named = sources.config.clone().filter(|file| here.join(file).exists());
        let made = sources.config.clone().unwrap_or_else(|| PathBuf::from("toolbay.json"));
        let loaded = match (&sources.config, named) {
            (Some(_), None) => Loaded { config: config::Running::default(), warnings: vec![], file: None },
            (_, Some(file)) => load(&Choice::Named(file), &around)?,
            (None, None) => load(&Choice::Usual, &around)?,
        };
        let registry = Registry::at(here.join(loaded.file.unwrap_or(made)));
        let (mut settings, embeddings) = (loaded.config.acquire, loaded.config.embeddings);
        if !sources.sources.is_empty() {
            settings.sources.clone_from(&sources.sources);
        }
        let cache = around.cache_folder().map(|folder| folder.join("registries"));
        let clock = Arc::new(SystemTime::now);
        let acquirer = Acquirer::start(settings, fetch::over_http(), clock, registry.clone(), cache);
        acquirer.embed_by(meaning::embedder(embeddings));
        Ok(Self { acquirer, registry })
    }
}

fn load(choice: &Choice, around: &Surroundings<'_>) -> Result<Loaded, Exit> {
    config::load(choice, around).map_err(|error| Exit::config(error.to_string()))
}

/// What went wrong on the way, for people.
pub(super) fn remark(remarks: &[String]) {
    for remark in remarks {
        eprintln!("{}", show::dim(&show::safe(remark)));
    }
}

/// How a server would be reached, in a word or two.
pub(super) fn way(offer: &Offer) -> String {
    match &offer.outcome {
        Outcome::Known { name } | Outcome::Added { name, .. } => format!("here as {name}"),
        Outcome::Unreachable(_) => "-".into(),
        Outcome::Planned(plan) => match &plan.means {
            Means::Remote { .. } => "remote".into(),
            Means::Program { kind, .. } => format!("program ({kind})"),
        },
    }
}

/// An offer for machines.
pub(super) fn as_json(offer: &Offer) -> Value {
    let outcome = match &offer.outcome {
        Outcome::Added { name, .. } => json!({"state": "added", "tool": name}),
        Outcome::Known { name } => json!({"state": "known", "tool": name}),
        Outcome::Unreachable(why) => json!({"state": "unreachable", "reason": why}),
        Outcome::Planned(plan) => json!({"state": "planned", "plan": plan_json(plan)}),
    };
    json!({
        "name": offer.listing.name, "title": offer.listing.title, "description": offer.listing.description,
        "version": offer.listing.version, "source": offer.source, "score": offer.score, "outcome": outcome,
    })
}

/// A plan for machines.
pub(super) fn plan_json(plan: &Plan) -> Value {
    let means = match &plan.means {
        Means::Remote { url } => json!({"kind": "remote", "url": url}),
        Means::Program { argv, kind, package, version } => {
            json!({"kind": kind, "command": argv, "package": package, "version": version})
        }
    };
    let wanted = plan.wanted.iter().map(|wanted| {
        json!({"variable": wanted.variable, "description": wanted.description, "secret": wanted.secrecy == Secrecy::Secret})
    });
    json!({"means": means, "wanted": wanted.collect::<Vec<_>>(), "entry": plan.entry.to_value()})
}

/// A plan for people: what runs or is called, whose it is, what has to be given.
pub(super) fn plan_text(offer: &Offer, plan: &Plan) -> String {
    let listing = &offer.listing;
    let mut lines = vec![
        format!("{} {} from {}", listing.name, listing.version, offer.source),
        show::headline(&listing.description, 100),
    ];
    if let Some(repository) = &listing.repository {
        lines.push(format!("  source      {repository}"));
    }
    match &plan.means {
        Means::Remote { url } => lines.push(format!("  requests to {url}")),
        Means::Program { argv, kind, package, version } => {
            let version = if version.is_empty() { "no version: whatever is newest" } else { version };
            lines.push(format!("  package     {package} ({kind}), {version}"));
            lines.push(format!("  runs here   {}", argv.join(" ")));
        }
    }
    for wanted in &plan.wanted {
        let secret = if wanted.secrecy == Secrecy::Secret { " (secret)" } else { "" };
        lines.push(format!("  wants       {}{secret}  {}", wanted.variable, show::headline(&wanted.description, 60)));
    }
    show::safe(&lines.join("\n"))
}
