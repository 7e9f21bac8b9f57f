//! What a process holds: memory, handles, children.

use std::fs;
use std::time::Duration;

use super::http::{Pace, Wire};
use crate::procs;

/// A look at a process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    /// Resident memory, in KiB.
    pub(crate) memory: u64,
    /// Open files and sockets.
    pub(crate) handles: usize,
    /// Processes below it.
    pub(crate) children: usize,
    /// Children that ended and were not waited for.
    pub(crate) dead: usize,
}

impl Figures {
    /// Looks at a process now.
    pub(crate) fn of(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = memory.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default();
        let handles = fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count).unwrap_or_default();
        let children = procs::family(pid).len().saturating_sub(1);
        Self { memory, handles, children, dead: dead_children(pid) }
    }

    /// For a table.
    pub(crate) fn row(&self, name: &str) -> Vec<String> {
        let memory = format!("{:.1} MiB", self.memory as f64 / 1024.0);
        vec![name.to_owned(), memory, self.handles.to_string(), self.children.to_string(), self.dead.to_string()]
    }
}

/// What the bay counts itself, where it tells: sessions, and calls that wait for whoever left with a question.
pub(super) fn counted(port: u16) -> Option<(u64, u64)> {
    let ask = format!("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let mut wire = Wire::open(port).ok()?;
    wire.send(ask.as_bytes(), Duration::from_secs(10), Pace::Fast).ok()?;
    let head = wire.head().ok().filter(|head| head.status == 200)?;
    let text = wire.text(&head).ok()?;
    let gauge = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.trim().parse().ok())
    };
    Some((gauge("toolbay_sessions")?, gauge("toolbay_parked_calls")?))
}

fn dead_children(parent: u32) -> usize {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let is_dead_child = |stat: &String| {
        let mut fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace()).into_iter().flatten();
        let (state, of) = (fields.next(), fields.next());
        state == Some("Z") && of.and_then(|of| of.parse().ok()) == Some(parent)
    };
    stats.filter(is_dead_child).count()
}
