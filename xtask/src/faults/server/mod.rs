//! The server side: every case, and the stand on which it is tried.

mod calls;
mod ends;
mod messages;
mod stand;
mod streams;
mod web;

pub(crate) use self::stand::run;
