//! Orchestration without a model: which tools a request means, with which arguments, in which order; and running that.
//!
//! Planning is pure: a request and tools in, a [`Plan`] out. [`run`] calls tools by way of whoever implements [`Tools`];
//! how a call travels is none of its business. Scores and readings are made elsewhere (`toolbay-retrieval`).

mod arguments;
mod draw;
mod hints;
mod matching;
mod meanings;
mod offered;
mod parts;
mod plan;
mod rules;
mod run;
mod shielded;
mod step;
mod validity;

pub use draw::Planner;
pub use matching::Score;
pub use meanings::Meanings;
pub use offered::{Caution, Offered};
pub use plan::{Group, Near, Plan};
pub use rules::{Reading, Rules};
pub use run::{Answered, Blame, Failure, Ran, Tools, Tried, run};
pub use step::{Argument, Origin, Standing, Step};
pub use toolbay_retrieval::slots::{Day, Missing};
pub use toolbay_retrieval::{Breakdown, Matched, Parts, Scorer, Weights};
pub(crate) use validity::validator;

#[cfg(test)]
mod tests;
