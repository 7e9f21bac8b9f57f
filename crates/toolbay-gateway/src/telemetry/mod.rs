//! What happens to requests, told to a collector by OTLP over HTTP: a span for each side of a request, and how long
//! operations took. The names are those of OpenTelemetry's conventions for MCP.
//!
//! `settings` is what the environment asks for, `trace` one request under observation (`context` and `sampler`: which
//! trace it belongs to and whether it is recorded), `durations` what is counted of all, `export` how both get out, and
//! `otlp` how they are written. Nothing here waits for anything while a request is served: a span that finds no room in
//! the queue is dropped and counted. Not for people who look at this process: see `audit` and `metrics`.

mod attribute;
mod context;
mod desk;
mod durations;
mod export;
mod labels;
mod numbers;
mod otlp;
mod sampler;
mod settings;
mod span;
mod trace;
mod variables;

pub use desk::{Telemetry, Told};
pub use export::Exporting;
pub use settings::{Encoding, Place, Settings};
pub(crate) use trace::Trace;

#[cfg(test)]
mod tests;
