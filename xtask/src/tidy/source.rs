//! A Rust file with its comments and literals blanked out, so that plain searches find code only.
//!
//! Lines and columns stay where they were. It knows just enough of the language: comments, strings of every kind,
//! characters against lifetimes, and braces.

use std::path::{Path, PathBuf};

/// A file as written, and its code alone.
pub(crate) struct Source {
    /// From the root of the clone.
    pub(crate) path: PathBuf,
    /// The lines as written.
    pub(crate) written: Vec<String>,
    /// The same lines, with comments and literals blank.
    pub(crate) code: Vec<String>,
    /// For each line, whether it belongs to a test.
    test: Vec<bool>,
}

impl Source {
    /// Reads a file's text.
    pub(crate) fn read(path: &Path, text: &str) -> Self {
        let code: Vec<String> = blank(text).lines().map(str::to_owned).collect();
        let written: Vec<String> = text.lines().map(str::to_owned).collect();
        let test = if is_test_file(path) { vec![true; written.len()] } else { test_lines(&code) };
        Self { path: path.to_path_buf(), written, code, test }
    }

    /// Whether a line (from zero) belongs to a test.
    pub(crate) fn is_test(&self, line: usize) -> bool {
        self.test.get(line).copied().unwrap_or(false)
    }

    /// Whether all of it is a test.
    pub(crate) fn is_test_file(&self) -> bool {
        is_test_file(&self.path)
    }

    /// Lines that are not a test's.
    pub(crate) fn length(&self) -> usize {
        self.test.iter().filter(|test| !**test).count()
    }

    /// The line (from zero) of the brace that closes the first one opened at or after `line`; none if `;` comes first.
    pub(crate) fn block_end(&self, line: usize) -> Option<usize> {
        block_end(&self.code, line)
    }
}

fn is_test_file(path: &Path) -> bool {
    // An example is a program: it may wait.
    let folders = ["tests", "benches"];
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name == "tests.rs"
        || path.parent().is_some_and(|parent| parent.iter().any(|part| folders.iter().any(|one| part == *one)))
}

/// Marks `#[cfg(test)]` items that have a block.
fn test_lines(code: &[String]) -> Vec<bool> {
    let mut test = vec![false; code.len()];
    for (at, line) in code.iter().enumerate() {
        if line.trim_start().starts_with("#[cfg(test)]") || line.trim_start().starts_with("#[cfg(all(test") {
            let end = block_end(code, at).unwrap_or(at + 1);
            test.iter_mut().take(end + 1).skip(at).for_each(|mark| *mark = true);
        }
    }
    test
}

fn block_end(code: &[String], from: usize) -> Option<usize> {
    let (mut braces, mut others) = (0_usize, 0_usize);
    for (at, line) in code.iter().enumerate().skip(from) {
        for symbol in line.chars() {
            match symbol {
                '(' | '[' if braces == 0 => others += 1,
                ')' | ']' if braces == 0 => others = others.saturating_sub(1),
                ';' if braces == 0 && others == 0 => return None,
                '{' => braces += 1,
                '}' => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// Blanks comments and literals; what remains keeps its place.
pub(crate) fn blank(text: &str) -> String {
    let symbols: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < symbols.len() {
        let end = skip(&symbols, at);
        if end == at {
            code.push(symbols[at]);
            at += 1;
        } else {
            code.extend(symbols[at..end].iter().map(|symbol| if *symbol == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    code
}

/// The end of the comment or literal that starts here, or `at` if none does.
fn skip(symbols: &[char], at: usize) -> usize {
    let next = |ahead: usize| symbols.get(at + ahead).copied().unwrap_or('\0');
    match (symbols[at], next(1)) {
        ('/', '/') => find(symbols, at, |rest| rest[0] == '\n'),
        ('/', '*') => comment_end(symbols, at),
        ('"', _) => string_end(symbols, at + 1),
        ('\'', '\\') => find(symbols, at + 3, |rest| rest[0] == '\'') + 1,
        ('\'', symbol) if symbol != '\'' && next(2) == '\'' => at + 3,
        ('r', '"' | '#') if !continues_word(symbols, at) => raw_end(symbols, at),
        _ => at,
    }
    .min(symbols.len())
}

fn find(symbols: &[char], from: usize, found: impl Fn(&[char]) -> bool) -> usize {
    (from..symbols.len()).find(|at| found(&symbols[*at..])).unwrap_or(symbols.len())
}

/// `br"…"` and `cr"…"` are raw strings too; `attr"` is no prefix of anything.
fn continues_word(symbols: &[char], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or(' ', |index| symbols[index]);
    let word = |symbol: char| symbol.is_alphanumeric() || symbol == '_';
    let prefixed = matches!(before(1), 'b' | 'c') && !word(before(2));
    word(before(1)) && !prefixed
}

fn comment_end(symbols: &[char], from: usize) -> usize {
    let (mut depth, mut at) = (0_usize, from);
    while at + 1 < symbols.len() {
        match (symbols[at], symbols[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') if depth == 1 => return at + 2,
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    symbols.len()
}

fn string_end(symbols: &[char], from: usize) -> usize {
    let mut at = from;
    while at < symbols.len() {
        match symbols[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    symbols.len()
}

fn raw_end(symbols: &[char], at: usize) -> usize {
    let hashes = symbols[at + 1..].iter().take_while(|symbol| **symbol == '#').count();
    if symbols.get(at + 1 + hashes) != Some(&'"') {
        // A raw identifier.
        return at;
    }
    let closes =
        |rest: &[char]| rest[0] == '"' && rest[1..].iter().take_while(|symbol| **symbol == '#').count() >= hashes;
    find(symbols, at + 2 + hashes, closes) + 1 + hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lifetimes_stay() {
        let check = |text: &str, expected: &str| {
            let code = blank(text);
            assert_eq!(code.chars().count(), text.chars().count(), "{text}");
            assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
        };
        check("a // b", "a");
        check("a /* b /* c */ d */ e", "a e");
        check(r#"f("x \" { y", 1)"#, "f( , 1)");
        check(r##"f(r#"x " y"#, 1)"##, "f( , 1)");
        check(r#"f(b"x{", br"{", c"{")"#, "f(b , b , c )");
        check("let c = '{'; let d = '\\''; fn f<'a>(x: &'a str)", "let c = ; let d = ; fn f<'a>(x: &'a str)");
        check("r#type", "r#type");
        check("attr\"{\"", "attr");
        check("let never = \"closed {", "let never =");
    }

    #[test]
    fn lines_stay_where_they_are() {
        let text = "let a = \"one\ntwo\"; // x\nlet b = 1;";
        assert_eq!(blank(text).lines().count(), 3);
        assert_eq!(blank(text).lines().nth(2), Some("let b = 1;"));
    }

    #[test]
    fn test_blocks_do_not_count_as_length() {
        let text = "fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\nfn h() {}\n#[cfg(test)]\nmod more;\n";
        let source = Source::read(Path::new("crates/a/src/b.rs"), text);
        assert_eq!(source.length(), 2);
        assert!(source.is_test(3) && !source.is_test(5));
        assert!(Source::read(Path::new("crates/a/tests/b/c.rs"), text).is_test_file());
    }
}
