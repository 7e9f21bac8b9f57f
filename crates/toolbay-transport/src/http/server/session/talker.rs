//! What one POST set going: one request, or the requests of a batch at once.

use std::{pin::Pin, sync::Arc};

use futures_util::{
    Stream, StreamExt,
    stream::{self, SelectAll},
};
use toolbay_protocol::{ErrorObject, Frame};

use super::{
    call::{Conversation, Out},
    record::Session,
};

/// One request or several.
pub(super) enum Talker {
    /// One.
    One(Conversation),
    /// The requests of a batch.
    Many(SelectAll<Pin<Box<dyn Stream<Item = Out> + Send>>>, Arc<Session>, Vec<u64>),
}

impl Talker {
    /// The requests of a batch.
    pub(super) fn many(session: &Arc<Session>, conversations: Vec<Conversation>) -> Self {
        let keys = conversations.iter().map(|conversation| *conversation.key().1).collect();
        let outs = conversations.into_iter().map(|conversation| -> Pin<Box<dyn Stream<Item = Out> + Send>> {
            Box::pin(stream::unfold(conversation, |mut conversation| async move {
                match conversation.next().await {
                    Out::Over => None,
                    out => Some((out, conversation)),
                }
            }))
        });
        Self::Many(stream::select_all(outs), Arc::clone(session), keys)
    }

    /// What comes next of any of them; losing the future loses nothing.
    pub(super) async fn next(&mut self) -> Out {
        match self {
            Self::One(conversation) => conversation.next().await,
            Self::Many(outs, ..) => outs.next().await.unwrap_or(Out::Over),
        }
    }

    /// The session, and the keys under which it keeps them.
    pub(super) fn keys(&self) -> (&Arc<Session>, &[u64]) {
        match self {
            Self::One(conversation) => {
                let (session, key) = conversation.key();
                (session, std::slice::from_ref(key))
            }
            Self::Many(_, session, keys) => (session, keys),
        }
    }

    /// Goes on for nobody to hear.
    pub(super) fn deafen(&mut self) {
        let (session, keys) = self.keys();
        let mut state = session.state();
        keys.iter().for_each(|key| state.calls.deafen(*key));
    }

    /// Ends all that is not over, each with the same error.
    pub(super) fn give_up(self, error: &ErrorObject) -> Vec<Frame> {
        let (session, keys) = self.keys();
        let mut state = session.state();
        keys.iter().filter_map(|key| state.calls.done(*key, Err(error.clone()))).collect()
    }
}
