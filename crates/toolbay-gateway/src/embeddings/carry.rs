//! One document to the endpoint and one back, and what its failures mean.

use std::{pin::Pin, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use toolbay_transport::{
    Error, Kind,
    http::client::{Errands, Limits, Target},
};

use super::settings::Settings;

/// How large one answer may be.
const BYTES: usize = 64 << 20;

/// Takes a document to the endpoint and brings its answer.
pub type Carry = Arc<dyn Fn(Bytes) -> Pin<Box<dyn Future<Output = Result<Bytes, Failed>> + Send>> + Send + Sync>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It may be there later.
    Passing(String),
    /// What was sent is refused: another text may not be.
    Refused(String),
    /// Nothing changes unless somebody changes something.
    Lasting(String),
}

impl Failed {
    /// What happened, in words.
    pub fn why(&self) -> &str {
        let (Self::Passing(why) | Self::Refused(why) | Self::Lasting(why)) = self;
        why
    }
}

/// Carries over HTTP; connections are used again. An error where the address or the key cannot be used.
pub fn over_http(settings: &Settings) -> Result<Carry, String> {
    let limits = Limits { message_bytes: BYTES, ..Limits::default() };
    let mut target = Target { limits, ..Target::new(settings.url.uri().clone()) };
    let key = settings.key.as_ref().map(|key| key.reveal().to_owned());
    if let Some(key) = &key {
        let value = HeaderValue::from_str(&format!("Bearer {key}"));
        let value = value.map_err(|_| "the key of the embedding endpoint holds a line break or a control character")?;
        target.headers.insert(header::AUTHORIZATION, value);
    }
    let errands = Errands::to(&target).map_err(|why| why.to_string())?;
    Ok(Arc::new(move |document| {
        let (errands, key) = (errands.clone(), key.clone());
        Box::pin(async move {
            let answer = errands.post(document).await.map_err(|why| failed(&why))?;
            if answer.status == StatusCode::OK {
                return Ok(answer.body);
            }
            // Not every endpoint keeps to itself what it was sent.
            let says = match key.as_deref().filter(|key| !key.is_empty()) {
                Some(key) => answer.excerpt().replace(key, "***"),
                None => answer.excerpt(),
            };
            Err(refused(answer.status, &says))
        })
    }))
}

fn refused(status: StatusCode, says: &str) -> Failed {
    let why = format!("it answers {status}: {says}");
    match status {
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
            Failed::Refused(why)
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Failed::Passing(why),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Failed::Lasting(format!("{why}; check `embeddings.key`, and what it allows"))
        }
        StatusCode::NOT_FOUND => Failed::Lasting(format!("{why}; check `embeddings.url` and `embeddings.model`")),
        status if status.is_server_error() => Failed::Passing(why),
        _ => Failed::Lasting(why),
    }
}

fn failed(error: &Error) -> Failed {
    match error.kind() {
        Kind::Unreachable | Kind::Overdue | Kind::Closed => Failed::Passing(error.to_string()),
        _ => Failed::Lasting(error.to_string()),
    }
}
