//! Many Model Context Protocol servers as one endpoint.
//!
//! A [`Bay`] is a [`toolbay_transport::Service`]: whatever transport serves it, each request goes through the same rooms,
//! which `relay` walks in order.

pub mod audit;
mod bay;
mod bridge;
mod callers;
pub mod catalog;
pub mod config;
pub mod embeddings;
pub mod errands;
mod identity;
pub mod limits;
pub mod meta;
pub mod metrics;
mod percent;
pub mod policy;
pub mod registry;
mod relay;
pub mod servers;
pub mod sessions;
pub mod telemetry;

pub use bay::{Bay, Change, What};
pub use bridge::{StateKey, StateKeyError};
pub use identity::Identity;
