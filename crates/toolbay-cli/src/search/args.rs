//! What may be typed after `toolbay find` and `toolbay get`.

use std::{path::PathBuf, time::Duration};

use clap::Args as ClapArgs;

use crate::tool::span;

#[derive(Debug, ClapArgs)]
pub(crate) struct Sources {
    /// A registry to look in instead of the configured ones; may be given more than once
    #[arg(long = "source", value_name = "URL")]
    pub(crate) sources: Vec<String>,
    /// The configuration (default: as for `up`)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Find {
    /// What is needed, in any words
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// How many servers to show
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=50))]
    pub(crate) limit: u8,
    #[command(flatten)]
    pub(crate) sources: Sources,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Get {
    /// The server's name, as `toolbay find` shows it
    pub(crate) name: String,
    /// Add it without asking, even if it is a program that will run on this machine
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Only show what would be added
    #[arg(long, conflicts_with = "yes")]
    pub(crate) plan: bool,
    /// How long until it goes by itself: 90s, 15m, 2h, 1d (default: never)
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) ttl: Option<Duration>,
    #[command(flatten)]
    pub(crate) sources: Sources,
}
