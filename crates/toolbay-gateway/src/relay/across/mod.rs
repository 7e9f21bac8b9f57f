//! Tasks across eras: those of the core of 2025-11-25, for which the caller asks, and those of the extension, on which the
//! server decides. Each caller has the kind that its own revision knows.

mod extension;
mod follow;
mod hidden;
mod there;
mod wait;
mod way;
mod wished;

pub(super) use way::{Way, begun, declaring, go, known, ours, shown, wants_task, way};
