//! Where there are no sockets with a mode, nobody is asked and nobody answers.

use std::sync::Arc;

use serde_json::Value;

use super::{House, Question};
use crate::exit::Exit;

/// Answers of one that runs.
pub(crate) struct Asked;

impl Asked {
    /// The next line of the answer.
    pub(crate) async fn next(&mut self) -> Result<Option<Value>, Exit> {
        Ok(None)
    }
}

/// Asks nobody.
pub(crate) async fn ask(_: &Question, _: Option<u32>) -> Result<Asked, Exit> {
    Err(Exit::failed("this command needs a system with Unix sockets"))
}

/// Opens nothing.
pub(crate) fn open(_: Arc<House>) -> Result<(), String> {
    Ok(())
}
