//! One message a line, over any byte stream. Not for parsing messages.

mod read;
mod write;

#[cfg(test)]
mod tests;

pub use read::{DEFAULT_LINE_LIMIT, LineError, LineReader};
pub use write::LineWriter;
