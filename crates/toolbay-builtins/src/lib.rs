//! Servers that come with Toolbay: filesystem, time.

pub mod filesystem;
pub mod time;
