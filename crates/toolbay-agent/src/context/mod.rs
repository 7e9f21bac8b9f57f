//! What the application puts beside a message: resources that a person names (`@server:uri`), prompts as slash commands.
//! Not for what tools give: that is [`toolbox`](crate::toolbox).

mod attach;
mod mention;
mod prompted;
mod ruled;
mod slash;
mod words;

pub use attach::{AttachLimits, Attached, Attacher};
pub use mention::{Mention, candidates, mentions};
pub use prompted::prompted;
pub use ruled::{AttachRule, AttachRules};
pub use slash::{Argument, Slash, SlashError, arguments};

#[cfg(test)]
mod tests;
