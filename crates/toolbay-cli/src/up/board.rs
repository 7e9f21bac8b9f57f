//! What `up` shows: a line per server while it connects, a table when all are decided, then what changes.

use std::{collections::HashMap, io::IsTerminal as _, path::PathBuf, sync::Arc, time::Duration};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use toolbay_gateway::{
    Bay,
    catalog::Report,
    servers::{Phase, Status},
};

use crate::show;

/// For whom it is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// People.
    People,
    /// People, while stdout carries messages.
    Aside,
    /// Programs; stderr where stdout carries messages.
    Programs {
        /// Whether stdout carries messages.
        aside: bool,
    },
}

impl Manner {
    pub(crate) fn of(stdio: bool, json: bool) -> Self {
        match (stdio, json) {
            (aside, true) => Self::Programs { aside },
            (true, false) => Self::Aside,
            (false, false) => Self::People,
        }
    }
}

/// The board.
pub(crate) struct Board {
    manner: Manner,
    file: Option<PathBuf>,
    shown: HashMap<Arc<str>, Phase>,
    /// What was told of items that were left out, and still holds.
    told: Vec<Report>,
    spinners: Option<(MultiProgress, HashMap<Arc<str>, ProgressBar>)>,
}

impl Board {
    pub(crate) fn new(manner: Manner, file: Option<PathBuf>) -> Self {
        let animated = manner == Manner::People && std::io::stderr().is_terminal();
        let spinners = animated.then(|| (MultiProgress::new(), HashMap::new()));
        Self { manner, file, shown: HashMap::new(), told: vec![], spinners }
    }

    /// Follows the bay: until it is decided of every server how it does, then for ever.
    pub(crate) async fn follow(&mut self, bay: &Bay, endpoint: Option<String>) {
        let mut moves = bay.moves();
        self.begin(bay);
        loop {
            moves.mark_unchanged();
            if self.update(bay).iter().all(Phase::is_settled) {
                break;
            }
            if moves.changed().await.is_err() {
                return;
            }
        }
        self.ready(bay, endpoint.as_deref());
        while moves.changed().await.is_ok() {
            self.update(bay);
            self.tell_reports(bay);
        }
    }

    fn say(&self, text: &str) {
        match self.manner {
            Manner::People | Manner::Programs { aside: false } => show::line(text),
            Manner::Aside | Manner::Programs { aside: true } => eprintln!("{text}"),
        }
    }

    fn tell(&self, event: &Value) {
        self.say(&event.to_string());
    }

    fn is_for_programs(&self) -> bool {
        matches!(self.manner, Manner::Programs { .. })
    }

    fn begin(&mut self, bay: &Bay) {
        if self.is_for_programs() {
            return;
        }
        let whose = match &self.file {
            Some(file) => format!("servers of {}", file.display()),
            None => "no configuration found: embedded servers (read-only files of this folder, time)".to_owned(),
        };
        eprintln!("{}", show::dim(&whose));
        let Some((all, bars)) = &mut self.spinners else { return };
        let style = ProgressStyle::with_template("{spinner} {prefix} {msg}");
        for status in bay.status().into_iter().filter(|status| !status.phase.is_settled()) {
            let bar = all.add(ProgressBar::new_spinner());
            if let Ok(style) = &style {
                bar.set_style(style.clone());
            }
            bar.set_prefix(show::safe(&status.server));
            bar.set_message("connecting");
            bar.enable_steady_tick(Duration::from_millis(100));
            bars.insert(status.server, bar);
        }
    }

    /// Shows every server that moved since it was last shown; says where each stands that is shown now.
    fn update(&mut self, bay: &Bay) -> Vec<Phase> {
        let all = bay.status();
        let phases = all.iter().map(|status| status.phase.clone()).collect();
        for status in all {
            if self.shown.get(&status.server) == Some(&status.phase) {
                continue;
            }
            self.shown.insert(Arc::clone(&status.server), status.phase.clone());
            if self.is_for_programs() {
                self.tell(&event(&status));
            } else if status.phase.is_settled() {
                if let Some(bar) = self.spinners.as_mut().and_then(|(_, bars)| bars.remove(&status.server)) {
                    bar.finish_and_clear();
                }
                self.aside(&format!("{} {}", show::safe(&status.server), word(&status.phase)));
            }
        }
        phases
    }

