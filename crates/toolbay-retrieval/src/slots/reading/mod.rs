//! What the places, dates and words of a Chinese request are to each other.
//!
//! One room per question: a way, a place asked about, a city, what to search for. None of them looks at the tool.

mod ask;
mod cities;
mod counts;
mod names;
mod queries;
mod routes;
mod spots;
mod words;

pub(super) use ask::read;
