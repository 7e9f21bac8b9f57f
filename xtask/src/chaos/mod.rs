//! `cargo xtask chaos`: what becomes of calls through `toolbay up` while everything around them breaks.
//!
//! Scripted servers are killed, stopped, cut off in the middle of a message, answer late, twice, or under ids that are no
//! call's; clients leave, or read slowly; the bay is killed and started again. Each call carries a token that is nobody
//! else's, and the books must balance: each ends in its own answer or in an error, no server ran it twice, and nothing is
//! left behind. What is done follows from the seed; when it takes effect is the machine's.
//!
//! Not here: a server that gives one caller's answer under the id of another's call in flight. It lies, and nobody but the
//! server can know.

mod acts;
mod books;
mod client;
mod dice;
mod hearing;
pub(crate) mod http;
mod measure;
mod meeting;
mod rig;
mod run;
mod storm;
mod upstream;
mod weather;

pub(crate) use self::measure::Figures;
pub(crate) use self::run::run;
pub(crate) use self::upstream::play;
