//! What only the person at the terminal can say: arguments that are missing, and a yes to what destroys.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use toolbay_agent::planner::{Plan, Standing, Step};

use crate::show;

/// What was agreed to beforehand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreed {
    ToAll,
    ToNothing,
}

/// Asks what is open, group by group, for the best tool of each that lacks nothing but an answer. Without a terminal
/// nobody is asked.
pub(super) fn settle(plan: &mut Plan, agreed: Agreed) {
    let asking = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    for group in &mut plan.groups {
        if agreed == Agreed::ToAll {
            group.steps.iter_mut().for_each(Step::agree);
        }
        if !asking || group.steps.iter().any(|step| step.standing == Standing::Ready) {
            continue;
        }
        let open = |step: &&mut Step| matches!(step.standing, Standing::Missing(_) | Standing::Unagreed);
        if let Some(step) = group.steps.iter_mut().find(open) {
            supply(step);
            if agreed == Agreed::ToAll || (step.standing == Standing::Unagreed && says_yes(step)) {
                step.agree();
            }
        }
    }
}

/// Asks for each argument that is missing, until one is left open.
fn supply(step: &mut Step) {
    while let Standing::Missing(missing) = &step.standing {
        let Some(next) = missing.first().cloned() else { return };
        let about = next.description.as_deref().map(|text| format!(" ({})", show::headline(text, 80)));
        let typed = line(&format!("{} wants {}{}: ", step.tool.name, next.name, about.unwrap_or_default()));
        let Some(typed) = typed.filter(|typed| !typed.is_empty()) else { return };
        if let Err(why) = step.give(&next.name, &typed) {
            eprintln!("{}", show::safe(&why));
        }
    }
}

fn says_yes(step: &Step) -> bool {
    let arguments = serde_json::Value::Object(step.values().clone());
    let answer = line(&format!("{} says that it destroys; call it with {arguments}? [y/N] ", step.tool.name));
    answer.is_some_and(|answer| matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn line(question: &str) -> Option<String> {
    eprint!("{}", show::safe(question));
    // Whoever closed it reads no questions.
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer).ok()?;
    (read > 0).then(|| answer.trim().to_owned())
}
