//! Results that were too long to be shown, whole. A bounded number of bytes in memory, older ones in files of a folder of
//! their own, which is removed when the store is dropped; beyond that the oldest are forgotten.

use std::{
    borrow::Cow,
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::limits::ResultLimits;
use crate::transcript::Origin;

/// Results by their handles.
#[derive(Debug)]
pub struct Store {
    memory: u64,
    files: u64,
    made: u64,
    entries: VecDeque<Entry>,
    folder: Option<TempDir>,
}

#[derive(Debug)]
struct Entry {
    kept: Kept,
    origin: Origin,
    bytes: u64,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Memory(String),
    File(PathBuf),
}

/// A result that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) handle: String,
    pub(crate) chars: usize,
    pub(crate) lines: usize,
}

impl Store {
    /// A store that keeps so much.
    pub fn new(limits: &ResultLimits) -> Self {
        Self { memory: limits.memory, files: limits.files, made: 0, entries: VecDeque::new(), folder: None }
    }

    /// The folder of its files, where there are any; it goes when the store goes.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(TempDir::path)
    }

    /// The handles of what is kept, the oldest first.
    pub fn handles(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.kept.handle.clone()).collect()
    }

    /// The whole result of a handle; or why it is not there.
    pub fn text(&self, handle: &str) -> Result<Cow<'_, str>, String> {
        Ok(self.find(handle)?.0)
    }

    pub(crate) fn find(&self, handle: &str) -> Result<(Cow<'_, str>, &Origin), String> {
        let Some(entry) = self.entries.iter().find(|entry| entry.kept.handle == handle) else {
            let there: Vec<_> = self.entries.iter().map(|entry| entry.kept.handle.as_str()).collect();
            return Err(format!("no result {handle:?} is kept; there are: [{}]", there.join(", ")));
        };
        let text = match &entry.place {
            Place::Memory(text) => Cow::Borrowed(text.as_str()),
            Place::File(path) => Cow::Owned(
                fs::read_to_string(path).map_err(|why| format!("result {handle:?} cannot be read again: {why}"))?,
            ),
        };
        Ok((text, &entry.origin))
    }

    pub(crate) fn put(&mut self, text: String, origin: Origin) -> Result<Kept, String> {
        let bytes = text.len() as u64;
        if bytes > self.memory && bytes > self.files {
            return Err(format!("{bytes} bytes are more than is kept"));
        }
        self.made += 1;
        let lines = text.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!text.ends_with('\n'));
        let kept = Kept { handle: format!("r{}", self.made), chars: text.chars().count(), lines };
        self.entries.push_back(Entry { kept: kept.clone(), origin, bytes, place: Place::Memory(text) });
        self.spill()?;
        Ok(kept)
    }

    /// Writes the oldest to files until the rest may stay in memory, and forgets the oldest files beyond the bound.
    fn spill(&mut self) -> Result<(), String> {
        while self.sum(|place| matches!(place, Place::Memory(_))) > self.memory {
            let oldest = self.entries.iter().position(|entry| matches!(entry.place, Place::Memory(_)));
            let Some(oldest) = oldest else { break };
            if let Err(why) = self.write(oldest) {
                self.entries.remove(oldest);
                return Err(format!("it cannot be written to a file: {why}"));
            }
        }
        while self.sum(|place| matches!(place, Place::File(_))) > self.files {
            let oldest = self.entries.iter().position(|entry| matches!(entry.place, Place::File(_)));
            let Some(Entry { place: Place::File(path), .. }) = oldest.and_then(|oldest| self.entries.remove(oldest))
            else {
                break;
            };
            // What stays behind goes with the folder.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    fn write(&mut self, place: usize) -> std::io::Result<()> {
        let folder = match &self.folder {
            Some(folder) => folder,
            None => self.folder.insert(tempfile::Builder::new().prefix("toolbay-results-").tempdir()?),
        };
        let entry = &mut self.entries[place];
        if let Place::Memory(text) = &entry.place {
            let path = folder.path().join(&entry.kept.handle);
            fs::write(&path, text)?;
            entry.place = Place::File(path);
        }
        Ok(())
    }

    fn sum(&self, of: impl Fn(&Place) -> bool) -> u64 {
        self.entries.iter().filter(|entry| of(&entry.place)).map(|entry| entry.bytes).sum()
    }
}
