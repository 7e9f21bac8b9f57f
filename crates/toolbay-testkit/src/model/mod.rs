//! A model that says what was written down for it, over real HTTP on this machine, in the words of five providers. It checks
//! each question as its provider would, and keeps it. Not a model: it understands nothing.
//!
//! ```
//! use serde_json::json;
//! use toolbay_testkit::model::{Dialect, ModelServer, Turn};
//!
//! let model = ModelServer::scripted([
//!     Turn::intent("weather", json!({"city": "Oslo"})).thinking("Which city?"),
//!     Turn::text("It rains in Oslo."),
//! ]);
//! assert!(model.base_url(Dialect::Anthropic).starts_with("http://127.0.0.1:"));
//! assert!(model.complaints().is_empty());
//! ```

mod anthropic;
mod gemini;
mod judge;
mod ollama;
mod openai_chat;
mod openai_responses;
mod script;
mod server;

pub use script::{Dialect, Ending, Question, Say, Turn};
pub use server::ModelServer;
