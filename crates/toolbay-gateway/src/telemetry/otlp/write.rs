//! A document in the encoding that is asked for.

use std::time::SystemTime;

use super::{
    super::{attribute::Kept, numbers::Family, settings::Encoding, span::Span},
    json, numbers as numbered,
    part::Part,
    protobuf, spans as spanned,
};

/// What a document is sent as.
pub(in super::super) fn kind(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Protobuf => "application/x-protobuf",
        Encoding::Json => "application/json",
    }
}

/// The spans of one resource.
pub(in super::super) fn spans(encoding: Encoding, of: &[Kept], spans: &[Span]) -> Vec<u8> {
    write(encoding, &spanned::document(of, spans))
}

/// The numbers of one resource, counted since a moment until now.
pub(in super::super) fn numbers(
    encoding: Encoding,
    of: &[Kept],
    families: &[Family<'_>],
    since: SystemTime,
    now: SystemTime,
) -> Vec<u8> {
    write(encoding, &numbered::document(of, families, since, now))
}

fn write(encoding: Encoding, document: &Part<'_>) -> Vec<u8> {
    match encoding {
        Encoding::Protobuf => protobuf::write(document),
        Encoding::Json => json::write(document),
    }
}
