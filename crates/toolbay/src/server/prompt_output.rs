//! From what a prompt's function returns to its messages.

use toolbay_protocol::types::{ContentBlock, GetPromptResult, PromptMessage};

use crate::error::{Fail, Result};

/// What a prompt may return.
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "not something that messages can be made of",
    note = "return a `String` (said by the user), a `PromptMessage`, a `Vec<PromptMessage>`, a `GetPromptResult`, or a \
            `Result` of one of these"
)]
pub trait PromptOutput: Send + 'static {
    /// The messages.
    fn into_prompt(self) -> Result<GetPromptResult>;
}

impl PromptOutput for GetPromptResult {
    fn into_prompt(self) -> Result<GetPromptResult> {
        Ok(self)
    }
}

impl PromptOutput for Vec<PromptMessage> {
    fn into_prompt(self) -> Result<GetPromptResult> {
        Ok(GetPromptResult::new(self))
    }
}

impl<const N: usize> PromptOutput for [PromptMessage; N] {
    fn into_prompt(self) -> Result<GetPromptResult> {
        Ok(GetPromptResult::new(self))
    }
}

impl PromptOutput for PromptMessage {
    fn into_prompt(self) -> Result<GetPromptResult> {
        [self].into_prompt()
    }
}

impl PromptOutput for ContentBlock {
    fn into_prompt(self) -> Result<GetPromptResult> {
        PromptMessage::user(self).into_prompt()
    }
}

impl PromptOutput for String {
    fn into_prompt(self) -> Result<GetPromptResult> {
        PromptMessage::user(self).into_prompt()
    }
}

impl PromptOutput for &'static str {
    fn into_prompt(self) -> Result<GetPromptResult> {
        PromptMessage::user(self).into_prompt()
    }
}

impl<T: PromptOutput, E: Into<Fail> + Send + 'static> PromptOutput for Result<T, E> {
    fn into_prompt(self) -> Result<GetPromptResult> {
        self.map_err(Into::into)?.into_prompt()
    }
}
