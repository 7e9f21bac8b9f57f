//! File names that say nothing, and files that do not say what they are for.

use super::Finding;
use super::source::Source;

const EMPTY: [&str; 10] =
    ["utils", "util", "common", "helpers", "helper", "manager", "managers", "core", "misc", "stuff"];

/// Empty names, and a missing `//!` at the head.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let path = source.path.with_extension("");
    for part in path.iter().filter_map(|part| part.to_str()).filter(|part| EMPTY.contains(part)) {
        let words = format!("`{part}` says nothing: name it as the spec does, or by one plain word");
        findings.push(Finding::new(&source.path, 1, words));
    }
    let speaks = source.written.first().is_some_and(|line| line.starts_with("//!"));
    if !speaks && !source.is_test_file() {
        let words = "the first line must be a `//!` that says what this room is for, and what it is not for";
        findings.push(Finding::new(&source.path, 1, words));
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Source::read(Path::new(path), text)).len()
    }

    #[test]
    fn empty_names_and_silent_files_are_found() {
        assert_eq!(count("crates/a/src/utils.rs", "//! x\n"), 1);
        assert_eq!(count("crates/a/src/helpers/mod.rs", "//! x\n"), 1);
        assert_eq!(count("crates/a/src/lib.rs", "use x;\n"), 1);
        assert_eq!(count("crates/a/src/lib.rs", "//! x\n"), 0);
        assert_eq!(count("crates/a/src/tests.rs", "use x;\n"), 0);
    }
}
