//! A plan, run: groups side by side, the tools of a group one after another, until one succeeds.

use std::{fmt, future::Future, time::Duration};

use futures_util::future::join_all;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::{
    plan::{Group, Plan},
    step::{Standing, Step},
};

/// Whoever carries calls to tools. Dropping a call takes it back.
pub trait Tools {
    /// What a tool that succeeds answers.
    type Answer: Send;

    /// Calls a tool.
    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> impl Future<Output = Result<Self::Answer, Failure>> + Send;
}

/// A call that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whose fault it is.
    pub blame: Blame,
    /// What happened.
    pub what: String,
}

/// Whose fault it is that a call did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The request does not say enough, or says what the tool cannot take.
    Request,
    /// The tool answered with an error.
    Tool,
    /// Its server could not be reached, or refused.
    Server,
    /// It took longer than it may.
    Deadline,
}

impl fmt::Display for Blame {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Request => "request",
            Self::Tool => "tool",
            Self::Server => "server",
            Self::Deadline => "deadline",
        })
    }
}

/// What became of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran<A> {
    /// The part of the request.
    pub part: String,
    /// The category.
    pub category: String,
    /// The tools that did not succeed, in the order in which they were tried.
    pub tried: Vec<Tried>,
    /// The answer.
    pub answered: Answered<A>,
}

/// A tool that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Its name.
    pub tool: String,
    /// Its server.
    pub server: String,
    /// Why.
    pub failure: Failure,
}

/// The answer of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Answered<A> {
    /// A tool succeeded.
    By {
        /// Its name.
        tool: String,
        /// Its server.
        server: String,
        /// What it answered.
        answer: A,
    },
    /// None succeeded.
    Not,
}

/// Runs a plan within `allowed`; what became of each group, in the order of the plan.
///
/// The tools of a group share its time: one that hangs leaves the others theirs. Where the best tool of a part waits for a yes,
/// nothing else is called in its place. Dropping the future takes back what is in flight.
pub async fn run<T: Tools>(plan: &Plan, tools: &T, allowed: Duration) -> Vec<Ran<T::Answer>> {
    let deadline = Instant::now() + allowed;
    join_all(plan.groups.iter().map(|group| in_turn(group, stands_for(plan, group), tools, deadline))).await
}

/// The step that has to be agreed to before this group is run: the best one of its part.
fn stands_for<'p>(plan: &'p Plan, group: &Group) -> Option<&'p Step> {
    let best = plan.groups.iter().find(|other| other.part == group.part)?.steps.first()?;
    (best.standing == Standing::Unagreed).then_some(best)
}

async fn in_turn<T: Tools>(group: &Group, waits: Option<&Step>, tools: &T, deadline: Instant) -> Ran<T::Answer> {
    let Group { part, category, steps } = group;
    let mut ran = Ran { part: part.clone(), category: category.clone(), tried: Vec::new(), answered: Answered::Not };
    if let Some(best) = waits.filter(|best| steps.first() != Some(best)) {
        let what = format!("{} is meant before it, and nobody agreed to that", best.tool.name);
        ran.tried.extend(steps.first().map(|step| tried(step, Failure { blame: Blame::Request, what })));
        return ran;
    }
    let mut callable = steps.iter().filter(|step| step.standing == Standing::Ready).count();
    for step in steps {
        let until = share(deadline, callable);
        match called(step, tools, until).await {
            Ok(answer) => {
                let (tool, server) = (step.tool.name.clone(), step.tool.server.clone());
                ran.answered = Answered::By { tool, server, answer };
                break;
            }
            Err(failure) => ran.tried.push(tried(step, failure)),
        }
        match step.standing {
            Standing::Ready => callable -= 1,
            // It was meant: nothing is done in its place.
            Standing::Unagreed => break,
            Standing::Missing(_) | Standing::Unfit(_) => {}
        }
    }
    ran
}

/// Until when a call may take where so many are left, this one among them.
fn share(deadline: Instant, callable: usize) -> Instant {
    let left = deadline.saturating_duration_since(Instant::now());
    let callable = u32::try_from(callable.max(1)).unwrap_or(u32::MAX);
    deadline - (left - left / callable)
}

fn tried(step: &Step, failure: Failure) -> Tried {
    Tried { tool: step.tool.name.clone(), server: step.tool.server.clone(), failure }
}

async fn called<T: Tools>(step: &Step, tools: &T, until: Instant) -> Result<T::Answer, Failure> {
    if let Some(what) = hindrance(&step.standing) {
        return Err(Failure { blame: Blame::Request, what });
    }
    let begun = Instant::now();
    let call = tools.call(&step.tool.name, step.values().clone());
    let late = |_| {
        let waited = until.saturating_duration_since(begun).as_secs_f64();
        Failure { blame: Blame::Deadline, what: format!("no answer within {waited:.0} s") }
    };
    timeout_at(until, call).await.map_err(late)?
}

/// Why a call cannot be made.
fn hindrance(standing: &Standing) -> Option<String> {
    match standing {
        Standing::Ready => None,
        Standing::Missing(missing) => {
            let told = missing.iter().map(|one| match &one.description {
                Some(description) => format!("{} ({description})", one.name),
                None => one.name.clone(),
            });
            Some(format!("the request does not say {}", told.collect::<Vec<_>>().join(", ")))
        }
        Standing::Unfit(why) => Some(format!("what the request says does not fit: {why}")),
        Standing::Unagreed => Some("it may destroy, by what it says of itself, and nobody agreed".into()),
    }
}
