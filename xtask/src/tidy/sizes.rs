//! Files and functions that nobody can keep in mind.

use super::Finding;
use super::source::Source;

const FILE: usize = 500;
const FILE_SOFT: usize = 300;
const FUNCTION: usize = 80;

/// Files above 500 lines and functions above 80 lines of code, tests aside.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let length = source.length();
    if length > FILE {
        let words = format!("{length} lines without tests, at most {FILE} are allowed: cut the file into rooms");
        findings.push(Finding::new(&source.path, 1, words));
    }
    for (line, name) in functions(source) {
        let Some(end) = source.block_end(line) else { continue };
        let length = source.code[line..=end].iter().filter(|line| !line.trim().is_empty()).count();
        if length > FUNCTION && !source.is_test(line) && !is_excused(source, line) {
            let words = format!(
                "fn {name} has {length} lines, at most {FUNCTION} are allowed: cut it, or give \
                 #[expect(clippy::too_many_lines, reason = \"…\")]"
            );
            findings.push(Finding::new(&source.path, line + 1, words));
        }
    }
    findings
}

/// Between the soft and the hard limit.
pub(crate) fn is_long(source: &Source) -> bool {
    (FILE_SOFT + 1..=FILE).contains(&source.length())
}

/// Lines (from zero) on which a named function starts.
fn functions(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    source.code.iter().enumerate().filter_map(|(at, line)| {
        let (before, after) = line.split_once("fn ")?;
        let starts = before.is_empty() || before.ends_with(|c: char| !c.is_alphanumeric() && c != '_');
        let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        (starts && !name.is_empty()).then_some((at, name))
    })
}

/// An attribute directly above gives a reason.
fn is_excused(source: &Source, line: usize) -> bool {
    let above = source.written[..line].iter().rev().map(|line| line.trim());
    let mut attached = above.take_while(|line| !line.is_empty() && !line.ends_with('}') && !line.ends_with(';'));
    attached.any(|line| line.contains("clippy::too_many_lines"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn check_text(text: &str) -> Vec<usize> {
        check(&Source::read(Path::new("crates/a/src/b.rs"), text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn long_functions_are_found_and_excused_ones_are_not() {
        let body = "    let a = 1; // }\n".repeat(90);
        let array = "fn short(x: [u8; 4]) -> [u8; 4] {\n    x\n}\n";
        assert_eq!(check_text(&format!("{array}pub async fn long(\n    x: u8,\n) {{\n{body}}}\n")), [4]);
        assert_eq!(
            check_text(&format!("#[expect(clippy::too_many_lines, reason = \"a table\")]\nfn long() {{\n{body}}}\n")),
            [0; 0]
        );
        assert_eq!(check_text(&format!("#[cfg(test)]\nmod tests {{\n    fn long() {{\n{body}}}\n}}\n")), [0; 0]);
        let comments = "    // a word\n\n".repeat(90);
        assert_eq!(check_text(&format!("fn told() {{\n{comments}}}\n")), [0; 0]);
        assert_eq!(
            check_text(&format!("trait T {{\n    fn f(&self);\n}}\nstruct S {{\n{}}}\n", "    a: u8,\n".repeat(90))),
            [0; 0]
        );
    }

    #[test]
    fn long_files_are_found() {
        assert_eq!(check_text(&"const A: u8 = 1;\n".repeat(501)), [1]);
        assert_eq!(check_text(&"const A: u8 = 1;\n".repeat(500)), [0; 0]);
    }
}
