//! The registry on disk, and what can be done to it. Each change is on the disk when it is acknowledged; two who write at
//! once lose nothing. The calls block: whoever has a runtime to keep going makes them elsewhere.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde_json::Value;

use super::{
    disk::Disk,
    edit::{Offer, Sheet},
    entry::{Entry, name_of},
    error::Error,
};
use crate::config::{self, Setup, Surroundings, System, nearest};

/// The tool entries of one file.
#[derive(Clone)]
pub struct Registry {
    disk: Disk,
}

/// What to do about a different entry of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the new one is refused.
    Refuse,
    /// The new one takes its place.
    Replace,
}

/// What became of an entry that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is new.
    New,
    /// An equal one was there already.
    Same,
    /// It took another's place.
    Replaced,
}

/// What became of an entry that was to be turned on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switched {
    /// It was.
    Now,
    /// It had been before.
    Already,
}

impl Registry {
    /// The entries of this file, which need not be there yet.
    pub fn at(file: impl Into<PathBuf>) -> Self {
        Self { disk: Disk::new(file.into()) }
    }

    #[cfg(test)]
    pub(super) fn stopping(self, stop: super::disk::Stop) -> Self {
        Self { disk: self.disk.stopping(stop) }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        self.disk.file()
    }

    /// All entries, in the order of the file; those that cannot be read are errors among them.
    pub fn tools(&self) -> Result<Vec<Result<Entry, Error>>, Error> {
        let text = self.disk.read()?;
        Ok(Sheet::read(text.as_deref(), self.file())?.entries().iter().map(Entry::read).collect())
    }

    /// The entry of that name.
    pub fn tool(&self, name: &str) -> Result<Entry, Error> {
        let text = self.disk.read()?;
        let sheet = Sheet::read(text.as_deref(), self.file())?;
        let place = found(&sheet, name)?;
        Entry::read(&sheet.entries()[place])
    }

    /// The entries that are offered at that moment: sound, not turned off, their time not over.
    pub fn get_enabled_tools(&self, now: SystemTime) -> Result<Vec<Entry>, Error> {
        let sound = self.tools()?.into_iter().flatten();
        Ok(sound.filter(|entry| entry.enabled && !entry.is_over(now)).collect())
    }

    /// Adds an entry, unless an equal one is there; a different one of the same name is refused or replaced.
    pub fn add_tool(&self, entry: &Entry, existing: Existing) -> Result<Added, Error> {
        self.disk.change(|text| {
            let sheet = Sheet::read(text, self.file())?;
            let value = entry.to_value();
            let added = match (sheet.place(&entry.name), &value) {
                (Some(place), _) if same(&sheet.entries()[place], entry) => return Ok((Added::Same, None)),
                (Some(_), _) if existing == Existing::Refuse => {
                    return Err(Error::Taken { name: entry.name.clone() });
                }
                (Some(place), Value::Object(object)) => {
                    sheet.replace(place, object);
                    Added::Replaced
                }
                // A server beside the entries has that name.
                (None, _) if existing == Existing::Refuse && text.is_some_and(|text| self.names(text, &entry.name)) => {
                    return Err(Error::Taken { name: entry.name.clone() });
                }
                (Some(_) | None, _) => {
                    sheet.append(&value);
                    Added::New
                }
            };
            let text = sheet.text();
            self.is_sound(&text, entry)?;
            Ok((added, Some(text)))
        })
    }

    /// Takes an entry out.
    pub fn remove_tool(&self, name: &str) -> Result<(), Error> {
        self.edit(name, |sheet, place| sheet.remove(place))
    }

    /// Turns an entry on.
    pub fn enable_tool(&self, name: &str) -> Result<Switched, Error> {
        self.switch(name, Offer::On)
    }

    /// Turns an entry off: from then on it is neither listed nor called.
    pub fn disable_tool(&self, name: &str) -> Result<Switched, Error> {
        self.switch(name, Offer::Off)
    }

    /// Takes out the entries whose time is over at that moment; their names.
    pub fn remove_expired(&self, now: SystemTime) -> Result<Vec<String>, Error> {
        self.disk.change(|text| {
            let sheet = Sheet::read(text, self.file())?;
            let over = |value: &Value| Entry::read(value).ok().filter(|entry| entry.is_over(now));
            let over: Vec<_> = sheet.entries().iter().map(over).collect();
            let mut names = vec![];
            for (place, entry) in over.into_iter().enumerate().rev() {
                if let Some(entry) = entry {
                    sheet.remove(place);
                    names.insert(0, entry.name);
                }
            }
            let text = (!names.is_empty()).then(|| sheet.text());
            Ok((names, text))
        })
    }

    fn switch(&self, name: &str, offer: Offer) -> Result<Switched, Error> {
        let switched = self.edit(name, |sheet, place| sheet.switch(place, offer))?;
        Ok(if switched { Switched::Now } else { Switched::Already })
    }

    fn edit<T>(&self, name: &str, edit: impl Fn(&mut Sheet, usize) -> T) -> Result<T, Error> {
        self.disk.change(|text| {
            let mut sheet = Sheet::read(text, self.file())?;
            let place = found(&sheet, name)?;
            let answer = edit(&mut sheet, place);
            Ok((answer, Some(sheet.text())))
        })
    }

    /// Whether the file that would be written can be read, and the entry in it be used.
    fn is_sound(&self, text: &str, entry: &Entry) -> Result<(), Error> {
        let config = self.parsed(text)?;
        let server = config.servers.into_iter().find(|server| server.name == entry.name);
        let unsound = |why: String| Error::Unsound { name: entry.name.clone(), why };
        match server.map(|server| server.setup) {
            None => Err(unsound("it has no name".into())),
            // What variables stand for is not known here.
            Some(Setup::Broken(_)) if entry.to_value().to_string().contains("${") => Ok(()),
            Some(Setup::Broken(why)) => Err(unsound(why.to_string())),
            Some(Setup::Ready(_) | Setup::Disabled) => Ok(()),
        }
    }

    fn parsed(&self, text: &str) -> Result<config::Running, config::Error> {
        let folder = std::path::absolute(self.file()).ok().and_then(|file| file.parent().map(Path::to_path_buf));
        let folder = folder.unwrap_or_default();
        let around = Surroundings { folder: &folder, system: System::here(), variable: &|_| None };
        config::parse(text, self.file(), &around).map(|loaded| loaded.config)
    }

    /// Whether anything in the file has that name.
    fn names(&self, text: &str, name: &str) -> bool {
        self.parsed(text).is_ok_and(|config| config.servers.iter().any(|server| server.name == name))
    }
}

fn same(value: &Value, entry: &Entry) -> bool {
    Entry::read(value).is_ok_and(|old| {
        let moment = |entry: &Entry| entry.expires_at.map(|expiry| expiry.moment());
        let bare = |entry: &Entry| Entry { expires_at: None, ..entry.clone() };
        moment(&old) == moment(entry) && bare(&old) == bare(entry)
    })
}

fn found(sheet: &Sheet, name: &str) -> Result<usize, Error> {
    sheet.place(name).ok_or_else(|| {
        let entries = sheet.entries();
        let near = nearest(name, entries.iter().filter_map(name_of)).map(str::to_owned);
        Error::Unknown { name: name.to_owned(), near }
    })
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.file()).finish()
    }
}
