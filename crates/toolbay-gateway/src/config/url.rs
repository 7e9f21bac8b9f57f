//! The address of a remote server: checked once, and printed without what may be secret in it.

use std::fmt;

use http::Uri;

/// An `http` or `https` address with a host and without credentials; it prints without its query.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(Uri);

/// Why a text is not an address that can be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError {
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

impl std::error::Error for UrlError {}

impl Url {
    /// Reads an address as a person types it.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let wrong = |problem: &str, remedy: &str| Err(UrlError { problem: problem.into(), remedy: remedy.into() });
        let text = text.trim();
        if !text.is_ascii() {
            return wrong(
                "the address holds characters outside ASCII",
                "write the host in punycode and escape the path",
            );
        }
        let Some((scheme, _)) = text.split_once("://") else {
            return wrong("the address has no scheme", "begin it with http:// or https://");
        };
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => {}
            "ws" | "wss" => {
                return wrong("WebSocket is not a transport of the protocol", "give the server's http(s) address");
            }
            _ => return wrong("the address is neither http nor https", "begin it with http:// or https://"),
        }
        let Ok(uri) = text.parse::<Uri>() else {
            return wrong("the address cannot be read", "look for spaces or unescaped characters in it");
        };
        match uri.authority() {
            Some(authority) if authority.as_str().contains('@') => wrong(
                "the address carries a user name or password",
                "send them in `headers` as `Authorization` instead",
            ),
            Some(authority) if !authority.host().is_empty() => Ok(Self(uri)),
            _ => wrong("the address names no host", "write it as https://HOST/PATH"),
        }
    }

    /// The whole address, query and all, for the one who must call it.
    pub fn uri(&self) -> &Uri {
        &self.0
    }

    /// Whether the address stays on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.0.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || host.to_ascii_lowercase().ends_with(".localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Whether what is sent there is encrypted on the way.
    pub fn is_encrypted(&self) -> bool {
        self.0.scheme_str().is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"))
    }

    /// The names of query parameters that look as if their values were secret.
    pub(super) fn secret_parameters(&self) -> impl Iterator<Item = &str> {
        const SIGNS: [&str; 6] = ["key", "token", "secret", "password", "auth", "signature"];
        let names = self.0.query().unwrap_or_default().split('&').filter_map(|pair| pair.split('=').next());
        names.filter(|name| SIGNS.iter().any(|sign| name.to_ascii_lowercase().contains(sign)))
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.0.scheme_str().unwrap_or_default();
        let authority = self.0.authority().map(|authority| authority.as_str()).unwrap_or_default();
        write!(f, "{scheme}://{authority}{}", self.0.path())?;
        if self.0.query().is_some() { f.write_str("?***") } else { Ok(()) }
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_checked_once_and_printed_without_its_query() {
        fn check(text: &str, expected: Result<&str, &str>) {
            let got = Url::parse(text);
            let shown = got.as_ref().map(ToString::to_string);
            assert_eq!(shown.as_deref().map_err(|error| error.problem.as_str()), expected, "{text}");
        }
        check("https://mcp.example.com/mcp", Ok("https://mcp.example.com/mcp"));
        check(" http://127.0.0.1:3000/sse ", Ok("http://127.0.0.1:3000/sse"));
        check("http://[::1]:80", Ok("http://[::1]:80/"));
        check("https://a.example/mcp?api_key=s3cret", Ok("https://a.example/mcp?***"));
        check("https://a.example/mcp#part", Ok("https://a.example/mcp"));
        check("localhost:3000/mcp", Err("the address has no scheme"));
        check("ftp://a.example/", Err("the address is neither http nor https"));
        check("wss://a.example/", Err("WebSocket is not a transport of the protocol"));
        check("https://me:pw@a.example/", Err("the address carries a user name or password"));
        check("https://a.example/a b", Err("the address cannot be read"));
        check("https://bücher.example/", Err("the address holds characters outside ASCII"));
        check("https:///mcp", Err("the address cannot be read"));
        check("", Err("the address has no scheme"));
    }

    #[test]
    fn loopback_is_known_by_name_and_by_number() {
        for (text, expected) in [
            ("http://localhost:1/", true),
            ("http://127.8.9.1/", true),
            ("http://[::1]/", true),
            ("http://tools.localhost/", true),
            ("http://10.0.0.1/", false),
            ("http://localhost.example/", false),
        ] {
            assert_eq!(Url::parse(text).unwrap().is_loopback(), expected, "{text}");
        }
    }
}
