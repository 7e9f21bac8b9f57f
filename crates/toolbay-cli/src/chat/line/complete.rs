//! What the tab key fills in: `/` at the beginning of a line, `@` at the beginning of a word.

use std::sync::{Arc, Mutex, PoisonError};

use rustyline::{
    Context, Helper, Result,
    completion::Completer,
    highlight::Highlighter,
    hint::Hinter,
    validate::{ValidationContext, ValidationResult, Validator},
};

use crate::show;

/// The most that is offered at once.
const MOST: usize = 200;

/// What there is to be filled in, shared with whoever knows.
#[derive(Clone, Default)]
pub(in crate::chat) struct Known(Arc<Mutex<Words>>);

#[derive(Default)]
struct Words {
    slashes: Vec<String>,
    resources: Vec<String>,
}

impl Known {
    /// From now on: commands and prompts, without the slash, and resources as `server:uri`.
    pub(in crate::chat) fn are(&self, slashes: Vec<String>, resources: Vec<String>) {
        let safe = |mut words: Vec<String>| {
            words.retain(|word| show::safe(word) == *word && !word.contains(char::is_whitespace));
            words.sort();
            words.dedup();
            words
        };
        let words = Words { slashes: safe(slashes), resources: safe(resources) };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }

    /// Where the word at `pos` begins, and what it may become.
    fn filled(&self, line: &str, pos: usize) -> (usize, Vec<String>) {
        let before = &line[..pos];
        let start = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        let words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mark, of) = match before[start..].chars().next() {
            Some('/') if start == 0 => ('/', &words.slashes),
            Some('@') => ('@', &words.resources),
            Some(_) | None => return (pos, vec![]),
        };
        let begun = &before[start + 1..];
        let fit = of.iter().filter(|word| word.starts_with(begun)).take(MOST);
        (start, fit.map(|word| format!("{mark}{word}")).collect())
    }
}

/// Whether the tab key fills in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Filling {
    Words,
    Nothing,
}

pub(super) struct Fill {
    pub(super) known: Known,
    pub(super) filling: Filling,
}

impl Completer for Fill {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<String>)> {
        match self.filling {
            Filling::Words => Ok(self.known.filled(line, pos)),
            Filling::Nothing => Ok((pos, vec![])),
        }
    }
}

impl Hinter for Fill {
    type Hint = String;
}

impl Highlighter for Fill {}

impl Validator for Fill {
    /// A line that ends with a backslash goes on.
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let goes_on = self.filling == Filling::Words && context.input().ends_with('\\');
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Helper for Fill {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_and_resources_are_filled_in_where_they_can_stand() {
        let known = Known::default();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        known.are(words(&["help", "crm__report", "crm__review"]), words(&["crm:file:///a", "evil\u{1b}[2J"]));
        let check = |line: &str, expected: (usize, &[&str])| {
            assert_eq!(known.filled(line, line.len()), (expected.0, words(expected.1)), "{line}");
        };
        check("/", (0, &["/crm__report", "/crm__review", "/help"]));
        check("/crm__rev", (0, &["/crm__review"]));
        check("see 北京 @crm", (11, &["@crm:file:///a"]));
        check("see @", (4, &["@crm:file:///a"]));
        check("and/", (4, &[]));
        check("see /", (5, &[]));
        check("", (0, &[]));
    }
}
