//! A document of numbers. All are counted from the beginning on.

use std::time::SystemTime;

use super::{
    super::{
        attribute::{Attribute, Kept, lent},
        durations::{BOUNDS, Kind, Spread},
        numbers::{Data, Family},
    },
    part::{Field, Part, many, message, resource, scope, time},
};

/// The numbers of one resource, counted since a moment until now.
pub(super) fn document<'a>(of: &'a [Kept], families: &'a [Family<'_>], since: SystemTime, now: SystemTime) -> Part<'a> {
    let metrics = families.iter().map(|family| metric(family, since, now));
    let scoped = message([scope(), many(2, "metrics", metrics)]);
    let of = resource(of.iter().map(lent).collect());
    message([many(1, "resourceMetrics", [message([of, many(2, "scopeMetrics", [scoped])])])])
}

/// Counted from the beginning on, not since they were told last.
const CUMULATIVE: Field<'static> = (2, "aggregationTemporality", Part::Word(2));

fn metric<'a>(family: &'a Family<'_>, since: SystemTime, now: SystemTime) -> Part<'a> {
    let Family { name, says, unit, data } = family;
    let data = match data {
        Data::Gauge(all) => (5, "gauge", message([points(all, since, now)])),
        Data::Sum(all) => {
            let grows = (3, "isMonotonic", Part::Flag(true));
            (7, "sum", message([points(all, since, now), CUMULATIVE, grows]))
        }
        Data::Histogram(all) => {
            let spreads = all.iter().map(|(kind, spread)| histogram(kind, spread, since, now));
            (9, "histogram", message([many(1, "dataPoints", spreads), CUMULATIVE]))
        }
    };
    let (name, says, unit) = (Part::Text(name), Part::Text(says), Part::Text(unit));
    message([(1, "name", name), (2, "description", says), (3, "unit", unit), data])
}

fn points<'a>(all: &'a [(Vec<Attribute<'_>>, u64)], since: SystemTime, now: SystemTime) -> Field<'a> {
    let point = |(of, number): &'a (Vec<Attribute<'_>>, u64)| {
        message([
            time(2, "startTimeUnixNano", since),
            time(3, "timeUnixNano", now),
            (6, "asInt", Part::Fixed(*number)),
            (7, "attributes", Part::Attributes(of.clone())),
        ])
    };
    many(1, "dataPoints", all.iter().map(point))
}

fn histogram<'a>(kind: &'a Kind, spread: &'a Spread, since: SystemTime, now: SystemTime) -> Part<'a> {
    message([
        time(2, "startTimeUnixNano", since),
        time(3, "timeUnixNano", now),
        (4, "count", Part::Fixed(spread.count)),
        (5, "sum", Part::Real(spread.sum)),
        (6, "bucketCounts", Part::Fixeds(&spread.buckets)),
        (7, "explicitBounds", Part::Reals(&BOUNDS)),
        (9, "attributes", Part::Attributes(kind.attributes())),
        (11, "min", Part::Real(spread.least)),
        (12, "max", Part::Real(spread.most)),
    ])
}
