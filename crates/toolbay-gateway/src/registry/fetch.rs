//! Fetching what registries of servers list, over HTTP.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{StatusCode, Uri};
use tokio::time;
use toolbay_transport::{
    Error, Kind,
    http::client::{Errands, Limits, Target},
};

use super::mirror::{Failed, Fetch};

/// How large one answer may be, and how long it may take.
const BYTES: usize = 32 << 20;
const PATIENCE: Duration = Duration::from_secs(30);

/// Fetches over HTTP; connections are used again.
pub fn over_http() -> Fetch {
    let known: Arc<Mutex<HashMap<String, Errands>>> = Arc::default();
    Arc::new(move |address| {
        let errands = errands(&known, &address);
        Box::pin(async move {
            let errands = errands?;
            match time::timeout(PATIENCE, errands.get()).await {
                Ok(Ok(answer)) if answer.status == StatusCode::OK => Ok(answer.body),
                Ok(Ok(answer)) => {
                    let why = format!("{} answers {}: {}", errands.place(), answer.status, answer.excerpt());
                    Err(if may_pass(answer.status) { Failed::Passing(why) } else { Failed::Lasting(why) })
                }
                Ok(Err(error)) => Err(failed(&error)),
                Err(_) => Err(Failed::Passing(format!("{} did not answer in {PATIENCE:?}", errands.place()))),
            }
        })
    })
}

fn errands(known: &Mutex<HashMap<String, Errands>>, address: &str) -> Result<Errands, Failed> {
    let lasting = |why: String| Failed::Lasting(format!("{address}: {why}"));
    let uri: Uri = address.parse().map_err(|why| lasting(format!("it is no address ({why})")))?;
    let origin =
        format!("{}://{}", uri.scheme_str().unwrap_or_default(), uri.authority().map_or("", |host| host.as_str()));
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.contains_key(&origin) {
        let limits = Limits { message_bytes: BYTES, ..Limits::default() };
        let errands =
            Errands::to(&Target { limits, ..Target::new(uri.clone()) }).map_err(|why| lasting(why.to_string()))?;
        known.insert(origin.clone(), errands);
    }
    known[&origin].at(uri).map_err(|why| lasting(why.to_string()))
}

fn may_pass(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT)
}

fn failed(error: &Error) -> Failed {
    match error.kind() {
        Kind::Unreachable | Kind::Overdue | Kind::Closed => Failed::Passing(error.to_string()),
        _ => Failed::Lasting(error.to_string()),
    }
}
