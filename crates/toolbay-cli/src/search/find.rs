//! `toolbay find`.

use serde_json::json;

use super::{
    args::Find,
    told::{self, Search},
};
use crate::{exit::Exit, show};

/// Runs it.
pub(crate) async fn run(find: Find) -> Result<(), Exit> {
    let query = find.words.join(" ");
    let found = Search::by(&find.sources)?.acquirer.find(&query, find.limit.into()).await;
    told::remark(&found.remarks);
    if find.sources.json {
        let servers: Vec<_> = found.offers.iter().map(told::as_json).collect();
        show::line(&json!({"servers": servers, "remarks": found.remarks}).to_string());
    } else if !found.offers.is_empty() {
        let row = |offer: &toolbay_gateway::registry::acquire::Offer| {
            [
                show::safe(&offer.listing.name),
                show::safe(&offer.listing.version),
                show::safe(&told::way(offer)),
                show::headline(&offer.listing.description, 60),
            ]
        };
        show::line(&show::table(["SERVER", "VERSION", "WAY", "DESCRIPTION"], found.offers.iter().map(row).collect()));
    }
    match (found.offers.is_empty(), found.remarks.is_empty()) {
        (false, _) => Ok(()),
        (true, true) => Err(Exit::unknown(format!("no server fits {query:?}; try other words"))),
        (true, false) => Err(Exit::unreachable("no registry could be asked")),
    }
}
