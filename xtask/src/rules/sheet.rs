//! The sheet of rules beside the clone.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// `17`, or `A17` for authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Number {
    authorization: bool,
    number: u16,
}

impl Number {
    /// Reads one.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (authorization, digits) = text.strip_prefix('A').map_or((false, text), |digits| (true, digits));
        let short = (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        short.then(|| digits.parse().ok()).flatten().map(|number| Self { authorization, number })
    }

    /// All numbers from this one to another of the same kind.
    pub(crate) fn up_to(self, last: Self) -> impl Iterator<Item = Self> {
        let authorization = self.authorization;
        (self.number..=last.number).map(move |number| Self { authorization, number })
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.authorization { "A" } else { "" }, self.number)
    }
}

/// What the sheet says of a rule.
pub(crate) struct Asked {
    /// No scenario of the official suite covers all of it.
    pub(crate) beyond_scenarios: bool,
}

/// The rules; none where there is no sheet.
pub(crate) fn read(path: &Path) -> Result<BTreeMap<Number, Asked>> {
    if !path.is_file() {
        return Ok(BTreeMap::new());
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(parse(&text))
}

fn parse(text: &str) -> BTreeMap<Number, Asked> {
    let mut checklist = false;
    let lines = text.lines().map(move |line| {
        checklist |= line.starts_with("## 10");
        (checklist, line)
    });
    let rows = lines.filter_map(|(checklist, line)| Some((checklist, line.strip_prefix("| ")?.strip_suffix(" |")?)));
    rows.filter_map(|(checklist, row)| {
        // Those of authorization have a chapter of their own; other tables begin with numbers too.
        let number = Number::read(row.split(" | ").next()?).filter(|number| checklist || number.authorization)?;
        let scenario = row.rsplit(" | ").next()?;
        let beyond_scenarios = scenario.contains('✗') || scenario.contains("part");
        Some((number, Asked { beyond_scenarios }))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_begin_with_a_number_are_rules() {
        let text =
            "| A2 | C+ | basic |\n| 3 | other table | ✗ |\n## 10. Checklist\n| 1 | B | all, UTF-8 ✗ |\n| x | y | ✗ |\n";
        let rules = parse(text);
        let beyond: Vec<_> = rules.iter().map(|(number, asked)| (number.to_string(), asked.beyond_scenarios)).collect();
        assert_eq!(beyond, [("1".to_owned(), true), ("A2".to_owned(), false)]);
    }
}
