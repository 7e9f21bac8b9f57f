//! A listed server as the search reads it, and as it is offered.

use toolbay_retrieval::{Hit, Parts, Tool};
use toolbay_transport::http::client::names_private;

use super::{acquire::Outcome, listing::Listing, plan::Plan};

/// What a server got for answering the words of the query.
pub(super) fn words(hit: &Hit) -> f64 {
    match &hit.parts {
        Parts::Best { words, .. } => *words,
        Parts::Weighted(_) => hit.score,
    }
}

/// Whether an address says itself that it lies within a private network; nothing where it cannot be read.
pub(super) fn is_within(url: &str) -> Option<bool> {
    Some(names_private(url.parse::<http::Uri>().ok()?.host()?))
}

pub(super) fn planned(listing: &Listing) -> Outcome {
    match Plan::ways(listing).into_iter().next() {
        Some(plan) => Outcome::Planned(Box::new(plan)),
        None => {
            Outcome::Unreachable("its registry names neither an address nor a package that can be used here".into())
        }
    }
}

/// A server as the search reads it: its tools are what it takes.
pub(super) fn described(listing: &Listing) -> Tool {
    let last = listing.name.rsplit('/').next().unwrap_or(&listing.name);
    let title = listing.title.as_deref().unwrap_or_default();
    let owner = listing.name.split('/').next().unwrap_or_default().rsplit('.').next().unwrap_or_default();
    let tool = Tool::new(&listing.name, format!("{last} {title}"), &listing.description).on(owner);
    listing.tools.iter().fold(tool, |tool, described| tool.param(&described.name, &described.description))
}
