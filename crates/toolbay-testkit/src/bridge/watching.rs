//! What a bridge does about changes: it watches at one bank for those who want to know at the other.

use toolbay_protocol::{
    Feature, Method,
    exchange::Note,
    peer::{Call, CallId},
    watch::{Change, Filter, legacy, modern},
};

use super::Bridge;
use crate::Pair;

impl Bridge {
    pub(super) fn told(&mut self, note: Note, front: &mut Pair) {
        match legacy::change(&note.method, note.params.as_ref()) {
            Some(change) => self.changed(&change, front),
            None if note.method == Method::Message => front.server.tell(note),
            None => {}
        }
    }

    fn changed(&mut self, change: &Change, front: &mut Pair) {
        if (Filter { uris: self.uris.clone(), ..Filter::lists() }).wants(change) {
            front.server.tell(legacy::note(change));
        }
        for (key, (id, filter)) in &self.listeners {
            if filter.wants(change) {
                front.server.note(*key, modern::note(id, change));
            }
        }
    }

    pub(super) fn watch(&mut self, uri: &str, back: &mut Pair) {
        if self.watched.contains_key(uri) {
            return;
        }
        let held = if self.callee.has(Feature::Stateless) {
            Some(self.listen(back, &Filter::resource(uri)))
        } else {
            self.errand(Call::new(Method::Subscribe, Some(legacy::about(uri))), back);
            None
        };
        self.watched.insert(uri.to_owned(), held);
    }

    pub(super) fn unwatch(&mut self, uri: &str, back: &mut Pair) {
        let wanted = self.uris.contains(uri) || self.listeners.values().any(|(_, filter)| filter.uris.contains(uri));
        if wanted {
            return;
        }
        match self.watched.remove(uri) {
            Some(Some(listening)) => {
                self.errands.remove(&listening);
                back.client.cancel(listening, "nobody wants to know any more");
            }
            Some(None) => drop(self.errand(Call::new(Method::Unsubscribe, Some(legacy::about(uri))), back)),
            None => {}
        }
    }

    pub(super) fn listen(&mut self, back: &mut Pair, filter: &Filter) -> CallId {
        let mut call = Call::new(Method::Listen, Some(filter.write()));
        call.patience.silence = std::time::Duration::MAX;
        self.errand(call, back)
    }

    pub(super) fn errand(&mut self, call: Call, back: &mut Pair) -> CallId {
        let call = back.call(call);
        self.errands.insert(call);
        call
    }
}
