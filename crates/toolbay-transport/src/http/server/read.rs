//! A request's body, whole, within a size and a time. Not for what it says.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    time::Duration,
};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::StatusCode;
use http_body::Body;
use tokio::time::timeout;
use toolbay_protocol::{Fault, fault::Malformed};

use super::{options::Options, respond::Refusal};

/// How much room is made at once for a body that only says how long it will be.
const AT_ONCE: u64 = 1 << 20;

/// How much of a body that is too large is thrown away, and for how long, so that its sender gets to read why.
const THROWN: (usize, Duration) = (64 << 20, Duration::from_secs(2));

/// Reads a body to its end. One that is too large is not kept at all.
pub(super) async fn whole<B: Body<Data: Buf>>(body: B, options: &Options) -> Result<Bytes, Refusal> {
    let too_large = body.size_hint().lower() > options.request_bytes as u64;
    let mut body = pin!(body);
    let read = if too_large {
        Ok(Err(Gathered::TooLarge))
    } else {
        timeout(options.read_timeout, gather(body.as_mut(), options)).await
    };
    match read {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(Gathered::Cut)) => Err(Refusal::new(StatusCode::BAD_REQUEST, "the body ended too early")),
        Ok(Err(Gathered::TooLarge)) => {
            // It may not end in time, or be larger still; then its sender finds the connection closed.
            let _ = timeout(THROWN.1, throw_away(body)).await;
            let fault = Fault::Malformed(Malformed::TooLarge(options.request_bytes));
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, fault.to_string()))
        }
        Err(_) => {
            let what = format!("the body took longer than {:?} (limit `read_timeout`)", options.read_timeout);
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, what))
        }
    }
}

/// Why a body was not read to its end.
enum Gathered {
    TooLarge,
    Cut,
}

async fn throw_away<B: Body<Data: Buf>>(mut body: Pin<&mut B>) {
    let mut thrown = 0;
    while let (true, Some(Ok(frame))) = (thrown < THROWN.0, poll_fn(|cx| body.as_mut().poll_frame(cx)).await) {
        thrown += frame.data_ref().map_or(0, Buf::remaining);
    }
}

async fn gather<B: Body<Data: Buf>>(mut body: Pin<&mut B>, options: &Options) -> Result<Bytes, Gathered> {
    let mut whole = BytesMut::new();
    while !body.is_end_stream() {
        let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await else { break };
        let Ok(mut data) = frame.map_err(|_| Gathered::Cut)?.into_data() else { continue };
        let length = data.remaining();
        if whole.len() + length > options.request_bytes {
            return Err(Gathered::TooLarge);
        }
        if whole.is_empty() {
            // Most bodies are one piece, which is taken as it is.
            if body.is_end_stream() {
                return Ok(data.copy_to_bytes(length));
            }
            // Room is made once; the pieces go back to whoever read them.
            whole.reserve(length + usize::try_from(body.size_hint().lower().min(AT_ONCE)).unwrap_or_default());
        }
        whole.put(data);
    }
    Ok(whole.freeze())
}
