//! A request's body, whole, within a size and a time. Not for what it says.

use std::pin::{Pin, pin};

use bytes::{Buf, Bytes, BytesMut};
use http::StatusCode;
use http_body::Body;
use std::future::poll_fn;
use tokio::time::timeout;
use toolbay_protocol::{Fault, fault::Malformed};

use super::{options::Options, respond::Refusal};

/// How much room is made at once for a body that only says how long it will be.
const AT_ONCE: u64 = 1 << 20;

/// Reads a body to its end. One that says it is too large is not read at all.
pub(super) async fn whole<B: Body<Data: Buf>>(body: B, options: &Options) -> Result<Bytes, Refusal> {
    if body.size_hint().lower() > options.message_bytes as u64 {
        return Err(too_large(options));
    }
    let body = pin!(body);
    match timeout(options.read_timeout, gather(body, options)).await {
        Ok(read) => read,
        Err(_) => {
            let what = format!("the body took longer than {:?} (limit `read_timeout`)", options.read_timeout);
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, what))
        }
    }
}

async fn gather<B: Body<Data: Buf>>(mut body: Pin<&mut B>, options: &Options) -> Result<Bytes, Refusal> {
    let mut first = Bytes::new();
    let mut rest: Option<BytesMut> = None;
    while !body.is_end_stream() {
        let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await else { break };
        let frame = frame.map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "the body ended too early"))?;
        let Ok(mut data) = frame.into_data() else { continue };
        let so_far = rest.as_ref().map_or(first.len(), BytesMut::len);
        if so_far + data.remaining() > options.message_bytes {
            return Err(too_large(options));
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

fn too_large(options: &Options) -> Refusal {
    let fault = Fault::Malformed(Malformed::TooLarge(options.message_bytes));
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, fault.to_string())
}