    fn aside(&self, text: &str) {
        match &self.spinners {
            // Where it cannot be written, nobody watches.
            Some((all, _)) => drop(all.println(text)),
            None => eprintln!("{text}"),
        }
    }

    fn ready(&mut self, bay: &Bay, endpoint: Option<&str>) {
        if self.is_for_programs() {
            self.tell_reports(bay);
            let endpoints = endpoint.map(|url| json!({"http": format!("{url}/mcp"), "sse": format!("{url}/sse")}));
            return self.tell(&json!({"event": "ready", "endpoints": endpoints}));
        }
        self.say(&format!("\n{}", table(&bay.status())));
        self.tell_reports(bay);
        if let Some(url) = endpoint {
            self.say(&pasteable(url));
        }
    }

    /// Tells what was left out since it was last told.
    fn tell_reports(&mut self, bay: &Bay) {
        let reports = bay.reports();
        for report in reports.iter().filter(|report| !self.told.contains(report)) {
            if self.is_for_programs() {
                self.tell(&json!({"event": "report", "server": &*report.server, "message": report.what}));
            } else {
                self.say(&show::safe(&format!("note: {}: {}", report.server, report.what)));
            }
        }
        self.told = reports;
    }

    pub(crate) fn closing(&mut self) {
        self.spinners = None;
        if self.is_for_programs() {
            self.tell(&json!({"event": "closing"}));
        } else {
            eprintln!("{}", show::dim("closing"));
        }
    }

    pub(crate) fn closed(&mut self) {
        if self.is_for_programs() {
            self.tell(&json!({"event": "closed"}));
        }
    }
}

fn word(phase: &Phase) -> String {
    match phase {
        Phase::Connecting => "connecting".into(),
        Phase::Ready { took, .. } => format!("ready after {} ms", took.as_millis()),
        Phase::Failed(why) => format!("failed: {}", show::safe(why)),
        Phase::Resting { .. } => "resting until it is needed".into(),
        Phase::Disabled => "disabled".into(),
    }
}

fn table(all: &[Status]) -> String {
    let row = |status: &Status| {
        let (revision, counts, took, state) = match &status.phase {
            Phase::Ready { revision, counts, took } => (
                revision.to_string(),
                format!("{}/{}/{}", counts.tools, counts.prompts, counts.resources),
                took.as_millis().to_string(),
                "ready".to_owned(),
            ),
            other => ("-".into(), "-".into(), "-".into(), show::headline(&word(other), 160)),
        };
        [show::safe(&status.server), status.transport.to_owned(), revision, counts, took, state]
    };
    let heading = ["SERVER", "TRANSPORT", "REVISION", "TOOLS/PROMPTS/RESOURCES", "MS", "STATE"];
    show::table(heading, all.iter().map(row).collect())
}

/// How a server does, for programs.
pub(crate) fn event(status: &Status) -> Value {
    let mut event = json!({"event": "server", "server": &*status.server, "transport": status.transport});
    let more = match &status.phase {
        Phase::Connecting => json!({"state": "connecting"}),
        Phase::Failed(why) => json!({"state": "failed", "reason": why}),
        Phase::Resting { counts } => {
            let counts = counts.unwrap_or_default();
            json!({"state": "resting", "tools": counts.tools, "prompts": counts.prompts, "resources": counts.resources})
        }
        Phase::Disabled => json!({"state": "disabled"}),
        Phase::Ready { revision, counts, took } => json!({
            "state": "ready", "revision": revision.as_str(), "tools": counts.tools, "prompts": counts.prompts,
            "resources": counts.resources, "ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
        }),
    };
    if let (Value::Object(event), Value::Object(more)) = (&mut event, more) {
        event.extend(more);
    }
    event
}

fn pasteable(url: &str) -> String {
    let entry = json!({"toolbay": {"type": "http", "url": format!("{url}/mcp")}});
    format!(
        "\nendpoint     {url}/mcp   (clients of 2024: {url}/sse)\n\
         Claude Code  claude mcp add --transport http toolbay {url}/mcp\n\
         .mcp.json    {}\n\
         VS Code      {}\n\
         Ctrl-C ends it.",
        json!({"mcpServers": entry}),
        json!({"servers": entry})
    )
}
