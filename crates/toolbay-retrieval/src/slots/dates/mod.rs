//! Days and times in a request: the words that say them, and what they mean on a given day.
//!
//! Reads no clock: the day on which the request is made is an argument.

mod calendar;
mod clocks;
mod days;
mod feasts;
mod grammar;
mod meaning;
mod months;
mod numbers;

pub use calendar::{Clock, Day};
pub(super) use grammar::{Dated, find};
pub(super) use meaning::{DayOf, MonthOf, Part, When, YearOf, meaning};
pub(super) use numbers::{digits, number};
