//! Where steps are kept: in memory, and line by line in a file that outlives the process.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use super::step::{Step, What};

/// The most steps that are kept in memory; of more, the last ones are.
const KEPT: usize = 10_000;

/// The steps of a conversation. A clone is the same trace.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    number: u64,
    steps: std::collections::VecDeque<Arc<Step>>,
    file: Option<File>,
    keep: Keep,
    /// What the next line begins with: after one that was written in part, with an end of it.
    before: &'static str,
}

impl Kept {
    fn write(&mut self, step: &Step) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        // One write for the whole line: a process that is killed leaves no half of one.
        let line = format!("{}{}\n", self.before, step.to_value());
        self.before = "\n";
        file.write_all(line.as_bytes())?;
        file.flush()?;
        self.before = "";
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Keep {
    #[default]
    InMemory,
    InFileAlone,
}

impl Trace {
    /// Steps are kept in memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Steps are also added to a file, as JSON Lines; it is made, for its owner alone, where it is not there.
    pub fn file(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let kept = Kept { file: Some(options.open(path)?), ..Kept::default() };
        Ok(Self(Arc::new(Mutex::new(kept))))
    }

    /// The trace, without what is kept in memory.
    #[must_use]
    pub fn forgetting(self) -> Self {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keep = Keep::InFileAlone;
        self
    }

    /// The steps so far that are kept in memory: the last 10,000.
    pub fn steps(&self) -> Vec<Arc<Step>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).steps.iter().cloned().collect()
    }

    /// Adds a step; it is in the hands of the operating system when this returns.
    pub(crate) fn add(&self, round: u32, what: What) -> io::Result<Arc<Step>> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.number += 1;
        let step = Arc::new(Step { number: kept.number, at_ms, round, what });
        kept.write(&step)?;
        if kept.keep == Keep::InMemory {
            if kept.steps.len() == KEPT {
                kept.steps.pop_front();
            }
            kept.steps.push_back(Arc::clone(&step));
        }
        Ok(step)
    }
}
