//! What the tests of this workspace share; it is never shipped.
//!
//! A [`Pair`] is a client and a server joined by [`Wire`]s on a [`FakeClock`], each end watched by a [`Referee`]. A
//! [`Trio`] puts a pure [`Bridge`] between two pairs. [`Service`] and [`Host`] are the people at both ends, [`Script`]
//! plays what was written down, [`Rng`] brings chance that repeats itself. [`services`] are real ones on this machine that do
//! not speak the protocol, and [`model`] one that speaks like the providers of models.
//!
//! ```
//! use toolbay_protocol::{Revision, peer::Call, Method, Raw};
//! use toolbay_testkit::{Host, Pair, Service, Speaks};
//!
//! let mut pair = Pair::open(Speaks::Every, Speaks::Only(Revision::V2024_11_05)).unwrap();
//! let (mut host, mut service) = (Host::default(), Service::default());
//! let params = Raw::of(&serde_json::json!({"name": "echo", "arguments": {"n": 1}}));
//! let call = pair.call(Call::new(Method::ToolsCall, Some(params)));
//! pair.play(&mut host, &mut service);
//! assert_eq!(host.story(call), ["done {\"n\":1}"]);
//! ```

mod bridge;
mod clock;
mod host;
pub mod model;
mod narrow;
mod pair;
mod plan;
mod random;
mod referee;
mod service;
pub mod services;
mod transcript;
mod trio;
mod wire;

pub use bridge::Bridge;
pub use clock::FakeClock;
pub use host::{Host, Mood};
pub use narrow::{Narrow, Refusal};
pub use pair::{Pair, Speaks, capable, profile, us};
pub use plan::Act;
pub use random::Rng;
pub use referee::{End, Referee};
pub use service::Service;
pub use transcript::{Script, folder};
pub use trio::Trio;
pub use wire::{Faults, Wire};
