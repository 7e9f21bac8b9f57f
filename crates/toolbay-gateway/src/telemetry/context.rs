//! Which trace a request belongs to: W3C Trace Context, as callers and servers write it.
// spec: basic/index, `traceparent` and `tracestate` in `_meta`

use toolbay_protocol::{
    Raw,
    frame::Part,
    raw::{Kind, Object},
};
use toolbay_transport::Request;

/// Names a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceId(pub(super) [u8; 16]);

/// Names a span of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpanId(pub(super) [u8; 8]);

/// A span as others refer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
    pub(super) flags: u8,
    /// What vendors add, passed on as it is.
    pub(super) state: Option<String>,
}

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";
/// The flag that says that a trace is recorded.
const SAMPLED: u8 = 1;
/// As much as is taken of a `tracestate`.
const STATE_BYTES: usize = 512;

impl Context {
    pub(super) fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The context with this much said about whether it is recorded.
    pub(super) fn flagged(mut self, sampled: Sampled) -> Self {
        self.flags = match sampled {
            Sampled::Yes => self.flags | SAMPLED,
            Sampled::No => self.flags & !SAMPLED,
        };
        self
    }

    /// Reads what a `traceparent` says; of a version that is not known yet, the part that will not change.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (version, rest) = (text.get(..2)?, text.get(2..)?);
        let rest = rest.strip_prefix('-')?;
        let [version] = hex::<1>(version)?;
        let (trace, rest) = (rest.get(..32)?, rest.get(32..)?.strip_prefix('-')?);
        let (span, rest) = (rest.get(..16)?, rest.get(16..)?.strip_prefix('-')?);
        let (flags, rest) = (rest.get(..2)?, rest.get(2..)?);
        let ends = if version == 0 { rest.is_empty() } else { rest.is_empty() || rest.starts_with('-') };
        let (trace, span, [flags]) = (hex::<16>(trace)?, hex::<8>(span)?, hex::<1>(flags)?);
        let sound = ends && version != 0xff && trace != [0; 16] && span != [0; 8];
        sound.then_some(Self { trace: TraceId(trace), span: SpanId(span), flags, state: None })
    }

    /// As a `traceparent` writes it.
    pub(super) fn written(&self) -> String {
        format!("00-{}-{}-{:02x}", shown(&self.trace.0), shown(&self.span.0), self.flags)
    }

    /// Where a request says in `_meta` that it comes from.
    pub(super) fn of_meta(request: &Request) -> Option<Self> {
        let meta = request.part(Part::Meta)?;
        let [parent, state] = meta.find([PARENT, STATE]);
        let context = Self::parse(&parent?.as_text()?)?;
        let state = state.as_ref().and_then(Raw::as_text).map(std::borrow::Cow::into_owned);
        Some(Self { state: state.filter(|state| state.len() <= STATE_BYTES), ..context })
    }

    /// Where the transport of a request says that it comes from.
    pub(super) fn of_headers(request: &Request) -> Option<Self> {
        let headers = request.headers.map()?;
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let context = Self::parse(text(PARENT)?)?;
        Some(Self { state: text(STATE).filter(|state| state.len() <= STATE_BYTES).map(str::to_owned), ..context })
    }

    /// The parameters of a request that comes from here.
    pub(super) fn put_into(&self, params: &Raw) -> Raw {
        let parent = Raw::of(&self.written());
        let state = self.state.as_ref().map(Raw::of);
        let meta = match params.get("_meta") {
            // It is refused, or meant for others who read it so.
            Some(meta) if meta.kind() != Kind::Object => return params.clone(),
            Some(meta) => meta.with(&[(PARENT, Some(&parent)), (STATE, state.as_ref())]),
            None => {
                let mut meta = Object::with_capacity(96);
                meta.put(PARENT, &parent);
                if let Some(state) = &state {
                    meta.put(STATE, state);
                }
                meta.finish()
            }
        };
        params.with(&[("_meta", Some(&meta))])
    }
}

/// Whether a trace is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sampled {
    Yes,
    No,
}

/// Bytes as digits.
pub(super) fn shown(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Digits as bytes; lower case alone, as the standard wants it.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    (text.len() == N * 2).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_read_as_the_standard_writes_it() {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let context = Context::parse(text).unwrap();
        assert!(context.is_sampled());
        assert_eq!(context.written(), text);
        assert!(Context::parse(&text.replace("00-4", "cc-4").replace("-01", "-01-more")).is_some(), "a later version");
        for wrong in [
            "",
            "00",
            &text[..54],
            &format!("{text}-more"),
            &text.to_uppercase(),
            &text.replace("00-4", "ff-4"),
            &text.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &text.replace("00f067aa0ba902b7", &"0".repeat(16)),
            "00-é4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        ] {
            assert_eq!(Context::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_else_stands_in_meta_stays_as_it_is() {
        let raw = |text: &str| Raw::parse(text.to_owned().into(), Default::default()).unwrap();
        let context = Context::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
        let put = context.put_into(&raw(r#"{"name":"x","_meta":{"a":1.50,"traceparent":"old","tracestate":"old"}}"#));
        let meta = put.get("_meta").unwrap();
        assert_eq!(meta.get("a").unwrap().as_str(), "1.50");
        assert_eq!(meta.get("traceparent").unwrap().as_text().unwrap(), context.written());
        assert_eq!(meta.get("tracestate"), None, "it belonged to another parent");
        let put = Context { state: Some("v=1".into()), ..context.clone() }.put_into(&raw("{}"));
        assert_eq!(put.get("_meta").unwrap().get("tracestate").unwrap().as_text().unwrap(), "v=1");
        let odd = raw(r#"{"_meta":5}"#);
        assert_eq!(context.put_into(&odd), odd);
    }
}
