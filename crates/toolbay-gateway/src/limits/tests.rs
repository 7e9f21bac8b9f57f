use std::collections::BTreeSet;

use super::*;

#[test]
fn every_limit_is_finite_and_within_its_own_range() {
    let limits = Limits::default();
    for row in ROWS {
        let mut copy = limits;
        row.set(&mut copy, row.value(&limits)).unwrap_or_else(|why| panic!("{}: {why}", row.key));
        assert_eq!(copy, limits, "{}", row.key);
        for wrong in [f64::NAN, f64::INFINITY, -1.0, row.most * 2.0] {
            assert!(row.set(&mut copy, wrong).is_err(), "{} {wrong}", row.key);
        }
        row.set(&mut copy, row.most).unwrap();
        assert!(copy != limits && super::row(row.key).is_some_and(|found| found.key == row.key), "{}", row.key);
    }
    assert_eq!(row("list_bytes").map(|row| row.key), Some("listBytes"));
}

#[test]
fn the_guide_shows_each_limit_as_it_is() {
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/limits.md")).unwrap();
    let mut missing = String::new();
    for row in ROWS {
        let value = row.value(&Limits::default());
        let value = match row.unit {
            Unit::Bytes if value >= 1_048_576.0 => format!("{} MiB", value / 1_048_576.0),
            Unit::Bytes => format!("{value} bytes"),
            Unit::Seconds => format!("{value} s"),
            Unit::Count => format!("{value}"),
        };
        let line = format!("| `{}` | {value} | {} | {} |", row.key, row.effect.word(), row.says);
        if !guide.lines().any(|there| there == line) {
            missing.push_str(&line);
            missing.push('\n');
        }
    }
    assert!(missing.is_empty(), "write into docs/guide/limits.md:\n{missing}");
}

#[test]
fn children_are_counted_while_they_run() {
    let children = Children::at_most(1);
    let first = children.place().unwrap();
    assert!(children.place().unwrap_err().to_string().contains("limit `children`"));
    drop(first);
    assert!(children.place().is_ok());
    children.allow(0);
    assert!(children.place().is_err());
}

/// The names that the errors of these crates give to limits.
fn named(folder: &std::path::Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            named(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let all = text.split("(limit `").skip(1).filter_map(|rest| rest.split_once('`'));
            names.extend(
                all.map(|(name, _)| name.to_owned())
                    .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')),
            );
        }
    }
}

#[test]
fn every_limit_that_an_error_names_can_be_set_under_that_name() {
    let mut names = BTreeSet::new();
    for of in ["toolbay-protocol", "toolbay-transport", "toolbay-gateway"] {
        named(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(of).join("src"), &mut names);
    }
    assert!(names.len() > 20, "{names:?}");
    names.extend(["unsent_messages", "unsent_bytes", "sessions"].map(str::to_owned));
    let unknown: Vec<_> = names.iter().filter(|name| row(name).is_none()).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn an_endpoint_and_a_connection_are_run_within_the_limits_that_were_set() {
    let mut limits = Limits::default();
    assert_eq!(limits.server.bounds.connection(), toolbay_transport::connect::Limits::default());
    assert_eq!(limits.allowance(), toolbay_protocol::peer::Allowance::default());
    let (usual, ours) = (toolbay_transport::http::server::Options::default(), limits.endpoint());
    assert_eq!(format!("{usual:?}"), format!("{ours:?}"), "an endpoint of ours is like any other");
    for row in ROWS {
        let before = (format!("{:?}", limits.endpoint()), limits.server.bounds.connection());
        row.set(&mut limits, row.most).unwrap();
        let after = (format!("{:?}", limits.endpoint()), limits.server.bounds.connection());
        // The others are kept to by the gateway itself.
        let below = [
            "sessions",
            "sessionIdle",
            "requestBytes",
            "headBytes",
            "sessionRequests",
            "subscriptions",
            "introductionBytes",
            "replayEvents",
            "replayBytes",
            "retry",
            "keepAlive",
            "readTimeout",
            "clientConnections",
            "clientIdle",
            "grace",
            "connect",
            "requestsInFlight",
            "messageBytes",
            "depth",
            "nodes",
            "batch",
            "questionsInFlight",
            "unsentMessages",
            "unsentBytes",
        ];
        assert_eq!(before != after, below.contains(&row.key), "{}", row.key);
    }
}
