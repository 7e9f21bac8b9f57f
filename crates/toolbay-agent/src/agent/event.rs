//! What is heard while an agent works.

use crate::{model::Heard, trace::Step};

/// What is heard while an agent works.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The model speaks.
    Heard(Heard<'a>),
    /// A step was done, or is about to be: a call is told before it is made.
    Step(&'a Step),
}
