//! A plan, shown: what would be called, why, with what.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolbay_agent::planner::{Argument, Group, Origin, Parts, Plan, Rules, Score, Scorer, Standing, Step};

use crate::{exact, show};

/// For people.
pub(super) fn text(plan: &Plan, rules: &Rules) -> String {
    let mut text = String::new();
    for (at, group) in plan.groups.iter().enumerate() {
        let order = match (plan.groups.len(), group.steps.len()) {
            (1, 1) => "one call",
            (1, _) => "in turn, until one succeeds",
            (_, 1) => "at once with the others",
            (_, _) => "at once with the others; in turn, until one succeeds",
        };
        let (part, category) = (exact::line(&format!("{:?}", group.part)), exact::line(&group.category));
        let _ = writeln!(text, "{}. {part} ({category}, {order})", at + 1);
        group.steps.iter().for_each(|step| self::step(&mut text, step, rules));
    }
    for part in &plan.unanswered {
        let _ = writeln!(text, "no tool for {part:?}");
    }
    show::safe(text.trim_end())
}

fn step(text: &mut String, step: &Step, rules: &Rules) {
    let server = if step.tool.server.is_empty() { String::new() } else { format!(" on {}", step.tool.server) };
    let _ = writeln!(text, "   {}", exact::line(&format!("{}{server}", step.tool.name)));
    let _ = writeln!(text, "     score {}", score(&step.score, rules));
    for Argument { name, value, origin } in &step.arguments {
        let (name, value) = (exact::line(name), exact::json(value));
        let _ = writeln!(text, "     {name} = {value}  {}", exact::line(&from(origin)));
    }
    let standing = match &step.standing {
        Standing::Ready => return,
        Standing::Missing(missing) => {
            for one in missing {
                let about = one.description.as_deref().map(|about| format!("  {}", show::headline(about, 80)));
                let _ = writeln!(text, "     {} is missing{}", exact::line(&one.name), about.unwrap_or_default());
            }
            return;
        }
        Standing::Unfit(why) => format!("does not fit: {}", exact::line(why)),
        Standing::Unagreed => "may destroy, by what it says of itself: wants a yes (--yes)".into(),
    };
    let _ = writeln!(text, "     {standing}");
}

fn score(score: &Score, rules: &Rules) -> String {
    let by = score.by_hint.map(|hint| format!("; found by what it is about: {hint}")).unwrap_or_default();
    match (&score.parts, &rules.scorer) {
        (Parts::Weighted(parts), Scorer::Weighted(weights)) => format!(
            "{:.3} = {} × name {:.3} + {} × description {:.3} + {} × category {:.3}{by}",
            score.total,
            weights.name,
            parts.name,
            weights.description,
            parts.description,
            weights.category,
            parts.category
        ),
        (Parts::Weighted(parts), Scorer::Best | Scorer::Words) => {
            format!("{:.3}: name {:.3}, description {:.3}{by}", score.total, parts.name, parts.description)
        }
        (Parts::Best { words, about, model, matched }, _) => {
            let matched: Vec<_> = matched.iter().map(|one| format!("{} → {}", one.word, one.term)).collect();
            let matched = if matched.is_empty() { String::new() } else { format!("; {}", matched.join(", ")) };
            let model = if *model == 0.0 { String::new() } else { format!(" + model {model:.2}") };
            format!("{:.2} = words {words:.2} + about {about:.2}{model}{matched}{by}", score.total)
        }
    }
}

fn from(origin: &Origin) -> String {
    match origin {
        Origin::Said { kind, words } => format!("(said: {kind} {words:?})"),
        Origin::Before { kind, words } => format!("(said before: {kind} {words:?})"),
        Origin::Whole => "(the request itself)".into(),
        Origin::Named => "(a choice that the request names)".into(),
        Origin::Schema => "(the schema's own)".into(),
        Origin::Given => "(given)".into(),
    }
}

/// For machines.
pub(super) fn as_json(plan: &Plan) -> Value {
    let near = plan.nearest.iter().map(|near| json!({"tool": near.tool.name, "score": score_json(&near.score)}));
    json!({
        "request": plan.request,
        "groups": plan.groups.iter().map(group_json).collect::<Vec<_>>(),
        "unanswered": plan.unanswered,
        "nearest": near.collect::<Vec<_>>(),
    })
}

fn group_json(group: &Group) -> Value {
    let steps: Vec<_> = group.steps.iter().map(step_json).collect();
    json!({"part": group.part, "category": group.category, "steps": steps})
}

fn step_json(step: &Step) -> Value {
    let standing = match &step.standing {
        Standing::Ready => json!({"state": "ready"}),
        Standing::Missing(missing) => {
            let missing = missing.iter().map(|one| json!({"name": one.name, "description": one.description}));
            json!({"state": "missing", "missing": missing.collect::<Vec<_>>()})
        }
        Standing::Unfit(why) => json!({"state": "unfit", "reason": why}),
        Standing::Unagreed => json!({"state": "unagreed"}),
    };
    let origins = step.arguments.iter().map(|Argument { name, origin, .. }| {
        let told = match origin {
            Origin::Said { kind, words } => json!({"origin": "said", "kind": kind, "words": words}),
            Origin::Before { kind, words } => json!({"origin": "before", "kind": kind, "words": words}),
            Origin::Whole => json!({"origin": "whole"}),
            Origin::Named => json!({"origin": "named"}),
            Origin::Schema => json!({"origin": "schema"}),
            Origin::Given => json!({"origin": "given"}),
        };
        (name.clone(), told)
    });
    json!({
        "tool": step.tool.name, "server": step.tool.server, "category": step.tool.category,
        "score": score_json(&step.score),
        "arguments": step.values(), "origins": origins.collect::<serde_json::Map<_, _>>(),
        "standing": standing,
    })
}

fn score_json(score: &Score) -> Value {
    let parts = match &score.parts {
        Parts::Weighted(parts) => {
            json!({"name": parts.name, "description": parts.description, "category": parts.category})
        }
        Parts::Best { words, about, model, matched } => {
            let matched: Vec<_> =
                matched.iter().map(|one| json!({"word": one.word, "term": one.term, "score": one.score})).collect();
            json!({"words": words, "about": about, "model": model, "matched": matched})
        }
    };
    json!({"total": score.total, "parts": parts, "byHint": score.by_hint})
}
