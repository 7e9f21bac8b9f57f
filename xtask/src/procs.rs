//! Looks at the process table (`/proc`), to find what a child left behind. Linux only; elsewhere the table is empty.

use std::fs;

/// One process, told apart from a later one of the same number by its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: i32,
    /// Its parent's number.
    pub(crate) parent: i32,
    /// Clock ticks since boot.
    pub(crate) started: u64,
    /// Its command line, words joined by spaces.
    pub(crate) command: String,
}

/// Every process that is not a zombie.
pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(look).collect()
}

/// Whether the process table can be read here.
pub(crate) fn readable() -> bool {
    look(std::process::id().cast_signed()).is_some()
}

/// A process and everything that descends from it.
pub(crate) fn family(root: u32) -> Vec<Process> {
    let everybody = all();
    let mut family: Vec<Process> = everybody.iter().filter(|one| one.pid == root.cast_signed()).cloned().collect();
    let mut next = 0;
    while next < family.len() {
        let parent = family[next].pid;
        family.extend(everybody.iter().filter(|one| one.parent == parent).cloned());
        next += 1;
    }
    family
}

/// Whether this very process still runs.
pub(crate) fn alive(process: &Process) -> bool {
    look(process.pid).is_some_and(|now| now.started == process.started)
}

fn look(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold any character, so count from the last one.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<String> =
        command.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
        command: words.join(" ").trim().to_owned(),
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found_with_its_parent() {
        let me = std::process::id();
        let family = family(me);
        assert_eq!(family[0].pid, me.cast_signed());
        assert_eq!(family[0].parent, std::os::unix::process::parent_id().cast_signed());
        assert!(alive(&family[0]));
        assert!(!alive(&Process { started: 0, ..family[0].clone() }));
    }
}
