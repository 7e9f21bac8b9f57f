//! Servers that come with Toolbay: filesystem, time, and everything at once for tests.

pub mod everything;
pub mod filesystem;
pub mod time;
