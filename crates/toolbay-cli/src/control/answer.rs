//! What an `up` that runs knows and does when it is asked.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use toolbay_gateway::{
    Bay, Change, What,
    config::{self, nearest},
    embeddings::Embedded,
    limits::Effect,
    meta::{Exposed, Exposure},
    metrics::Counted,
    registry::hot::Hot,
    servers::{Lines, Phase, Status},
};

use crate::{
    target::{self, Configured},
    tool::{self, Act, Refusal},
    up::{Acquiring, Embedding, event},
};

/// One that runs.
pub(crate) struct House {
    pub(crate) bay: Bay,
    /// The configuration as it was named, where it was.
    pub(crate) named: Option<PathBuf>,
    /// The file that was read.
    pub(crate) file: Option<PathBuf>,
    /// Whom to tell what happens, as the file had it at the start.
    pub(crate) told: config::Telemetry,
    /// Keeps the bay to the tool entries of the file, where there is one.
    pub(crate) hot: Option<Hot>,
    /// Whether agents may look for servers that are not there.
    pub(crate) acquiring: Acquiring,
    /// Which embedding endpoint is asked.
    pub(crate) embedding: Embedding,
    pub(crate) endpoint: Option<String>,
    pub(crate) begun: Instant,
}

impl House {
    /// How it does.
    pub(crate) fn status(&self) -> Value {
        let (bay, counted) = (&self.bay, self.bay.counted());
        let reports = bay.reports();
        let server = |status: Status| {
            let notes: Vec<_> =
                reports.iter().filter(|report| report.server == status.server).map(|report| &report.what).collect();
            let mut all = about(&status);
            all["notes"] = json!(notes);
            all
        };
        json!({
            "pid": std::process::id(),
            "version": env!("CARGO_PKG_VERSION"),
            "seconds": self.begun.elapsed().as_secs(),
            "config": self.file,
            "configFault": self.hot.as_ref().and_then(Hot::fault),
            "endpoint": self.endpoint,
            "ready": bay.readiness().ready,
            "sessions": bay.sessions(),
            "parkedCalls": bay.parked_calls(),
            "exposed": exposed(&bay.exposed()),
            "embeddings": bay.embedded().as_ref().map(embedded),
            "requests": outcomes(&counted),
            "servers": bay.status().into_iter().map(server).collect::<Vec<_>>(),
        })
    }

    /// The lines of a server after so many.
    pub(crate) fn lines(&self, server: &str, after: u64) -> Result<Lines, String> {
        self.bay.lines_after(server, after).ok_or_else(|| {
            let all = self.bay.status();
            let near = nearest(server, all.iter().map(|status| &*status.server));
            let hint = match near {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!(
                    "there are {}",
                    all.iter().map(|status| format!("{:?}", status.server)).collect::<Vec<_>>().join(", ")
                ),
            };
            format!("there is no server {server:?}; {hint}")
        })
    }

    /// Does something to the registry, and waits until it is so.
    pub(crate) async fn tool(&self, act: Act) -> Result<Value, Refusal> {
        let Some(hot) = &self.hot else {
            let what = "it runs without a configuration file: write a toolbay.json and start it again".into();
            return Err(Refusal { code: 3, what });
        };
        Ok(hot.change(move |registry| tool::perform(registry, &act)).await?)
    }

