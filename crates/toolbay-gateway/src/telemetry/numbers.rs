//! All that is counted, as the collector is told: how long operations took, and what `/metrics` shows.

use super::{
    attribute::{Attribute, Value::Text},
    desk::Desk,
    durations::{Kind, Spread},
    span::Side,
};
use crate::metrics::{Counted, Everything, word};

/// One family of numbers.
#[derive(Debug)]
pub(super) struct Family<'a> {
    pub(super) name: &'static str,
    pub(super) says: &'static str,
    pub(super) unit: &'static str,
    pub(super) data: Data<'a>,
}

/// What sort it is, and its numbers.
#[derive(Debug)]
pub(super) enum Data<'a> {
    /// It only grows.
    Sum(Vec<(Vec<Attribute<'a>>, u64)>),
    /// It comes and goes.
    Gauge(Vec<(Vec<Attribute<'a>>, u64)>),
    Histogram(Vec<(Kind, Spread)>),
}

impl Data<'_> {
    fn is_empty(&self) -> bool {
        match self {
            Self::Sum(points) | Self::Gauge(points) => points.is_empty(),
            Self::Histogram(points) => points.is_empty(),
        }
    }
}

/// All families that have numbers.
pub(super) fn families<'a>(desk: &Desk, everything: Option<&'a Everything>) -> Vec<Family<'a>> {
    let operations = |name, says, side| {
        let data = Data::Histogram(desk.durations.read(side));
        Family { name, says, unit: "s", data }
    };
    let mut all = vec![
        operations(
            "mcp.server.operation.duration",
            "How long requests of clients took, from when they came in until they were answered.",
            Side::Server,
        ),
        operations(
            "mcp.client.operation.duration",
            "How long requests to servers took, from when they were sent until they were answered.",
            Side::Client,
        ),
    ];
    if let Some(everything) = everything {
        all.extend(counted(everything));
    }
    all.push(Family {
        name: "toolbay.telemetry.spans",
        says: "Spans by what became of them.",
        unit: "{span}",
        data: Data::Sum(
            [("sent", &desk.sent), ("dropped", &desk.dropped)]
                .map(|(what, count)| {
                    (vec![("toolbay.outcome", Text(what))], count.load(std::sync::atomic::Ordering::Relaxed))
                })
                .into(),
        ),
    });
    all.retain(|family| !family.data.is_empty());
    all
}

fn counted(everything: &Everything) -> Vec<Family<'_>> {
    let Everything { servers, all, sessions, parked, .. } = everything;
    let family = |name, says, unit, data| Family { name, says, unit, data };
    let plain = |number: usize| Data::Gauge(vec![(vec![], number as u64)]);
    let phases = ["connecting", "ready", "resting", "failed", "disabled"].map(|phase| {
        let count = servers.iter().filter(|status| word(&status.phase) == phase).count();
        (vec![("toolbay.phase", Text(phase))], count as u64)
    });
    let calls = servers.iter().flat_map(|status| {
        let points = outcomes(&status.counted)
            .map(|(outcome, count)| (vec![("toolbay.server", Text(&status.server)), outcome], count));
        points.into_iter()
    });
    let restarts =
        servers.iter().map(|status| (vec![("toolbay.server", Text(&status.server))], status.counted.restarts));
    vec![
        family(
            "toolbay.requests",
            "Requests of clients by outcome, those that reach no server included.",
            "{request}",
            Data::Sum(outcomes(all).map(|(outcome, count)| (vec![outcome], count)).into()),
        ),
        family("toolbay.calls", "Requests that went to a server, by outcome.", "{request}", Data::Sum(calls.collect())),
        family(
            "toolbay.server.restarts",
            "How often a server was lost and started again.",
            "{restart}",
            Data::Sum(restarts.collect()),
        ),
        family("toolbay.servers", "Servers by where they stand.", "{server}", Data::Gauge(phases.into())),
        family("toolbay.sessions", "Open sessions of clients.", "{session}", plain(*sessions)),
        family(
            "toolbay.parked_calls",
            "Calls that wait for callers who left with a question.",
            "{request}",
            plain(*parked),
        ),
    ]
}

fn outcomes(counted: &Counted) -> [(Attribute<'static>, u64); 4] {
    let Counted { done, failed, asked, abandoned, .. } = *counted;
    let outcome = |(word, count): (&'static str, u64)| (("toolbay.outcome", Text(word)), count);
    [("done", done), ("failed", failed), ("asked", asked), ("abandoned", abandoned)].map(outcome)
}
