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
    broken: Option<String>,
}

impl Kept {
    fn step(&mut self, round: u32, what: What) -> Arc<Step> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        self.number += 1;
        Arc::new(Step { number: self.number, at_ms, round, what })
    }

    fn keep(&mut self, step: &Arc<Step>) {
        if self.keep == Keep::InMemory {
            if self.steps.len() == KEPT {
                self.steps.pop_front();
            }
            self.steps.push_back(Arc::clone(step));
        }
    }

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

    /// Why the last step is not in the file, where it is not.
    pub fn broken(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).broken.clone()
    }

    /// Adds a step. It is in the hands of the operating system when this returns, unless the trace is broken.
    pub(crate) fn add(&self, round: u32, what: What) -> Arc<Step> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let step = kept.step(round, what);
        kept.broken = kept.write(&step).err().map(|why| why.to_string());
        kept.keep(&step);
        step
    }

    /// Adds a step that may only be done once it is in the file; it is nowhere where it is not there.
    pub(crate) fn announce(&self, round: u32, what: What) -> io::Result<Arc<Step>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let step = kept.step(round, what);
        let written = kept.write(&step);
        kept.broken = written.as_ref().err().map(ToString::to_string);
        written?;
        kept.keep(&step);
        Ok(step)
    }
}
