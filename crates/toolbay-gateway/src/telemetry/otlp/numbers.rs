//! A document of numbers. All are counted from the beginning on.

use std::time::SystemTime;

use super::{
    super::{
        attribute::Attribute,
        durations::{BOUNDS, Spread},
        numbers::{Data, Family},
    },
    part::{Field, Part, attributes, many, message, resource, scope, text, time},
};

/// The numbers of one resource, counted since a moment until now.
pub(in super::super) fn document(of: &[Attribute], families: &[Family], since: SystemTime, now: SystemTime) -> Part {
    let metrics = families.iter().map(|family| metric(family, since, now));
    let scoped = message([scope(), many(2, "metrics", metrics)]);
    message([many(1, "resourceMetrics", [message([resource(of), many(2, "scopeMetrics", [scoped])])])])
}

/// Counted from the beginning on, not since they were told last.
const CUMULATIVE: Field = (2, "aggregationTemporality", Part::Word(2));

fn metric(family: &Family, since: SystemTime, now: SystemTime) -> Part {
    let Family { name, says, unit, data } = family;
    let points = |points: &[(Vec<Attribute>, u64)]| {
        let point = |(of, number): &(Vec<Attribute>, u64)| {
            message([
                time(2, "startTimeUnixNano", since),
                time(3, "timeUnixNano", now),
                (6, "asInt", Part::Fixed(*number)),
                attributes(7, of),
            ])
        };
        many(1, "dataPoints", points.iter().map(point).collect::<Vec<_>>())
    };
    let data = match data {
        Data::Gauge(all) => (5, "gauge", message([points(all)])),
        Data::Sum(all) => {
            let grows = (3, "isMonotonic", Part::Flag(true));
            (7, "sum", message([points(all), CUMULATIVE, grows]))
        }
        Data::Histogram(all) => {
            let spreads = all.iter().map(|(of, spread)| histogram(of, spread, since, now));
            (9, "histogram", message([many(1, "dataPoints", spreads), CUMULATIVE]))
        }
    };
    message([text(1, "name", *name), text(2, "description", *says), text(3, "unit", *unit), data])
}

fn histogram(of: &[Attribute], spread: &Spread, since: SystemTime, now: SystemTime) -> Part {
    message([
        time(2, "startTimeUnixNano", since),
        time(3, "timeUnixNano", now),
        (4, "count", Part::Fixed(spread.count)),
        (5, "sum", Part::Real(spread.sum)),
        (6, "bucketCounts", Part::Fixeds(spread.buckets.to_vec())),
        (7, "explicitBounds", Part::Reals(BOUNDS.to_vec())),
        attributes(9, of),
        (11, "min", Part::Real(spread.least)),
        (12, "max", Part::Real(spread.most)),
    ])
}
