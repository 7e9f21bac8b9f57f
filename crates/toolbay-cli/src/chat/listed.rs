//! What `/tools`, `/prompts`, `/resources`, `/cost` and `/trace` show.

use serde_json::{Map, Value};
use toolbay_agent::{
    Agent,
    approve::{Decision, Policy},
    context::arguments,
    toolbox::{Item, Toolbox},
    turn::Prices,
};
use toolbay_gateway::catalog::Listed;

use super::{end, exact, shown, width};
use crate::show;

/// The columns of a description.
const ABOUT: usize = 80;

/// The tools whose name or description holds the words, and what holds for a call.
pub(super) async fn tools(toolbox: &dyn Toolbox, policy: &dyn Policy, words: &str) -> String {
    let shelf = toolbox.shelf().await;
    let fit = shelf.tools.iter().filter(|tool| holds(words, &[&tool.id.to_string(), &tool.description]));
    let rows = fit.map(|tool| {
        let rule = match policy.decide(tool, &Map::new()) {
            Decision::Allow => "allowed",
            Decision::Ask => "asks",
            Decision::Deny(_) => "forbidden",
        };
        [exact::text(&tool.id.to_string()), rule.to_owned(), width::one_line(&tool.description, ABOUT)]
    });
    let mut told = table(["TOOL", "CALLS", "DESCRIPTION"], rows.collect(), "no tools");
    for (server, why) in &shelf.down {
        told += &format!("\nserver {server} is not there: {}", width::one_line(why, 2 * ABOUT));
    }
    told
}

/// The prompts whose name or description holds the words, with what they take.
pub(super) async fn prompts(toolbox: &dyn Toolbox, words: &str) -> String {
    let items = toolbox.items(Listed::Prompts).await;
    let rows = items.iter().filter(|item| holds(words, &[&item.public, &about(item)])).map(|item| {
        let takes = arguments(item).into_iter();
        let takes: Vec<_> = takes.map(|one| if one.required { one.name } else { format!("[{}]", one.name) }).collect();
        [exact::text(&format!("/{}", item.public)), exact::text(&takes.join(" ")), width::one_line(&about(item), ABOUT)]
    });
    table(["PROMPT", "TAKES", "DESCRIPTION"], rows.collect(), "no prompts")
}

/// The resources whose name or description holds the words.
pub(super) async fn resources(toolbox: &dyn Toolbox, words: &str) -> String {
    let items = toolbox.items(Listed::Resources).await;
    let rows = items.iter().filter_map(|item| Some((item, mention(item)?)));
    let fit = rows.filter(|(item, mention)| holds(words, &[mention, &about(item)]));
    let rows = fit.map(|(item, mention)| [exact::text(&format!("@{mention}")), width::one_line(&about(item), ABOUT)]);
    table(["RESOURCE", "DESCRIPTION"], rows.collect(), "no resources")
}

/// What the conversation took.
pub(super) fn cost(agent: &Agent, prices: Option<&Prices>) -> String {
    let spent = agent.spent();
    let definitions = agent.definition_tokens();
    format!("{}; the tools take about {definitions} tokens of each", end::usage(&spent.usage, spent.questions, prices))
}

/// What was called.
pub(super) fn trace(agent: &Agent) -> String {
    let lines: Vec<_> = agent.steps().iter().filter_map(|step| shown::step(step, width::columns())).collect();
    if lines.is_empty() { "nothing was called".to_owned() } else { lines.join("\n") }
}

/// How a resource is attached: its server and its address.
fn mention(item: &Item) -> Option<String> {
    Some(format!("{}:{}", item.server, item.entry.get("uri")?.as_str()?))
}

fn about(item: &Item) -> String {
    let text = |key: &str| item.entry.get(key).and_then(Value::as_str);
    text("description").or_else(|| text("title")).or_else(|| text("name")).unwrap_or_default().to_owned()
}

fn holds(words: &str, texts: &[&str]) -> bool {
    let text = texts.join(" ").to_lowercase();
    words.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

fn table<const N: usize>(heading: [&str; N], rows: Vec<[String; N]>, none: &str) -> String {
    if rows.is_empty() { none.to_owned() } else { show::table(heading, rows) }
}
