//! What is to be done about a request.

use std::sync::Arc;

use super::{matching::Score, offered::Offered, step::Step};

/// What is to be done about a request: all groups at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The request.
    pub request: String,
    /// What is run side by side; none where nothing fits.
    pub groups: Vec<Group>,
    /// Parts of the request for which there is no tool.
    pub unanswered: Vec<String>,
    /// The nearest tools there are, where nothing fits.
    pub nearest: Vec<Near>,
}

/// Tools of one category for one part of the request: one after another, the first success wins.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The part of the request.
    pub part: String,
    /// The category.
    pub category: String,
    /// The tools, the best first.
    pub steps: Vec<Step>,
}

/// A tool that was near, and does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The tool.
    pub tool: Arc<Offered>,
    /// How near.
    pub score: Score,
}
