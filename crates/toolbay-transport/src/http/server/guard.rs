//! Who may knock at all: `Host` and `Origin`, on every request of every verb. A page of a foreign origin, or one whose
//! domain was rebound to this machine, gets no further. Not for tokens: see `Options::admit`.
// spec: basic/transports, security warning

use http::{HeaderValue, Method, Response, StatusCode, header, request};

use super::{
    body::Body,
    options::{Names, Options},
    respond::{self, Refusal},
};

/// Refuses a request that came by a wrong name or from a wrong page, or with too large a head.
pub(super) fn check(head: &request::Parts, options: &Options) -> Result<(), Refusal> {
    let fields: usize = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    let path = head.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if fields + path > options.head_bytes {
        let what = format!("the head of a request has at most {} bytes (limit `head_bytes`)", options.head_bytes);
        return Err(Refusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, what));
    }
    if options.hosts != Names::Any {
        let mut named = head.headers.get_all(header::HOST).iter();
        let host = match (named.next(), named.next(), head.uri.authority()) {
            (Some(host), None, _) => host.as_bytes(),
            (None, _, Some(authority)) => authority.as_str().as_bytes(),
            (Some(_), Some(_), _) | (None, _, None) => {
                return Err(Refusal::new(StatusCode::BAD_REQUEST, "a request carries exactly one `Host`"));
            }
        };
        let authority = head.uri.authority().map_or(host, |authority| authority.as_str().as_bytes());
        if !options.hosts.admits(host) || !options.hosts.admits(authority) {
            let what = "this name is not one of the server's; add it to the allowed hosts if it should be (`hosts`)";
            return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, what));
        }
    }
    let mut origins = head.headers.get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => Ok(()),
        (Some(origin), None) if options.origins.admits_origin(origin.as_bytes()) => Ok(()),
        (Some(_), _) => {
            let what = "pages of this origin may not call the server; add it to the allowed origins if they should \
                        (`origins`)";
            Err(Refusal::new(StatusCode::FORBIDDEN, what))
        }
    }
}

impl Names {
    /// Whether a host with or without a port is let in.
    fn admits(&self, authority: &[u8]) -> bool {
        let Some(host) = host_of(authority) else { return false };
        match self {
            Self::Loopback => is_loopback(host),
            Self::Only(names) => names.iter().any(|name| {
                let name = name.as_bytes();
                name.eq_ignore_ascii_case(authority) || name.eq_ignore_ascii_case(host)
            }),
            Self::Any => true,
        }
    }

    fn admits_origin(&self, origin: &[u8]) -> bool {
        let authority = ["http://", "https://"].iter().find_map(|scheme| origin.strip_prefix(scheme.as_bytes()));
        match (self, authority) {
            (Self::Any, _) => true,
            (Self::Loopback, Some(authority)) => self.admits(authority),
            (Self::Only(names), authority) => {
                names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(origin))
                    || authority.is_some_and(|authority| self.admits(authority))
            }
            // An opaque origin (`null`) is nobody.
            (Self::Loopback, None) => false,
        }
    }
}

fn is_loopback(host: &[u8]) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| host.eq_ignore_ascii_case(name.as_bytes()))
}

/// The host without its port; nothing where it is not one.
fn host_of(authority: &[u8]) -> Option<&[u8]> {
    let end = match authority.first()? {
        b'[' => authority.iter().position(|byte| *byte == b']')? + 1,
        _ => authority.iter().position(|byte| *byte == b':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    let sound = port.is_empty() || (port[0] == b':' && port[1..].iter().all(u8::is_ascii_digit));
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(byte);
    (sound && host.iter().all(plain)).then_some(host)
}

/// Answers a browser that asks, for a page that was let in, whether it may call.
pub(super) fn preflight(head: &request::Parts) -> Option<Response<Body>> {
    let asks = head.method == Method::OPTIONS && head.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if !asks || !head.headers.contains_key(header::ORIGIN) {
        return None;
    }
    let mut response = respond::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    let wanted = head.headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.unwrap_or(HeaderValue::from_static("content-type")));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    Some(response)
}

/// Lets the page read the answer, where a page asked.
pub(super) fn share(origin: Option<HeaderValue>, response: &mut Response<Body>) {
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
        headers.append(header::VARY, HeaderValue::from_static("origin"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_this_machine_are_let_in_by_default() {
        for good in ["localhost", "LOCALHOST:1", "127.0.0.1:7332", "[::1]:80", "[::1]"] {
            assert!(Names::Loopback.admits(good.as_bytes()), "{good}");
        }
        for bad in ["evil.test", "localhost.evil.test", "localhost@evil.test", "127.0.0.1.evil.test", "127.0.0.2", ""] {
            assert!(!Names::Loopback.admits(bad.as_bytes()), "{bad}");
        }
        for bad in ["localhost:80:80", "localhost:80@evil.test", "[::1]evil.test", "localhost:8o", "[::1"] {
            assert!(!Names::Loopback.admits(bad.as_bytes()), "{bad}");
        }
        for (origin, expected) in [
            ("http://localhost:6274", true),
            ("https://[::1]", true),
            ("null", false),
            ("http://evil.test", false),
            ("file://", false),
            ("http://localhost.evil.test", false),
        ] {
            assert_eq!(Names::Loopback.admits_origin(origin.as_bytes()), expected, "{origin}");
        }
    }

    #[test]
    fn listed_names_are_matched_whole() {
        let names = Names::Only(vec!["mcp.test".into(), "other.test:8443".into(), "https://app.test".into()]);
        for (host, expected) in [
            ("mcp.test", true),
            ("mcp.test:99", true),
            ("other.test", false),
            ("other.test:8443", true),
            ("localhost", false),
        ] {
            assert_eq!(names.admits(host.as_bytes()), expected, "{host}");
        }
        for (origin, expected) in [
            ("https://app.test", true),
            ("http://app.test", false),
            ("http://mcp.test", true),
            ("https://app.test:1", false),
        ] {
            assert_eq!(names.admits_origin(origin.as_bytes()), expected, "{origin}");
        }
    }
}
