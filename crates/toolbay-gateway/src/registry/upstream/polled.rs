//! Waiting for a result that was promised: by asking for it at intervals, and by listening to the service's events.

use std::{future::Future, pin::pin, time::Duration};

use http::Uri;
use tokio::time::{self, Instant};
use toolbay_protocol::Raw;
use toolbay_transport::{
    Error, Kind,
    http::client::{Answer, Errands, Event, Events, Opened},
};

use super::{
    result,
    verdict::{self, Verdict},
};
use crate::{config::Polling, percent};

/// How long one look may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A session of a service: a real one, or a scripted one in a test.
pub(super) trait Asks: Sync {
    /// Its name.
    fn session(&self) -> &str;
    /// Where it is asked.
    fn place(&self) -> String;
    /// Asks how it stands.
    fn look(&self) -> impl Future<Output = Result<Answer, Error>> + Send;
    /// Listens for the next event; ends where there are none to come.
    fn listen(&self, stream: Option<Events>) -> impl Future<Output = Option<(Event, Option<Events>)>> + Send;
}

/// A session of a service over HTTP.
pub(super) struct Session {
    name: String,
    poll: Errands,
    stream: Errands,
}

impl Session {
    /// The session that the service at `url` names so.
    pub(super) fn of(errands: &Errands, url: &Uri, polling: &Polling, name: String) -> Result<Self, Error> {
        let escaped = percent::in_address(&name);
        let wrong = |_| Error::new(Kind::Misbehaved, "the service names a session that cannot stand in an address");
        let poll = errands.at(polling.url.replace("{session_id}", &escaped).parse().map_err(wrong)?)?;
        let mark = if url.query().is_some() { '&' } else { '?' };
        let stream = errands.at(format!("{url}{mark}session_id={escaped}").parse().map_err(wrong)?)?;
        Ok(Self { name, poll, stream })
    }
}

impl Asks for Session {
    fn session(&self) -> &str {
        &self.name
    }

    fn place(&self) -> String {
        self.poll.place()
    }

    async fn look(&self) -> Result<Answer, Error> {
        self.poll.get().await
    }

    async fn listen(&self, stream: Option<Events>) -> Option<(Event, Option<Events>)> {
        let mut events = match stream {
            Some(events) => events,
            None => match self.stream.events().await.ok()? {
                Opened::Events(events) => events,
                Opened::Answer(_) => return None,
            },
        };
        let event = events.next().await.ok()??;
        Some((event, Some(events)))
    }
}

/// Waits for the result of a session.
pub(super) async fn wait(session: &impl Asks, polling: &Polling) -> Raw {
    let (mut polls, mut events) = (pin!(poll(session, polling)), pin!(hear(session)));
    tokio::select! {
        result = &mut polls => result,
        heard = &mut events => match heard {
            Some(result) => result,
            // Without events it is found by asking.
            None => polls.await,
        },
    }
}

async fn poll(session: &impl Asks, polling: &Polling) -> Raw {
    let begun = Instant::now();
    let mut trouble = String::new();
    for attempt in 1..=polling.attempts {
        time::sleep_until(begun + polling.interval * attempt).await;
        match time::timeout(PATIENCE, session.look()).await {
            Ok(Ok(answer)) => match verdict::of_poll(&answer, &session.place()) {
                Verdict::Done(result) => return result,
                Verdict::Pending if answer.status.is_success() => trouble.clear(),
                Verdict::Pending => trouble = format!("; the last answer was HTTP {}", answer.status),
            },
            Ok(Err(error)) => trouble = format!("; at last: {error}"),
            Err(_) => trouble = format!("; at last there was no answer within {} s", PATIENCE.as_secs()),
        }
    }
    let (attempts, apart) = (polling.attempts, polling.interval.as_secs_f64());
    result::error(&format!(
        "there is no result of the session {:?} at {} after {attempts} looks, {apart} s apart (`poll` of the entry){trouble}",
        session.session(),
        session.place(),
    ))
}

/// The result, where an event brings it.
async fn hear(session: &impl Asks) -> Option<Raw> {
    let mut stream = None;
    loop {
        let (event, rest) = session.listen(stream).await?;
        if let Verdict::Done(result) = verdict::of_event(&event, session.session()) {
            return Some(result);
        }
        stream = rest;
    }
}
