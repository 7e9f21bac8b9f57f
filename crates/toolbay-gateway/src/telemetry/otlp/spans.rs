//! A document of spans.

use super::{
    super::{
        attribute::{Kept, lent},
        context::Context,
        span::{Side, Span, Status},
    },
    part::{Field, Part, many, message, resource, scope, time},
};

/// The spans of one resource.
pub(super) fn document<'a>(of: &'a [Kept], spans: &'a [Span]) -> Part<'a> {
    let scoped = message([scope(), many(2, "spans", spans.iter().map(span))]);
    let of = resource(of.iter().map(lent).collect());
    message([many(1, "resourceSpans", [message([of, many(2, "scopeSpans", [scoped])])])])
}

/// Whether the parent is in another process; that this is known, and that it is.
const REMOTE: u32 = 0x300;
const HERE: u32 = 0x100;

fn span(span: &Span) -> Part<'_> {
    let Span { context, parent, link, side, begun, took, labels, status, .. } = span;
    let (kind, remote) = match (side, parent) {
        (Side::Server, Some(_)) => (2, REMOTE),
        (Side::Server, None) => (2, 0),
        (Side::Client, _) => (3, HERE),
    };
    let mut fields = Vec::with_capacity(12);
    ids(context, &mut fields);
    if let Some(parent) = parent {
        fields.push((4, "parentSpanId", Part::Id(&parent.0)));
    }
    fields.extend([
        (5, "name", Part::Made(labels.title())),
        (6, "kind", Part::Word(kind)),
        time(7, "startTimeUnixNano", *begun),
        time(8, "endTimeUnixNano", *begun + *took),
        (9, "attributes", Part::Attributes(span.attributes())),
    ]);
    if let Some(link) = link {
        let mut linked = Vec::with_capacity(4);
        ids(link, &mut linked);
        linked.push((6, "flags", Part::Short(u32::from(link.flags) | REMOTE)));
        fields.push(many(13, "links", [message(linked)]));
    }
    match status {
        Status::Unset => {}
        Status::Failed(why) => {
            let status = message([(2, "message", Part::Text(why)), (3, "code", Part::Word(2))]);
            fields.push((15, "status", status));
        }
    }
    fields.push((16, "flags", Part::Short(u32::from(context.flags) | remote)));
    message(fields)
}

/// How a span is named; the same in a span and in a link to one.
fn ids<'a>(context: &'a Context, fields: &mut Vec<Field<'a>>) {
    fields.extend([(1, "traceId", Part::Id(&context.trace.0)), (2, "spanId", Part::Id(&context.span.0))]);
    if let Some(state) = &context.state {
        fields.push((3, "traceState", Part::Text(state)));
    }
}
