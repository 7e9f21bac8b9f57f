//! Where the sources cite rules, and which functions each file has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Result;

use super::sheet::Number;

/// What the sources say.
#[derive(Default)]
pub(crate) struct Citations {
    /// The files that cite each rule.
    pub(crate) by_rule: BTreeMap<Number, BTreeSet<String>>,
    /// The functions of each file below `crates/`.
    pub(crate) functions: BTreeMap<String, BTreeSet<String>>,
}

impl Citations {
    /// Reads all Rust files and transcripts below `crates/`.
    pub(crate) fn find(root: &Path) -> Result<Self> {
        let mut found = Self::default();
        let crates = root.join("crates");
        let mut folders = vec![crates.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "rs" || end == "jsonl") {
                    let text = fs::read_to_string(&path)?;
                    let name = path.strip_prefix(&crates)?.to_string_lossy().into_owned();
                    found.take(&name, &text);
                }
            }
        }
        Ok(found)
    }

    fn take(&mut self, file: &str, text: &str) {
        for line in text.lines() {
            for number in numbers(line) {
                self.by_rule.entry(number).or_default().insert(file.to_owned());
            }
            if let Some(name) = function(line) {
                self.functions.entry(file.to_owned()).or_default().insert(name.to_owned());
            }
        }
    }

    /// The files that cite a rule.
    pub(crate) fn of(&self, number: &Number) -> Vec<&str> {
        self.by_rule.get(number).into_iter().flatten().map(String::as_str).collect()
    }
}

/// `fn name` in a line of code.
fn function(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let code = before.is_empty() || before.ends_with(' ') && !before.contains("//");
    let name = rest.split(|one: char| !one.is_alphanumeric() && one != '_').next()?;
    (code && !name.is_empty()).then_some(name)
}

/// `rule 7`, `Rules 1, 3 to 5 and A9`, in a comment or a text.
fn numbers(line: &str) -> Vec<Number> {
    let mut found = Vec::new();
    let lower = line.to_ascii_lowercase();
    let starts = lower.match_indices("rule ").chain(lower.match_indices("rules ")).map(|(at, word)| at + word.len());
    for start in starts {
        let mut range = false;
        for word in line[start..].split([' ', ',', ';', ':', '.', ')', '`']).filter(|word| !word.is_empty()) {
            match (word, Number::read(word)) {
                ("and" | "or", None) => {}
                ("to", None) => range = true,
                (_, Some(number)) => {
                    match found.last().copied().filter(|_| range) {
                        Some(first) => found.extend(Number::up_to(first, number).skip(1)),
                        None => found.push(number),
                    }
                    range = false;
                }
                (_, None) => break,
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_read_as_people_write_them() {
        let read = |line: &str| numbers(line).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(read("// Rules 31, 32, 39 to 42."), "31 32 39 40 41 42");
        assert_eq!(read("# Rule 7: nothing is said of 12."), "7");
        assert_eq!(read("/// rules 2 and A9, 10"), "2 A9 10");
        assert_eq!(read("the rules of 17 houses"), "");
    }

    #[test]
    fn functions_are_told_from_words() {
        assert_eq!(function("    async fn does_it() {"), Some("does_it"));
        assert_eq!(function("fn plain<T>(of: T) {"), Some("plain"));
        assert_eq!(function("// a fn of(x)"), None);
    }
}
