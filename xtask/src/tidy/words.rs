//! Words that must not be in the code: unfinished work, and tests that wait for a clock.

use super::Finding;
use super::source::Source;

const ANYWHERE: [(&str, &str); 4] = [
    ("todo!", "unfinished: write it, or return an error that says what is missing"),
    ("unimplemented!", "unfinished: write it, or return an error that says what is missing"),
    ("dbg!", "left over from debugging: take it out"),
    (
        "#[ignore",
        "a test that never runs: mend it, take it out, or say `#[ignore = \"run by …\"]` if another test runs it",
    ),
];

const IN_TESTS: [(&str, &str); 2] = [
    ("thread::sleep", "a test must not sleep: use the fake clock, or wait for the event itself"),
    ("time::sleep", "a test must not sleep: use the fake clock, or wait for the event itself"),
];

/// Forbidden words, outside comments and literals.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in source.code.iter().enumerate() {
        let in_tests = if source.is_test(at) { IN_TESTS.as_slice() } else { &[] };
        for (word, advice) in ANYWHERE.iter().chain(in_tests).filter(|(word, _)| contains(line, word)) {
            // The parent role of a test that kills a process of its own.
            if source.written[at].contains("#[ignore = \"run by ") {
                continue;
            }
            findings.push(Finding::new(&source.path, at + 1, format!("`{word}`: {advice}")));
        }
    }
    findings
}

/// As a word of its own: `my_todo!` is another macro.
fn contains(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(|symbol: char| symbol.is_alphanumeric() || symbol == '_'))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Source::read(Path::new(path), text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn unfinished_work_is_found_in_code_only() {
        let text = "fn f() {\n    todo!()\n}\n// todo!()\nconst A: &str = \"dbg!(1)\";\nmy_todo!();\n";
        assert_eq!(lines("crates/a/src/b.rs", text), [2]);
    }

    #[test]
    fn an_ignored_test_must_be_run_by_another() {
        assert_eq!(lines("crates/a/tests/b.rs", "#[ignore]\nfn f() {}\n#[ignore = \"slow\"]\n"), [1, 3]);
        assert_eq!(lines("crates/a/tests/b.rs", "#[ignore = \"run by the other test\"]\n"), [0; 0]);
    }

    #[test]
    fn sleep_is_for_the_program_but_not_for_its_tests() {
        let sleep = "std::thread::sleep(x);\n";
        assert_eq!(lines("crates/a/src/b.rs", sleep), [0; 0]);
        assert_eq!(lines("crates/a/tests/b.rs", sleep), [1]);
        assert_eq!(lines("crates/a/src/b.rs", "#[cfg(test)]\nmod tests {\n    tokio::time::sleep(x);\n}\n"), [3]);
    }
}
