//! What was measured, beside what is wanted: a table for people, JSON for machines.

use anyhow::Result;
use serde_json::json;

/// Figures that belong together.
pub(crate) struct Group {
    /// What was measured, and on what.
    pub(crate) name: String,
    /// The figures, in the order they are shown.
    pub(crate) figures: Vec<Figure>,
}

/// One figure.
pub(crate) struct Figure {
    /// What it counts, with its unit.
    pub(crate) name: String,
    /// What came out.
    pub(crate) value: f64,
    /// What is wanted, if anything is.
    pub(crate) goal: Goal,
}

/// What a figure has to reach.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// Shown only.
    None,
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

impl Figure {
    /// A figure that is only shown.
    pub(crate) fn shown(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), value, goal: Goal::None }
    }

    /// Whether it is a time, by its unit.
    pub(crate) fn is_time(&self) -> bool {
        ["ms", "us"].iter().any(|unit| self.name.split_whitespace().any(|word| word == *unit))
    }

    /// Only shows it.
    pub(crate) fn free(&mut self) {
        self.goal = Goal::None;
    }

    fn held(&self) -> Option<bool> {
        match self.goal {
            Goal::None => None,
            Goal::AtLeast(least) => Some(self.value >= least),
            Goal::AtMost(most) => Some(self.value <= most),
        }
    }

    fn wanted(&self) -> String {
        match self.goal {
            Goal::None => String::new(),
            Goal::AtLeast(least) => format!(">= {least}"),
            Goal::AtMost(most) => format!("<= {most}"),
        }
    }
}

/// Prints the groups.
pub(crate) fn print(groups: &[Group], json: bool) -> Result<()> {
    if json {
        let groups: Vec<_> = groups.iter().map(as_json).collect();
        println!("{}", serde_json::to_string_pretty(&groups)?);
        return Ok(());
    }
    for group in groups {
        println!("{}", group.name);
        for figure in &group.figures {
            let mark = figure.held().map_or("", |held| if held { "ok" } else { "MISSED" });
            println!("  {:<52} {:>10.3}  {:<12} {mark}", figure.name, figure.value, figure.wanted());
        }
    }
    Ok(())
}

/// Whether no figure misses its goal.
pub(crate) fn held(groups: &[Group]) -> bool {
    groups.iter().flat_map(|group| &group.figures).all(|figure| figure.held() != Some(false))
}

fn as_json(group: &Group) -> serde_json::Value {
    let figures: Vec<_> = group
        .figures
        .iter()
        .map(|figure| json!({"name": figure.name, "value": figure.value, "wanted": figure.wanted(), "held": figure.held()}))
        .collect();
    json!({"name": group.name, "figures": figures})
}
