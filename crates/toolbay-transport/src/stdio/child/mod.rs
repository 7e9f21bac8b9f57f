//! A server as a child process: started without a shell, its stderr kept, ended with its whole tree in the order of the spec.
//!
//! Not for its messages: whoever starts a child gets its pipes and frames them with `lines`.
// spec: basic/transports/stdio

mod command;
mod environment;
mod exit;
mod group;
mod process;
mod spawn_error;
mod stderr;

#[cfg(all(test, unix))]
mod tests;

pub use command::{Grace, Pipes, ServerCommand};
pub use environment::inherited;
pub use exit::{Exit, How, Needed, Shutdown};
pub use process::ServerProcess;
pub use spawn_error::SpawnError;
pub use stderr::OnLine;
