//! The handle on a server that was met over HTTP.

use std::{fmt, sync::Arc, time::Duration};

use tokio::{sync::Semaphore, task::JoinHandle};
use toolbay_protocol::{Feature, Frame, Method, exchange::Note, peer::Call};

use super::{listen::listen, post::RunningCall, session::Session};
use crate::Error;

/// How long the end of a session may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// A server, met; its stream closes with this handle.
pub(crate) struct Client {
    session: Arc<Session>,
    places: Arc<Semaphore>,
    listening: Option<JoinHandle<()>>,
}

impl Client {
    /// Begins to use a session; a legacy server is listened to.
    pub(super) fn start(session: Arc<Session>) -> Self {
        let listens = session.has(Feature::Handshake);
        let listening = listens.then(|| tokio::spawn(listen(Arc::clone(&session))));
        let places = Arc::new(Semaphore::new(session.line().limits().requests_in_flight));
        Self { session, places, listening }
    }

    /// Begins a call.
    pub(crate) async fn call(&self, call: Call) -> Result<RunningCall, Error> {
        if let Some(error) = self.session.end() {
            return Err(error);
        }
        if self.listening.is_some() && may_ask(&call.method) {
            self.session.until_listened_to().await;
        }
        let place = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => Some(place),
            Err(_) => crate::places::wait(&self.places, &call.patience).await?,
        };
        let place = place.ok_or_else(|| Error::closed("the connection was closed"))?;
        Ok(RunningCall::new(Arc::clone(&self.session), call, Some(place)))
    }

    /// The session under which the server knows us.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.name()
    }

    /// Sends a notification.
    pub(crate) async fn tell(&self, note: Note) -> Result<(), Error> {
        self.session.deliver(&Frame::Notification { method: note.method, params: note.params }).await
    }

    /// Ends the session: what is in flight fails, the server is told.
    pub(crate) async fn close(&self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
        self.session.close(FAREWELL).await;
    }

    /// Waits until the session is lost, or closed, and says why.
    pub(crate) async fn ended(&self) -> Error {
        self.session.ended().await
    }
}

/// Whether a server may ask in the middle of such a request.
fn may_ask(method: &Method) -> bool {
    matches!(method, Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead | Method::TasksResult)
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
        self.session.abandon();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("http::Client").field("session", &self.session).finish_non_exhaustive()
    }
}
