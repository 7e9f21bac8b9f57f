//! A document of spans.

use super::{
    super::{
        attribute::Attribute,
        context::Context,
        span::{Side, Span, Status},
    },
    part::{Field, Part, attributes, many, message, resource, scope, text, time},
};

/// The spans of one resource.
pub(in super::super) fn document(of: &[Attribute], spans: &[Span]) -> Part {
    let scoped = message([scope(), many(2, "spans", spans.iter().map(span))]);
    message([many(1, "resourceSpans", [message([resource(of), many(2, "scopeSpans", [scoped])])])])
}

/// Whether the parent is in another process; that this is known, and that it is.
const REMOTE: u32 = 0x300;
const HERE: u32 = 0x100;

fn span(span: &Span) -> Part {
    let Span { context, parent, link, name, side, begun, took, attributes: all, status } = span;
    let (kind, remote) = match (side, parent) {
        (Side::Server, Some(_)) => (2, REMOTE),
        (Side::Server, None) => (2, 0),
        (Side::Client, _) => (3, HERE),
    };
    let mut fields = ids(context);
    if let Some(parent) = parent {
        fields.push((4, "parentSpanId", Part::Id(parent.0.to_vec())));
    }
    fields.extend([
        text(5, "name", &**name),
        (6, "kind", Part::Word(kind)),
        time(7, "startTimeUnixNano", *begun),
        time(8, "endTimeUnixNano", *begun + *took),
        attributes(9, all),
    ]);
    if let Some(link) = link {
        let mut link_fields = ids(link);
        link_fields.push((6, "flags", Part::Short(u32::from(link.flags) | REMOTE)));
        fields.push(many(13, "links", [message(link_fields)]));
    }
    match status {
        Status::Unset => {}
        Status::Failed(why) => {
            fields.push((15, "status", message([text(2, "message", &**why), (3, "code", Part::Word(2))])))
        }
    }
    fields.push((16, "flags", Part::Short(u32::from(context.flags) | remote)));
    message(fields)
}

/// How a span is named; the same in a span and in a link to one.
fn ids(context: &Context) -> Vec<Field> {
    let mut fields =
        vec![(1, "traceId", Part::Id(context.trace.0.to_vec())), (2, "spanId", Part::Id(context.span.0.to_vec()))];
    if let Some(state) = &context.state {
        fields.push(text(3, "traceState", &**state));
    }
    fields
}
