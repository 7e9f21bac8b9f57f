//! What a case says, how it ended, and the report of one target.

use std::fmt;
use std::time::Duration;

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Right.
    Held(String),
    /// Wrong; what was seen.
    Broken(String),
    /// Not tried, and why.
    Skipped(String),
}

/// A case that cannot be tried here.
#[derive(Debug)]
pub(crate) struct Skip(pub(crate) &'static str);

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Skip {}

impl From<anyhow::Result<String>> for Verdict {
    fn from(result: anyhow::Result<String>) -> Self {
        match result {
            Ok(seen) => Self::Held(short(&seen)),
            Err(error) => match error.downcast_ref::<Skip>() {
                Some(skip) => Self::Skipped(skip.0.to_owned()),
                None => Self::Broken(short(&format!("{error:#}"))),
            },
        }
    }
}

/// One case against one target.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The case.
    pub(crate) name: String,
    /// What is right.
    pub(crate) right: &'static str,
    /// How it ended.
    pub(crate) verdict: Verdict,
    /// How long it took.
    pub(crate) took: Duration,
}

/// All cases against one target.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// The target's name.
    pub(crate) target: String,
    /// Every case, in order.
    pub(crate) lines: Vec<Line>,
}

impl Report {
    /// How many held, were broken, and were skipped.
    pub(crate) fn counts(&self) -> [usize; 3] {
        let count = |is: fn(&Verdict) -> bool| self.lines.iter().filter(|line| is(&line.verdict)).count();
        [
            count(|verdict| matches!(verdict, Verdict::Held(_))),
            count(|verdict| matches!(verdict, Verdict::Broken(_))),
            count(|verdict| matches!(verdict, Verdict::Skipped(_))),
        ]
    }

    /// The broken ones, with what was seen.
    pub(crate) fn broken(&self) -> impl Iterator<Item = (&Line, &str)> {
        self.lines.iter().filter_map(|line| match &line.verdict {
            Verdict::Broken(seen) => Some((line, seen.as_str())),
            Verdict::Held(_) | Verdict::Skipped(_) => None,
        })
    }
}

/// At most 160 characters on one line, nothing that moves a terminal.
pub(crate) fn short(text: &str) -> String {
    const MOST: usize = 160;
    let plain: String = text.chars().map(|symbol| if symbol.is_control() { ' ' } else { symbol }).collect();
    if plain.chars().count() <= MOST { plain } else { plain.chars().take(MOST).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_tried_is_no_failure() {
        assert_eq!(Verdict::from(Err(Skip("no such tool").into())), Verdict::Skipped("no such tool".into()));
        assert_eq!(Verdict::from(Err(anyhow::anyhow!("a\nb"))), Verdict::Broken("a b".into()));
        assert_eq!(short(&"é".repeat(200)).chars().count(), 161);
    }
}
