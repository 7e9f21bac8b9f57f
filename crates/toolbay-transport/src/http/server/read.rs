//! A request's body, whole, within a size and a time. Not for what it says.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    time::Duration,
};

use bytes::{Buf, Bytes, BytesMut};
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
    let too_large = body.size_hint().lower() > options.message_bytes as u64;
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
            let fault = Fault::Malformed(Malformed::TooLarge(options.message_bytes));
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
    let mut first = Bytes::new();
    let mut rest: Option<BytesMut> = None;
    while !body.is_end_stream() {
        let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await else { break };
        let frame = frame.map_err(|_| Gathered::Cut)?;
        let Ok(mut data) = frame.into_data() else { continue };
        let so_far = rest.as_ref().map_or(first.len(), BytesMut::len);
        if so_far + data.remaining() > options.message_bytes {
            return Err(Gathered::TooLarge);
        }
        match &mut rest {
            Some(rest) => rest.extend_from_slice(&data.copy_to_bytes(data.remaining())),
            // Most bodies are one piece, which is taken as it is.
            None if first.is_empty() => first = data.copy_to_bytes(data.remaining()),
            None => {
                let more = body.size_hint().lower().min(AT_ONCE) as usize;
                let mut both = BytesMut::with_capacity(first.len() + data.remaining() + more);
                both.extend_from_slice(&first);
                both.extend_from_slice(&data.copy_to_bytes(data.remaining()));
                rest = Some(both);
            }
        }
    }
    Ok(rest.map_or(first, BytesMut::freeze))
}