    /// Reads the configuration anew and takes it on; a file that cannot be used changes nothing.
    pub(crate) fn reload(&self) -> Result<Vec<Value>, String> {
        let Configured { specs, limits, telemetry, expose, acquire, embeddings, .. } =
            target::configured(self.named.as_deref()).map_err(|exit| format!("nothing was changed: {exit}"))?;
        let mut changes: Vec<_> = self.bay.reload(specs, limits).iter().map(change).collect();
        let fields = self.told.differing(&telemetry);
        if !fields.is_empty() {
            let late = |key: &str| json!({"field": key, "effect": Effect::NextStart.word()});
            let fields: Vec<_> = fields.into_iter().map(late).collect();
            changes.insert(0, json!({"server": null, "whose": "telemetry", "change": "adjusted", "fields": fields}));
        }
        let live = |keys: Vec<&str>| {
            let field = |key: &str| json!({"field": key, "effect": Effect::Live.word()});
            keys.into_iter().map(field).collect::<Vec<_>>()
        };
        let exposed = live(self.bay.expose(expose));
        if !exposed.is_empty() {
            changes.insert(0, json!({"server": null, "whose": "tools", "change": "adjusted", "fields": exposed}));
        }
        if self.acquiring.take_on(acquire) {
            let fields = live(vec!["acquire"]);
            changes.insert(0, json!({"server": null, "whose": "registries", "change": "adjusted", "fields": fields}));
        }
        if self.embedding.take_on(embeddings) {
            let fields = live(vec!["embeddings"]);
            changes.insert(0, json!({"server": null, "whose": "search", "change": "adjusted", "fields": fields}));
        }
        Ok(changes)
    }
}

/// What clients are shown of all tools.
fn exposed(exposed: &Exposed) -> Value {
    let Exposure { expose, context, share, clients } = &exposed.exposure;
    let client = |name: &String| {
        let (says, shows) = (exposed.exposure.of(Some(name)), exposed.shows(Some(name)));
        let most = exposed.exposure.most(Some(name));
        (name.clone(), json!({"expose": says.word(), "shown": shows.word(), "most": most}))
    };
    json!({
        "expose": expose.word(), "shown": exposed.shows(None).word(), "tools": exposed.tools, "tokens": exposed.tokens,
        "most": exposed.exposure.most(None), "context": context, "share": share, "acquires": exposed.acquires,
        "clients": clients.keys().map(client).collect::<serde_json::Map<_, _>>(),
    })
}

/// How the endpoint does that is asked what tools mean.
fn embedded(embedded: &Embedded) -> Value {
    let Embedded { model, place, width, ready, chinese, vectors, fault } = embedded;
    json!({
        "model": model, "url": place, "dimensions": width, "ready": ready, "readsChinese": chinese, "vectors": vectors,
        "fault": fault,
    })
}

/// What became of a server, for programs.
pub(crate) fn change(change: &Change) -> Value {
    let (what, why) = match &change.what {
        What::Added => ("added", None),
        What::Removed => ("removed", None),
        What::Restarted => ("restarted", None),
        What::Adjusted => ("adjusted", None),
        What::Kept(why) => ("kept", Some(why)),
    };
    let fields: Vec<_> =
        change.fields.iter().map(|field| json!({"field": field.key, "effect": field.effect.word()})).collect();
    json!({"server": change.server, "change": what, "reason": why, "fields": fields})
}

fn about(status: &Status) -> Value {
    let mut all = event(status);
    if let Some(all) = all.as_object_mut() {
        all.remove("event");
    }
    let counted = &status.counted;
    let millis = |part| counted.quantile(part).map(|took: Duration| took.as_micros() as f64 / 1e3);
    all["calls"] = json!(counted.calls());
    all["errors"] = json!(counted.failed);
    all["outcomes"] = outcomes(counted);
    all["p50"] = json!(millis(0.5));
    all["p95"] = json!(millis(0.95));
    let circuit = &status.circuit;
    all["circuit"] = json!({"state": circuit.word(), "secondsLeft": circuit.left().map(|left| left.as_secs())});
    all["restarts"] = json!(counted.restarts);
    all["lastError"] = match &status.phase {
        Phase::Failed(why) => json!(why),
        Phase::Connecting | Phase::Ready { .. } | Phase::Resting { .. } | Phase::Disabled => json!(status.last_error),
    };
    all["devices"] = json!(status.devices);
    all["processes"] = json!(status.processes);
    all
}

fn outcomes(counted: &Counted) -> Value {
    let Counted { done, failed, asked, abandoned, .. } = *counted;
    json!({"done": done, "failed": failed, "asked": asked, "abandoned": abandoned})
}
