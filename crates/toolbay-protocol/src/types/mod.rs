//! The protocol's words: one canonical type each, shaped like the newest revision, plus what only older ones had.
//!
//! Reading takes any revision; writing goes through [`Conform`]. A member that is optional and `null` counts as absent, a
//! member nobody declares stays in `rest`, and what may be any JSON stays [`Raw`](crate::Raw). What a call *does* is not
//! here but in the rooms that hold the codecs.

mod annotations;
mod capabilities;
mod completion;
mod conform;
mod content;
mod dict;
mod elicitation;
mod icon;
mod implementation;
mod input;
mod lifecycle;
mod list;
mod logging;
pub mod meta;
mod number;
mod progress;
mod prompt;
pub mod relay;
mod resource;
mod roots;
mod sampling;
mod several;
mod subscription;
mod task;
mod tool;
mod words;

pub use annotations::*;
pub use capabilities::*;
pub use completion::*;
pub use conform::Conform;
pub use content::*;
pub use dict::{Dict, Meta, Rest};
pub use elicitation::*;
pub use icon::*;
pub use implementation::Implementation;
pub use input::*;
pub use lifecycle::*;
pub use list::{CacheScope, EmptyParams, EmptyResult, ListParams, ResultType};
pub use logging::*;
pub use number::Number;
pub use progress::*;
pub use prompt::*;
pub use relay::{conform_answer, conform_params, conform_result};
pub use resource::*;
pub use roots::*;
pub use sampling::*;
pub use several::OneOrMany;
pub use subscription::*;
pub use task::*;
pub use tool::*;
