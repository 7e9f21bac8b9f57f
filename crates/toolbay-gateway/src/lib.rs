//! Many Model Context Protocol servers as one endpoint.

pub mod config;
