//! Resources of one server that somebody here watches: one subscription there serves everybody here, and is made again
//! whenever the server comes back. Whoever wants to watch holds an [`Interest`]; the task that looks after the server
//! holds the [`Subscriptions`].

use std::{
    collections::HashMap,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::{sync::watch, time};
use toolbay_protocol::watch::Filter;
use toolbay_transport::{Connection, Error, Kind, Subscription};

/// What is wanted of a server.
#[derive(Default)]
pub(super) struct Interests {
    uris: Mutex<HashMap<String, Weak<Interest>>>,
    /// Told when something else is wanted; more than one connection may follow, where one takes another's place.
    changed: watch::Sender<()>,
}

/// Somebody's wish to hear of a resource; it ends when it is dropped.
pub(crate) struct Interest {
    answer: watch::Sender<Option<Result<(), Error>>>,
    all: Arc<Interests>,
}

impl Interests {
    fn uris(&self) -> MutexGuard<'_, HashMap<String, Weak<Interest>>> {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wants to hear of `uri`.
    pub(super) fn want(self: &Arc<Self>, uri: &str) -> Arc<Interest> {
        let mut uris = self.uris();
        if let Some(running) = uris.get(uri).and_then(Weak::upgrade) {
            return running;
        }
        let interest = Arc::new(Interest { answer: watch::channel(None).0, all: Arc::clone(self) });
        uris.insert(uri.to_owned(), Arc::downgrade(&interest));
        drop(uris);
        self.changed.send_replace(());
        interest
    }

    /// Whether anything is.
    pub(super) fn any(&self) -> bool {
        self.uris().values().any(|interest| interest.strong_count() > 0)
    }

    /// All that is wanted at this moment.
    fn wanted(&self) -> HashMap<String, Weak<Interest>> {
        let mut uris = self.uris();
        uris.retain(|_, interest| interest.strong_count() > 0);
        uris.clone()
    }
}

impl Interest {
    /// Waits until the server has said yes or no.
    pub(crate) async fn answered(&self, patience: Duration) -> Result<(), Error> {
        let mut answer = self.answer.subscribe();
        let answered = time::timeout(patience, answer.wait_for(Option::is_some)).await;
        match answered {
            Ok(Ok(answer)) => answer.clone().unwrap_or(Ok(())),
            Ok(Err(_)) | Err(_) => Err(Error::overdue("watching the resource", patience)),
        }
    }
}

impl Drop for Interest {
    fn drop(&mut self) {
        self.all.changed.send_replace(());
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interest").field("answer", &*self.answer.borrow()).finish_non_exhaustive()
    }
}

type Begun = Pin<Box<dyn Future<Output = (String, Result<Subscription, Error>)> + Send>>;

/// The subscriptions of one connection.
pub(super) struct Subscriptions<'c> {
    connection: &'c Connection,
    interests: Arc<Interests>,
    kept: HashMap<String, (Weak<Interest>, Place)>,
    beginning: FuturesUnordered<Begun>,
    changed: watch::Receiver<()>,
}

enum Place {
    Beginning,
    Running(#[expect(dead_code, reason = "ends when it is dropped")] Subscription),
    Refused,
}

impl<'c> Subscriptions<'c> {
    /// Those that are wanted, begun anew on `connection`.
    pub(super) fn on(connection: &'c Connection, interests: Arc<Interests>) -> Self {
        let changed = interests.changed.subscribe();
        let mut all = Self { connection, interests, kept: HashMap::new(), beginning: FuturesUnordered::new(), changed };
        all.follow();
        all
    }

    /// Follows what is wanted, for ever; gives the URI of each subscription that began. Losing the future loses nothing.
    pub(super) async fn next(&mut self) -> String {
        loop {
            tokio::select! {
                // The sender lives in `self`.
                _ = self.changed.changed() => self.follow(),
                Some((uri, begun)) = self.beginning.next() => {
                    if self.began(&uri, begun) {
                        return uri;
                    }
                }
            }
        }
    }

    /// Whether a subscription began that somebody still wants.
    fn began(&mut self, uri: &str, begun: Result<Subscription, Error>) -> bool {
        let Some((of, place)) = self.kept.get_mut(uri) else { return false };
        let answer = match begun {
            Ok(subscription) if subscription.filter().uris.contains(uri) => {
                *place = Place::Running(subscription);
                Ok(())
            }
            Ok(_) => {
                *place = Place::Refused;
                Err(Error::new(Kind::Incompatible, "the server does not tell when resources change"))
            }
            Err(error) => {
                *place = Place::Refused;
                Err(error)
            }
        };
        let runs = answer.is_ok();
        if let Some(interest) = of.upgrade() {
            interest.answer.send_replace(Some(answer));
        }
        runs
    }

    /// Begins what is wanted and drops what is not any more.
    fn follow(&mut self) {
        let wanted = self.interests.wanted();
        self.kept.retain(|uri, _| wanted.contains_key(uri));
        for (uri, interest) in wanted {
            match self.kept.get_mut(&uri) {
                Some((of, _)) if Weak::ptr_eq(of, &interest) => continue,
                // Somebody new wants what is there, or about to be.
                Some((of, place @ (Place::Running(_) | Place::Beginning))) => {
                    if let (Place::Running(_), Some(interest)) = (place, interest.upgrade()) {
                        interest.answer.send_replace(Some(Ok(())));
                    }
                    *of = interest;
                    continue;
                }
                Some((_, Place::Refused)) | None => {}
            }
            self.kept.insert(uri.clone(), (interest, Place::Beginning));
            let connection = self.connection.clone();
            self.beginning.push(Box::pin(async move {
                let begun = connection.subscribe(Filter::resource(&uri)).await;
                (uri, begun)
            }));
        }
    }
}
