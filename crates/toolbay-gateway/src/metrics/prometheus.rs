//! The text that Prometheus reads. Labels are servers, outcomes and phases: of all three the configuration or this code
//! knows how many there are. Tools are no labels, since their number is up to servers.

use std::fmt::Write as _;

use super::{
    counters::{BUCKETS, Counted},
    health::word,
};
use crate::{servers::Status, telemetry::Told};

/// All that is shown.
pub(crate) struct Everything {
    pub(crate) servers: Vec<Status>,
    pub(crate) all: Counted,
    pub(crate) sessions: usize,
    pub(crate) parked: usize,
    pub(crate) version: String,
    /// What became of spans, where they are told to somebody.
    pub(crate) spans: Option<Told>,
}

/// Writes it.
pub(crate) fn write(everything: &Everything) -> String {
    let Everything { servers, all, sessions, parked, version, spans } = everything;
    let mut page = Page(String::with_capacity(4096));
    page.head("toolbay_info", "gauge", "The version that runs.");
    page.line("toolbay_info", &[("version", version)], "1");
    page.head("toolbay_sessions", "gauge", "Open sessions of clients.");
    page.line("toolbay_sessions", &[], sessions);
    page.head("toolbay_parked_calls", "gauge", "Calls that wait for callers who left with a question.");
    page.line("toolbay_parked_calls", &[], parked);
    page.head("toolbay_servers", "gauge", "Servers by where they stand.");
    for phase in ["connecting", "ready", "failed", "resting", "disabled"] {
        let count = servers.iter().filter(|status| word(&status.phase) == phase).count();
        page.line("toolbay_servers", &[("phase", phase)], count);
    }
    page.head(
        "toolbay_server_restarts_total",
        "counter",
        "How often a server that was lost, or could not be started, was started again.",
    );
    for status in servers {
        page.line("toolbay_server_restarts_total", &[("server", &status.server)], status.counted.restarts);
    }
    page.head(
        "toolbay_requests_total",
        "counter",
        "Requests of clients by outcome, those that reach no server included.",
    );
    for (outcome, count) in outcomes(all) {
        page.line("toolbay_requests_total", &[("outcome", outcome)], count);
    }
    page.head("toolbay_calls_total", "counter", "Requests that went to a server, by outcome.");
    for status in servers {
        for (outcome, count) in outcomes(&status.counted) {
            page.line("toolbay_calls_total", &[("server", &status.server), ("outcome", outcome)], count);
        }
    }
    page.head("toolbay_call_seconds", "histogram", "How long such requests took.");
    for status in servers {
        page.histogram("toolbay_call_seconds", &status.server, &status.counted);
    }
    if let Some(Told { sent, dropped }) = spans {
        page.head("toolbay_telemetry_spans_total", "counter", "Spans by what became of them.");
        for (outcome, count) in [("sent", sent), ("dropped", dropped)] {
            page.line("toolbay_telemetry_spans_total", &[("outcome", outcome)], count);
        }
    }
    page.0
}

fn outcomes(counted: &Counted) -> [(&'static str, u64); 4] {
    let Counted { done, failed, asked, abandoned, .. } = *counted;
    [("done", done), ("failed", failed), ("asked", asked), ("abandoned", abandoned)]
}

struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            self.0.push(if place == 0 { '{' } else { ',' });
            let _ = write!(self.0, "{label}=\"");
            text.chars().for_each(|letter| match letter {
                '\\' => self.0.push_str("\\\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str("\\n"),
                other => self.0.push(other),
            });
            self.0.push('"');
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    fn histogram(&mut self, name: &str, server: &str, counted: &Counted) {
        let (mut sum, bucket) = (0, format!("{name}_bucket"));
        for (place, count) in counted.buckets.iter().enumerate() {
            sum += count;
            let most = BUCKETS.get(place).map_or("+Inf".to_owned(), |micros| seconds(*micros));
            self.line(&bucket, &[("server", server), ("le", &most)], sum);
        }
        let took = u64::try_from(counted.took.as_micros()).unwrap_or(u64::MAX);
        self.line(&format!("{name}_sum"), &[("server", server)], seconds(took));
        self.line(&format!("{name}_count"), &[("server", server)], sum);
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds are read by people and programs that reckon in floats")]
fn seconds(micros: u64) -> String {
    format!("{}", micros as f64 / 1e6)
}
