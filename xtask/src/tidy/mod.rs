//! `cargo xtask tidy`: the rules of the house that no compiler checks.
//!
//! Each rule is a file; each finding says where, what, and what to do. Not a style checker: rustfmt and clippy are.

mod imports;
mod names;
mod revisions;
mod sizes;
mod source;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use self::source::Source;
use crate::places;
use crate::tally::Tally;

/// One breach of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// File, from the root of the clone.
    file: PathBuf,
    /// Line, from one.
    line: usize,
    /// What is wrong, and what to do.
    words: String,
}

impl Finding {
    /// A finding in a file.
    pub(crate) fn new(file: &Path, line: usize, words: impl Into<String>) -> Self {
        Self { file: file.to_path_buf(), line, words: words.into() }
    }
}

/// Checks every rule, and prints what it finds.
pub(crate) fn run() -> Result<Tally> {
    let root = places::root();
    let mut sources = Vec::new();
    for folder in ["crates", "xtask"] {
        collect(&root, &root.join(folder), &mut sources)?;
    }
    let mut findings = imports::check(&root)?;
    for source in &sources {
        findings.extend(names::check(source));
        findings.extend(sizes::check(source));
        findings.extend(revisions::check(source));
        findings.extend(words::check(source));
    }
    findings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    for finding in &findings {
        println!("{}:{}: {}", finding.file.display(), finding.line, finding.words);
    }
    let long: Vec<&Source> = sources.iter().filter(|source| sizes::is_long(source)).collect();
    for source in long {
        println!("  note: {} has {} lines; at 300 think of cutting it", source.path.display(), source.length());
    }
    println!("  tidy: {} files, {} findings", sources.len(), findings.len());
    Ok(Tally { passed: usize::from(findings.is_empty()), failed: findings.len(), skipped: 0 })
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) -> Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "target" {
                collect(root, &path, sources)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            sources.push(Source::read(path.strip_prefix(root)?, &text));
        }
    }
    Ok(())
}
