//! Choosing tools by the words of a request, and reading a tool's arguments out of it, in English and Chinese.
//!
//! Pure: no IO, no clock, no async. What a request means is worked out from words, never from a model at run time.

pub mod slots;
