//! What a client sends and takes: `Content-Type`, `Content-Encoding`, `Accept`. Lenient where nothing can go wrong.

use http::{HeaderMap, HeaderValue, header};

/// What a client can take as an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) stream: bool,
}

impl Accepts {
    /// Reads `Accept`; whoever says nothing takes anything.
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let (mut accepts, mut said) = (Self { json: false, stream: false }, false);
        for value in headers.get_all(header::ACCEPT) {
            for range in value.as_bytes().split(|byte| *byte == b',') {
                let mut parts = range.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
                let Some(name) = parts.next().filter(|name| !name.is_empty()) else { continue };
                said = true;
                if parts.any(is_nought) {
                    continue;
                }
                let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
                accepts.json |= is("application/json") || is("*/*") || is("application/*");
                accepts.stream |= is("text/event-stream") || is("*/*") || is("text/*");
            }
        }
        if said { accepts } else { Self { json: true, stream: true } }
    }

    /// Whether nothing we could say would be taken.
    pub(super) fn is_deaf(self) -> bool {
        !self.json && !self.stream
    }
}

/// `q=0`, `q=0.0` and so on: not this one.
fn is_nought(parameter: &[u8]) -> bool {
    let value = parameter.strip_prefix(b"q=").or_else(|| parameter.strip_prefix(b"Q="));
    value.is_some_and(|value| !value.is_empty() && value.iter().all(|byte| matches!(byte, b'0' | b'.')))
}

/// Whether a body says that it is JSON in UTF-8, as it is. Anything else is not looked at: a form or plain text is what a
/// page of any origin can make a browser send unasked.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(only), None) = (types.next(), types.next()) else { return false };
    let plain = |encoding: &HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
    names_json(only.as_bytes()) && headers.get_all(header::CONTENT_ENCODING).iter().all(plain)
}

fn names_json(value: &[u8]) -> bool {
    if value == b"application/json" {
        return true;
    }
    let mut parts = value.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let essence = parts.next().unwrap_or_default();
    essence.eq_ignore_ascii_case(b"application/json") && parts.all(allows_utf8)
}

fn allows_utf8(parameter: &[u8]) -> bool {
    let Some(equals) = parameter.iter().position(|byte| *byte == b'=') else { return true };
    let (name, value) = (&parameter[..equals], parameter[equals + 1..].trim_ascii());
    let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
    !name.trim_ascii().eq_ignore_ascii_case(b"charset") || value.eq_ignore_ascii_case(b"utf-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept_is_read_leniently() {
        let check = |values: &[&'static str], json, stream| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::ACCEPT, HeaderValue::from_static(value));
            }
            assert_eq!(Accepts::read(&headers), Accepts { json, stream }, "{values:?}");
        };
        check(&[], true, true);
        check(&[""], true, true);
        check(&["*/*"], true, true);
        check(&["application/json, text/event-stream"], true, true);
        check(&["Application/JSON", "text/event-stream;q=0.5"], true, true);
        check(&["application/json;q=0, */*"], true, true);
        check(&["text/event-stream"], false, true);
        check(&["application/json; charset=utf-8"], true, false);
        check(&["application/json, text/event-stream;q=0.0"], true, false);
        check(&["text/html, image/*"], false, false);
    }

    #[test]
    fn only_json_in_utf_8_is_read() {
        let check = |values: &[&'static str], expected| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::CONTENT_TYPE, HeaderValue::from_static(value));
            }
            assert_eq!(is_json(&headers), expected, "{values:?}");
        };
        check(&["application/json"], true);
        check(&["Application/Json ; charset=\"UTF-8\""], true);
        check(&["application/json; charset=utf-16"], false);
        check(&[], false);
        check(&["text/plain"], false);
        check(&["application/jsonp"], false);
        check(&["application/json", "text/plain"], false);
    }
}
