//! Things worth saying about a file that is used all the same.

use std::{fmt, path::PathBuf};

use super::source::{Place, Source};

/// How much a remark matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Good to know; nothing is lost.
    Note,
    /// Something does not work as the file seems to ask.
    Warning,
}

/// A remark about a configuration file that is used all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub file: PathBuf,
    /// The place in it.
    pub place: Place,
    /// How much it matters.
    pub level: Level,
    /// What there is to say, and what to do.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Note => "note",
            Level::Warning => "warning",
        };
        write!(f, "{}:{}: {level}: {}", self.file.display(), self.place, self.message)
    }
}

/// Collects remarks, and stops listing them where no one would read on.
pub(super) struct Remarks<'a> {
    source: &'a Source<'a>,
    list: Vec<Warning>,
    left_out: usize,
}

impl<'a> Remarks<'a> {
    pub(super) fn new(source: &'a Source<'a>) -> Self {
        Self { source, list: Vec::new(), left_out: 0 }
    }

    pub(super) fn note(&mut self, at: usize, message: impl Into<String>) {
        self.add(Level::Note, at, message.into());
    }

    pub(super) fn warn(&mut self, at: usize, message: impl Into<String>) {
        self.add(Level::Warning, at, message.into());
    }

    pub(super) fn add(&mut self, level: Level, at: usize, message: String) {
        if self.list.len() < MOST {
            let file = self.source.file.to_path_buf();
            self.list.push(Warning { file, place: self.source.place(at), level, message });
        } else {
            self.left_out += 1;
        }
    }

    /// The remarks; if some were left out, the last one counts them.
    pub(super) fn finish(mut self) -> Vec<Warning> {
        if self.left_out > 0 {
            let message = format!("{} more remarks are not shown; mend these first", self.left_out);
            let place = self.source.place(0);
            self.list.push(Warning { file: self.source.file.to_path_buf(), place, level: Level::Note, message });
        }
        self.list
    }
}

/// The known word that `word` was probably meant to be.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let allowed = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// As many remarks as are listed.
const MOST: usize = 100;
/// Longer words are not compared: no key of ours comes near.
const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_forgives_slips_and_letter_case_only() {
        let known = ["command", "args", "env", "url", "headers"];
        for (word, expected) in [
            ("comand", Some("command")),
            ("Command", Some("command")),
            ("agrs", Some("args")),
            ("environment", None),
            ("header", Some("headers")),
            ("x", None),
            ("colour", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
