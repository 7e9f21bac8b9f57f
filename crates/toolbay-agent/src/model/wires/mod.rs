//! The words of the providers: a question becomes one JSON document, what comes back becomes a reply, each wire in a room of
//! its own and without IO ([`request`], [`reply`]); one sender for all of them ([`connect`]). Not for what tools must look
//! like: definitions arrive as the wire takes them.

mod anthropic;
mod connect;
mod fault;
mod gemini;
mod key;
mod lines;
mod marked;
mod ollama;
mod openai_chat;
mod openai_responses;
mod pieces;
mod remote;
mod retry;
mod speech;

#[cfg(test)]
mod tests;

pub use connect::{Options, connect};
pub use key::Key;
pub use marked::MARKING;
pub use speech::{Delivery, House, Question, reply, request};
