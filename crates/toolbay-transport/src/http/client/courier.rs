//! Documents for somebody over HTTP who does not speak the protocol: a collector of telemetry. Not for messages.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Limited};

use super::{
    dial::Dial,
    line::{Line, Order},
    target::Target,
};
use crate::Error;

/// How much of an answer is read.
const ANSWER: usize = 64 << 10;
/// How much of it is kept, to be shown to people.
const SHOWN: usize = 200;

/// Delivers documents to one address; cheap to clone.
#[derive(Clone, Debug)]
pub struct Courier(Line);

/// What became of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The status of the answer.
    pub status: StatusCode,
    /// How long to wait before it is tried again, where the answer says so.
    pub wait: Option<Duration>,
    /// How the answer begins.
    pub says: String,
}

impl Courier {
    /// To the address of `target`, with its headers and within its limits.
    pub fn to(target: &Target) -> Result<Self, Error> {
        target.check()?;
        Ok(Self(Line::new(target, Dial::network(&target.url, target.limits.connect)?)))
    }

    /// Delivers one document of this media type. It waits for as long as the other end does.
    pub async fn deliver(&self, kind: HeaderValue, document: Bytes) -> Result<Receipt, Error> {
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, kind)]);
        let reached = self.0.send(Order { verb: Method::POST, headers, body: document }).await?;
        let (head, body) = reached.response.into_parts();
        // Read to its end, so that the connection serves again; what cannot be read is not missed.
        let text = Limited::new(body, ANSWER).collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let says = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]).into_owned();
        let wait = head.headers.get(header::RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.trim().parse().ok());
        Ok(Receipt { status: head.status, wait: wait.map(Duration::from_secs), says })
    }
}
