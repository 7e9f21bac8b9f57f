//! How it is written: OTLP 1, as protocol buffers or JSON. `spans` and `numbers` say once what a document holds, in
//! parts that have both a number and a name; `protobuf` and `json` write parts. Not for what is sent when: see `export`.
// https://opentelemetry.io/docs/specs/otlp/

mod json;
mod numbers;
mod part;
mod protobuf;
mod spans;
mod write;

pub(super) use write::{kind, numbers, spans};
