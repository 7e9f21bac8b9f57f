//! `docs/rules.txt`: a line for each rule, `NUMBER | in short | what holds it; what else holds it`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::cited::Citations;
use super::sheet::Number;

/// What holds a rule.
pub(crate) enum Hold {
    /// `scenario NAME`: of the official suite.
    Scenario(String),
    /// `test FILE::NAME`, the file below `crates/`.
    Test { file: String, name: String },
    /// `transcript REVISION/NAME` of the test kit.
    Transcript(String),
    /// `built WHY`: nothing can break it without being written anew, or it binds authors and not code.
    Built(String),
    /// `later PART`: it applies when the part is there.
    Later(String),
    /// `open WHY`: it applies, and nothing holds it.
    Open(String),
}

impl Hold {
    fn read(text: &str, unshipped: &BTreeSet<String>) -> Result<Self> {
        let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = rest.trim().to_owned();
        if rest.is_empty() {
            bail!("`{text}` says nothing");
        }
        Ok(match kind {
            "scenario" => Self::Scenario(rest),
            "transcript" => Self::Transcript(rest),
            "built" => Self::Built(rest),
            "open" => Self::Open(rest),
            "later" if unshipped.contains(&rest) => Self::Later(rest),
            "later" => bail!("`{rest}` is not among the parts that are not shipped"),
            "test" => match rest.split_once("::") {
                Some((file, name)) => Self::Test { file: file.to_owned(), name: name.to_owned() },
                None => bail!("`{text}` is not `test FILE::NAME`"),
            },
            _ => bail!("`{kind}` is none of scenario, test, transcript, built, later, open"),
        })
    }

    /// What is wrong with it.
    pub(crate) fn flaw(&self, cited: &Citations, root: &Path) -> Option<String> {
        match self {
            Self::Scenario(_) | Self::Built(_) | Self::Later(_) => None,
            Self::Open(why) => Some(format!("open: {why}")),
            Self::Test { file, name } => {
                let known = cited.functions.get(file).is_some_and(|names| names.contains(name));
                (!known).then(|| format!("there is no `fn {name}` in crates/{file}"))
            }
            Self::Transcript(name) => {
                let path = format!("crates/toolbay-testkit/tests/transcripts/{name}.jsonl");
                (!root.join(&path).is_file()).then(|| format!("there is no {path}"))
            }
        }
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(name) => write!(f, "scenario {name}"),
            Self::Test { file, name } => write!(f, "test {file}::{name}"),
            Self::Transcript(name) => write!(f, "transcript {name}"),
            Self::Built(why) => write!(f, "built: {why}"),
            Self::Later(part) => write!(f, "later, with {part}"),
            Self::Open(why) => write!(f, "OPEN: {why}"),
        }
    }
}

/// A rule in our words, and what holds it.
pub(crate) struct Entry {
    /// The rule.
    pub(crate) short: String,
    /// All that holds it.
    pub(crate) holds: Vec<Hold>,
}

impl Entry {
    /// The parts it waits for.
    pub(crate) fn later(&self) -> impl Iterator<Item = &str> {
        self.holds.iter().filter_map(|hold| match hold {
            Hold::Later(part) => Some(part.as_str()),
            Hold::Scenario(_) | Hold::Test { .. } | Hold::Transcript(_) | Hold::Built(_) | Hold::Open(_) => None,
        })
    }

    /// Whether it belongs to nothing but parts that are not shipped.
    pub(crate) fn waits(&self) -> bool {
        !self.holds.is_empty() && self.later().count() == self.holds.len()
    }
}

/// Reads the list.
pub(crate) fn read(path: &Path) -> Result<BTreeMap<Number, Entry>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text)
}

fn parse(text: &str) -> Result<BTreeMap<Number, Entry>> {
    let mut unshipped = BTreeSet::new();
    let mut entries = BTreeMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#')) {
        let place = || format!("docs/rules.txt, line {}", at + 1);
        if let Some(parts) = line.strip_prefix("not shipped:") {
            unshipped.extend(parts.split(',').map(|part| part.trim().to_owned()));
            continue;
        }
        let mut columns = line.splitn(3, '|').map(str::trim);
        let (Some(number), Some(short), Some(holds)) = (columns.next(), columns.next(), columns.next()) else {
            bail!("{}: not `NUMBER | in short | what holds it`", place());
        };
        let number = Number::read(number).with_context(|| format!("{}: `{number}` is no rule", place()))?;
        let holds = holds.split(';').map(str::trim).filter(|hold| !hold.is_empty());
        let holds = holds.map(|hold| Hold::read(hold, &unshipped)).collect::<Result<_>>().with_context(place)?;
        if entries.insert(number, Entry { short: short.to_owned(), holds }).is_some() {
            bail!("{}: {number} stands there twice", place());
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_holds_a_rule() {
        let list = parse("not shipped: host\n1 | words | test a.rs::b; scenario c\n2 | more | later host\n").unwrap();
        let waits: Vec<_> = list.values().map(|entry| (entry.holds.len(), entry.waits())).collect();
        assert_eq!(waits, [(2, false), (1, true)]);
        for bad in ["1 | x", "x | y | built z", "1 | x | later y", "1 | x | perhaps y", "1|a|built b\n1|a|built b"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
