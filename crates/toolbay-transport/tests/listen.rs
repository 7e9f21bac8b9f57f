//! A subscription that ends is begun again, and what happened in between is not missed.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::Notify;
use toolbay_protocol::{
    ErrorObject, Raw, Revision,
    exchange::Outcome,
    greeting::{Introduction, Profile},
    watch::{Change, Filter},
};
use toolbay_transport::{Approach, Caller, Cx, Hub, Listener, Request, Service, Watch, connect, duplex::Options};

#[derive(Default)]
struct Changing {
    hub: Hub,
    watches: Mutex<usize>,
}

impl Service for Changing {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "changing", "version": "1"})),
            capabilities: Raw::of(&json!({"tools": {"listChanged": true}})),
            instructions: None,
        })
    }

    async fn call(&self, _: Request, _: Cx) -> Outcome {
        Ok(Raw::EMPTY)
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        *self.watches.lock().unwrap() += 1;
        Ok(self.hub.watch(filter))
    }
}

#[derive(Default)]
struct Ears(Mutex<Vec<Change>>, Notify);

impl Listener for Ears {
    fn changed(&self, change: Change) {
        self.0.lock().unwrap().push(change);
        self.1.notify_one();
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_ends_is_begun_again() {
    let (service, ears) = (Arc::new(Changing::default()), Arc::new(Ears::default()));
    let approach =
        Approach::new(Introduction::anonymous(Revision::LATEST)).heard_by(Arc::clone(&ears) as Arc<dyn Listener>);
    let connection = connect::memory(Arc::clone(&service), Options::default(), approach).await.unwrap();
    let subscription = connection.subscribe(Filter::lists()).await.unwrap();
    assert_eq!(subscription.filter(), &Filter { tools: true, ..Filter::default() });
    for begun in 1..=3 {
        assert_eq!(*service.watches.lock().unwrap(), begun);
        service.hub.end();
        ears.1.notified().await;
    }
    assert_eq!(*ears.0.lock().unwrap(), [Change::Tools, Change::Tools, Change::Tools], "all of it counts as changed");
    drop(subscription);
    connection.close().await;
}
