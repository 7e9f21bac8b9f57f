//! What only the person at the terminal can say: arguments that are missing, and a yes to what destroys.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use toolbay_agent::planner::{Plan, Standing, Step};

use crate::{exact, show};

/// What was agreed to beforehand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreed {
    ToAll,
    ToNothing,
}

/// Asks what is open, group by group: for the best tool of each, and for the next one where that stays open. What needs no
/// answer is called before what comes after it, so that nothing is asked for that. Without a terminal nobody is asked.
pub(super) fn settle(plan: &mut Plan, agreed: Agreed) {
    let asking = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    // Parts of which somebody said no to the best tool: nothing is done in its place.
    let mut refused: Vec<String> = Vec::new();
    for group in &mut plan.groups {
        if agreed == Agreed::ToAll {
            group.steps.iter_mut().for_each(Step::agree);
        }
        if !asking || refused.contains(&group.part) {
            continue;
        }
        for step in &mut group.steps {
            supply(step);
            if step.standing == Standing::Unagreed && (agreed == Agreed::ToAll || says_yes(step)) {
                step.agree();
            }
            match step.standing {
                Standing::Ready => break,
                Standing::Unagreed => {
                    refused.push(group.part.clone());
                    break;
                }
                Standing::Missing(_) | Standing::Unfit(_) => {}
            }
        }
    }
}

/// Asks for each argument that is missing, until one is left open.
fn supply(step: &mut Step) {
    while let Standing::Missing(missing) = &step.standing {
        let Some(next) = missing.first().cloned() else { return };
        let about = next.description.as_deref().map(|text| format!(" ({})", show::headline(text, 80)));
        let wanted = format!("{} wants {}{}", step.tool.name, next.name, about.unwrap_or_default());
        let typed = line(&format!("{}: ", exact::line(&wanted)));
        let Some(typed) = typed.filter(|typed| !typed.is_empty()) else { return };
        if let Err(why) = step.give(&next.name, &typed) {
            eprintln!("{}", exact::line(&why));
        }
    }
}

fn says_yes(step: &Step) -> bool {
    let arguments = serde_json::Value::Object(step.values().clone());
    let (tool, arguments) = (exact::line(&step.tool.name), exact::json(&arguments));
    let answer = line(&format!("{tool} may destroy, by what it says of itself; call it with {arguments}? [y/N] "));
    answer.is_some_and(|answer| matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn line(question: &str) -> Option<String> {
    eprint!("{question}");
    // Whoever closed it reads no questions.
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer).ok()?;
    (read > 0).then(|| answer.trim().to_owned())
}
