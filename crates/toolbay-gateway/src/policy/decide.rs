//! The decision: pure, so that it can be shown and tested.

use std::sync::Arc;

use toolbay_protocol::ErrorObject;
use toolbay_transport::Caller;

use super::permit::Permit;

/// What somebody wants to do.
#[derive(Debug)]
pub struct Wanted<'w> {
    /// Who.
    pub caller: &'w Caller,
    /// Where; a server that offers, to this caller, what is asked for.
    pub server: &'w Arc<str>,
}

/// Decides. What the catalog does not offer never gets here: listing and calling read the same catalog, so what is
/// hidden is refused.
pub fn decide(wanted: &Wanted<'_>) -> Result<Permit, ErrorObject> {
    Ok(Permit::to(Arc::clone(wanted.server)))
}
