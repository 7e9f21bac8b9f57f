//! All of it together.

use std::{num::NonZeroUsize, time::Duration};

use toolbay::{Server, types::CacheScope};

use super::{asks, content, faults, forms, headers, prompts, resources, schema, tasks, tell};

/// Whether tools that misbehave are among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faults {
    /// `slow`, `boom` and `add_tool`.
    Offered,
    /// None.
    #[default]
    Withheld,
}

/// Each feature once.
pub fn server(faults: Faults) -> Server {
    let server = Server::new("everything", env!("CARGO_PKG_VERSION"))
        .title("Each feature once")
        .description("The reference server of Toolbay")
        .instructions("Nothing here does anything of use: it shows what servers can do, and serves conformance tests.")
        .list_changed()
        .subscribable()
        .page_size(NonZeroUsize::new(100).expect("100 is not 0"))
        .cache_lists(Duration::from_secs(1), CacheScope::Public)
        .cache_reads(Duration::from_secs(1), CacheScope::Public);
    let parts = [
        content::add,
        tell::add,
        asks::add,
        forms::add,
        tasks::add,
        headers::add,
        schema::add,
        resources::add,
        prompts::add,
    ];
    let server = parts.into_iter().fold(server, |server, add| add(server));
    match faults {
        Faults::Offered => faults::add(server),
        Faults::Withheld => server,
    }
}
