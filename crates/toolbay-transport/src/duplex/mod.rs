//! Links on which frames go both ways, and the tasks that own them: one for a client's end, one for a server's.

pub mod client;
mod gate;
mod link;
mod owner;
mod port;
pub mod server;
mod serving;
mod steps;
mod works;

pub use client::Client;
pub use link::{Came, ReadFrames, WriteFrames};
pub use server::{Options, serve};
pub use steps::{Steps, StepsIn, steps};
