use std::{sync::Arc, time::Duration};

use super::*;
use crate::{
    audit::End,
    servers::{Cause, Circuit, Phase, Status},
};

fn counted(all: &[(End, u64)]) -> Counted {
    let counters = Counters::default();
    all.iter().for_each(|(end, millis)| counters.count(end, Duration::from_millis(*millis)));
    counters.read()
}

#[test]
fn calls_are_counted_by_outcome_and_time() {
    let counted =
        counted(&[(End::Done, 1), (End::Done, 3), (End::Failed(-1), 70_000), (End::Asked, 4), (End::Abandoned, 0)]);
    assert_eq!((counted.done, counted.failed, counted.asked, counted.abandoned, counted.calls()), (2, 1, 1, 1, 5));
    assert_eq!(counted.buckets.iter().sum::<u64>(), 5);
    assert_eq!(*counted.buckets.last().unwrap(), 1);
    assert_eq!(counted.took, Duration::from_millis(70_008));
}

#[test]
fn quantiles_are_no_finer_than_the_buckets() {
    assert_eq!(counted(&[]).quantile(0.5), None);
    let many: Vec<_> = (0..100).map(|call| (End::Done, if call < 90 { 3 } else { 40 })).collect();
    let counted = counted(&many);
    let within = |part, from, to| {
        let quantile = counted.quantile(part).unwrap();
        assert!(Duration::from_micros(from) < quantile && quantile <= Duration::from_micros(to), "{quantile:?}");
    };
    within(0.5, 2_500, 5_000);
    within(0.95, 25_000, 50_000);
    assert_eq!(super::Counted { buckets: counted.buckets, ..counted }.quantile(1.0), Some(Duration::from_millis(50)));
}

#[test]
fn the_page_has_each_family_once_and_labels_that_cannot_break_out() {
    let status = |server: &str, phase| Status {
        server: server.into(),
        transport: "stdio",
        phase,
        cause: Cause::Begun,
        counted: counted(&[(End::Done, 2)]),
        circuit: Circuit::default(),
        last_error: None,
        processes: vec![],
        devices: None,
    };
    let page = write(&Everything {
        servers: vec![status("a\"b\\c\nd", Phase::Connecting), status("two", Phase::Disabled)],
        all: counted(&[(End::Done, 2), (End::Failed(-1), 2)]),
        sessions: 3,
        parked: 4,
        version: "1".into(),
        spans: Some(crate::telemetry::Told { sent: 7, dropped: 1 }),
    });
    for line in [
        "toolbay_sessions 3",
        "toolbay_parked_calls 4",
        "toolbay_telemetry_spans_total{outcome=\"dropped\"} 1",
        "toolbay_servers{phase=\"connecting\"} 1",
        "toolbay_servers{phase=\"ready\"} 0",
        "toolbay_requests_total{outcome=\"failed\"} 1",
        r#"toolbay_calls_total{server="a\"b\\c\nd",outcome="done"} 1"#,
        r#"toolbay_call_seconds_bucket{server="two",le="0.001"} 0"#,
        r#"toolbay_call_seconds_bucket{server="two",le="0.0025"} 1"#,
        r#"toolbay_call_seconds_bucket{server="two",le="+Inf"} 1"#,
        r#"toolbay_call_seconds_sum{server="two"} 0.002"#,
        r#"toolbay_server_restarts_total{server="two"} 0"#,
    ] {
        assert!(page.lines().any(|there| there == line), "{line}\n{page}");
    }
    let mut families: Vec<_> = page.lines().filter(|line| line.starts_with("# TYPE")).collect();
    let count = families.len();
    families.sort_unstable();
    families.dedup();
    assert_eq!(families.len(), count);
}

#[test]
fn it_is_ready_when_it_is_decided_of_all() {
    let status = |phase| Status {
        server: Arc::from("s"),
        transport: "stdio",
        phase,
        cause: Cause::Begun,
        counted: Counted::default(),
        circuit: Circuit::default(),
        last_error: None,
        processes: vec![],
        devices: None,
    };
    let failed = status(Phase::Failed("gone".into()));
    assert!(Readiness::of(std::slice::from_ref(&failed)).ready);
    let woken = Status { cause: Cause::Woken, ..status(Phase::Connecting) };
    assert!(Readiness::of(&[woken]).ready, "it rested");
    let not = Readiness::of(&[failed, status(Phase::Connecting)]);
    assert_eq!(
        serde_json::to_value(&not).unwrap(),
        serde_json::json!({"ready": false, "undecided": [{"server": "s", "phase": "connecting"}]})
    );
}
