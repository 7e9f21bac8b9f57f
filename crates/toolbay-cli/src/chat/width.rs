//! How wide text is on a terminal, and text that is no wider than wanted. Not for what is in it: see
//! [`exact`](crate::exact).

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::show;

/// The width where nobody knows it.
const USUAL: usize = 80;

/// How many columns the terminal has.
pub(super) fn columns() -> usize {
    measured().filter(|columns| *columns >= 20).unwrap_or(USUAL)
}

#[cfg(unix)]
fn measured() -> Option<usize> {
    let size = |fd: std::os::fd::BorrowedFd<'_>| rustix::termios::tcgetwinsize(fd).ok();
    let size = size(std::os::fd::AsFd::as_fd(&std::io::stderr()))
        .or_else(|| size(std::os::fd::AsFd::as_fd(&std::io::stdout())))?;
    Some(usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn measured() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// A text on one line, without anything that a terminal would act on, at most so many columns wide.
pub(super) fn one_line(text: &str, columns: usize) -> String {
    // A server may write megabytes; what does not fit is not looked at.
    let beginning = &text[..text.floor_char_boundary(columns.saturating_mul(8))];
    let words: Vec<_> = beginning.split_whitespace().collect();
    let line = show::safe(&words.join(" "));
    let whole = beginning.len() == text.len();
    if whole && line.width() <= columns {
        return line;
    }
    let room = columns.saturating_sub(1);
    let (mut wide, mut cut) = (0, String::new());
    for symbol in line.chars() {
        wide += symbol.width().unwrap_or(0);
        if wide > room {
            break;
        }
        cut.push(symbol);
    }
    cut + "…"
}

/// A text, filled up with spaces to so many columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, columns: usize, expected: &str) {
        let line = one_line(text, columns);
        assert_eq!(line, expected);
        assert!(line.width() <= columns, "{line:?} is {} wide", line.width());
    }

    #[test]
    fn a_line_is_as_wide_as_it_looks() {
        check("short", 10, "short");
        check("a\nb\tc\u{1b}[31m  d", 20, "a b c[31m d");
        check("0123456789", 10, "0123456789");
        check("0123456789x", 10, "012345678…");
        check("北京市今天天气", 8, "北京市…");
        check("北京市今天天气", 14, "北京市今天天气");
        check("🙂🙂🙂", 5, "🙂🙂…");
        check(&"x".repeat(1 << 20), 5, "xxxx…");
        assert_eq!(padded("北京", 6), "北京  ");
    }
}
