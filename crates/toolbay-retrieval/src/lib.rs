//! Choosing tools by the words of a request, and reading a tool's arguments out of it, in English and Chinese.
//!
//! Pure: no IO, no clock, no async. What a request means is worked out from words, never from a model at run time;
//! a caller that has a model hands its vectors in.
//!
//! ```
//! use toolbay_retrieval::{Fit, Index, Query, Tool};
//!
//! let mut index = Index::new();
//! index.insert(&Tool::new("sky/forecast", "get_forecast", "The weather of the next days.").on("sky"));
//! index.insert(&Tool::new("mail/send", "send_mail", "Sends a message to an address.").on("mail"));
//!
//! let found = index.search(&Query::new("北京明天的天气").limit(5));
//! assert_eq!(found.fit, Fit::Good);
//! assert_eq!(&*found.hits[0].id, "sky/forecast");
//! ```

mod asks;
mod bm25;
mod encoder;
mod fuse;
mod index;
mod lexicon;
mod meaning;
mod query;
mod requests;
pub mod slots;
mod table;
mod tokens;
mod tool;
mod vectors;
mod weighted;

pub use encoder::{Chinese, Encoder, SelfTest};
pub use index::Index;
pub use query::{Fit, Found, Hit, Matched, Parts, Query, Scorer};
pub use tokens::{Language, jaccard, plain_words};
pub use tool::{Param, Tool};
pub use weighted::{Breakdown, Weights};
