//! What callers declared, as servers of each revision are told: no more than the caller said, and no more than both
//! revisions know.

use std::{collections::HashMap, fmt, sync::Arc};

use arc_swap::ArcSwap;
use toolbay_protocol::{Feature, Raw, Revision, greeting::Introduction};

/// How many different declarations are remembered.
const REMEMBERED: usize = 1024;

type Known = HashMap<(Revision, Revision, Raw), Arc<Introduction>>;

/// Remembers what was declared: most callers declare the same with each request.
pub(crate) struct Declared {
    bare: [Arc<Introduction>; Revision::ALL.len()],
    known: ArcSwap<Known>,
}

impl Default for Declared {
    fn default() -> Self {
        let bare = Revision::ALL.map(|revision| Arc::new(Introduction::anonymous(revision)));
        Self { bare, known: ArcSwap::default() }
    }
}

impl Declared {
    /// What a server of revision `to` is told of a caller that declares nothing.
    pub(crate) fn bare(&self, to: Revision) -> &Arc<Introduction> {
        &self.bare[to.place()]
    }

    /// What is told of nobody in particular.
    pub(crate) fn nobody(&self) -> &Arc<Introduction> {
        self.bare(Revision::LATEST)
    }

    /// What a server of revision `to` is told of `caller`.
    pub(crate) fn told(&self, caller: &Arc<Introduction>, to: Revision) -> Arc<Introduction> {
        if to.has(Feature::Stateless) && to.reads_verbatim(caller.revision) {
            return Arc::clone(caller);
        }
        if caller.capabilities == Raw::EMPTY {
            return Arc::clone(self.bare(to));
        }
        let key = (caller.revision, to, caller.capabilities.clone());
        if let Some(told) = self.known.load().get(&key) {
            return Arc::clone(told);
        }
        let told = Arc::new(tell(caller, to));
        let mut known = Known::clone(&self.known.load());
        if known.len() >= REMEMBERED {
            known.clear();
        }
        // What somebody else remembers at this very moment may be forgotten: it is found out again.
        let mut key = key;
        key.2 = owned(&key.2);
        known.insert(key, Arc::clone(&told));
        self.known.store(Arc::new(known));
        told
    }
}

/// The same text, but no slice of a message that would stay in memory with it.
fn owned(raw: &Raw) -> Raw {
    raw.read().expect("it was read before")
}

fn tell(caller: &Introduction, to: Revision) -> Introduction {
    let both = caller.in_revision(caller.revision).in_revision(to);
    // No server is offered to run what it asks as a task: that would be ours to answer for.
    let capabilities = both.capabilities.with(&[("tasks", None)]);
    Introduction { revision: to, client: None, capabilities, device: None }
}

impl fmt::Debug for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Declared").field("known", &self.known.load().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_what_was_declared_and_what_both_revisions_know() {
        let declared = Declared::default();
        let check = |from, to, text: &str, expected: &str| {
            let capabilities = Raw::parse(text.to_owned().into(), Default::default()).unwrap();
            let caller = Arc::new(Introduction { capabilities, ..Introduction::anonymous(from) });
            for _ in 0..2 {
                assert_eq!(declared.told(&caller, to).capabilities.as_str(), expected, "{from} {to}");
            }
        };
        let (modern, legacy, old) = (Revision::LATEST, Revision::LATEST_LEGACY, Revision::V2024_11_05);
        check(modern, modern, r#"{"x": 1}"#, r#"{"x": 1}"#);
        check(
            legacy,
            legacy,
            r#"{"roots":{"listChanged":true},"tasks":{"list":{}}}"#,
            r#"{"roots":{"listChanged":true}}"#,
        );
        check(legacy, modern, r#"{"roots":{"listChanged":true},"tasks":{}}"#, r#"{"roots":{}}"#);
        check(modern, legacy, r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#, "{}");
        check(old, legacy, r#"{"elicitation":{},"sampling":{"tools":{}}}"#, r#"{"sampling":{}}"#);
        check(modern, old, r#"{"elicitation":{"form":{}}}"#, "{}");
    }
}
