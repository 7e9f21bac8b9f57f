//! How a turn ended, for people, for programs and as an exit code.

use serde_json::{Value, json};
use toolbay_agent::{
    Agent,
    model::{Usage, Why},
    turn::{Author, End, Ended, Prices},
};

use crate::exit::Exit;

/// The word for it.
pub(super) fn word(why: &Ended) -> &'static str {
    match why {
        Ended::Answered => "answered",
        Ended::Length => "length",
        Ended::Refused => "refused",
        Ended::Silent => "silent",
        Ended::Rounds => "rounds",
        Ended::Repeating => "repeating",
        Ended::Budget => "budget",
        Ended::Cancelled => "cancelled",
        Ended::Failed(_) => "failed",
    }
}

/// What the person is told besides the answer.
pub(super) fn remark(end: &End) -> Option<&'static str> {
    match (&end.why, end.author) {
        (Ended::Length, _) => Some("the answer is cut off: the model may not say more at once"),
        (Ended::Rounds, Author::Model) => Some("this was the last round of calls (--max-iterations)"),
        (Ended::Repeating, Author::Model) => Some("the same call kept failing; no more were made"),
        (Ended::Refused, Author::Model) => Some("the model refused to go on"),
        (
            Ended::Answered
            | Ended::Refused
            | Ended::Silent
            | Ended::Rounds
            | Ended::Repeating
            | Ended::Budget
            | Ended::Cancelled
            | Ended::Failed(_),
            _,
        ) => None,
    }
}

/// The exit code of a command that was this one turn.
pub(super) fn exit(end: &End) -> Result<(), Exit> {
    match &end.why {
        Ended::Answered | Ended::Length | Ended::Rounds | Ended::Repeating if end.author == Author::Model => Ok(()),
        Ended::Cancelled => Err(Exit::interrupted()),
        Ended::Failed(error) => Err(match error.why {
            Why::Key => Exit::config(&end.text),
            Why::Unreachable => Exit::unreachable(&end.text),
            Why::Question | Why::TooLong | Why::Provider | Why::Reply => Exit::failed(&end.text),
        }),
        Ended::Answered
        | Ended::Length
        | Ended::Refused
        | Ended::Silent
        | Ended::Rounds
        | Ended::Repeating
        | Ended::Budget => Err(Exit::failed(if end.author == Author::Host { &end.text } else { "" })),
    }
}

/// The whole turn, for programs.
pub(super) fn as_json(end: &End, agent: &Agent, prices: Option<&Prices>) -> Value {
    let spent = agent.spent();
    let steps: Vec<_> = agent.steps().iter().map(|step| step.to_value()).collect();
    let mut usage = json!({
        "input": spent.usage.input, "cached": spent.usage.cached, "output": spent.usage.output,
        "questions": spent.questions,
    });
    if let Some(prices) = prices {
        usage["cost"] = json!(prices.of(&spent.usage));
    }
    // The host's words are no answer.
    let (answer, said) = match end.author {
        Author::Model => (json!(end.text), Value::Null),
        Author::Host => (Value::Null, json!(end.text)),
    };
    json!({"answer": answer, "ended": word(&end.why), "reason": said, "steps": steps, "usage": usage})
}

/// What was taken, in a line.
pub(super) fn usage(usage: &Usage, questions: u64, prices: Option<&Prices>) -> String {
    let Usage { input, cached, output } = usage;
    let cost = prices.map(|prices| format!(", cost {:.4}", prices.of(usage))).unwrap_or_default();
    format!("{questions} questions, {input} tokens read ({cached} of them kept by the provider), {output} said{cost}")
}
