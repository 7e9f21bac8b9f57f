//! What a bay shows of its tools, as its owner sees it.

use toolbay_protocol::watch::Change;

use super::Bay;
use crate::{
    meta::{Exposed, Exposure},
    registry::acquire::Acquirer,
};

impl Bay {
    /// Shows clients its tools so from here on; the keys that are not what they were. Before the first time, everybody is
    /// shown all of them.
    pub fn expose(&self, exposure: Exposure) -> Vec<&'static str> {
        let changed = self.0.desk.expose(exposure);
        if !changed.is_empty() {
            self.0.hub.publish(&Change::Tools);
        }
        changed
    }

    /// Has agents look for servers that are not here; with nothing, they cannot. What it adds is taken on by whoever keeps
    /// the bay to its file ([`hot`](crate::registry::hot)).
    pub fn acquire_by(&self, acquirer: Option<Acquirer>) {
        if self.0.desk.acquire_by(acquirer) {
            self.0.hub.publish(&Change::Tools);
        }
    }

    /// What those are shown that see what everybody does.
    pub fn exposed(&self) -> Exposed {
        self.0.desk.exposed(&self.catalog())
    }
}
