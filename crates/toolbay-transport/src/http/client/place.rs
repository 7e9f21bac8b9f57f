//! Addresses: what a reference means seen from a base, and whether two places belong to one origin. Not for connecting.

use std::fmt;

use http::{Uri, uri::Scheme};

/// An address without its query, which may hold secrets.
pub(super) struct Shown<'a>(pub(super) &'a Uri);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.0.scheme_str().unwrap_or_default();
        let authority = self.0.authority().map(|authority| authority.as_str()).unwrap_or_default();
        write!(f, "{scheme}://{authority}{}", self.0.path())?;
        if self.0.query().is_some() { f.write_str("?***") } else { Ok(()) }
    }
}

/// Whether scheme, host and port are the same.
pub(super) fn same_origin(left: &Uri, right: &Uri) -> bool {
    let host = |uri: &Uri| uri.host().map(str::to_ascii_lowercase);
    left.scheme() == right.scheme() && host(left).is_some() && host(left) == host(right) && port(left) == port(right)
}

fn port(uri: &Uri) -> Option<u16> {
    uri.port_u16().or_else(|| match uri.scheme() {
        Some(scheme) if *scheme == Scheme::HTTP => Some(80),
        Some(scheme) if *scheme == Scheme::HTTPS => Some(443),
        _ => None,
    })
}

/// What `reference` means seen from `base`; `None` where it means nothing.
// spec: RFC 3986 section 5.2
pub(super) fn resolve(base: &Uri, reference: &str) -> Option<Uri> {
    let reference = reference.trim().split('#').next().unwrap_or_default();
    if reference.is_empty() {
        return Some(base.clone());
    }
    if has_scheme(reference) {
        return reference.parse().ok();
    }
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    if reference.starts_with("//") {
        return format!("{scheme}:{reference}").parse().ok();
    }
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    let path = if path.is_empty() {
        base.path().to_owned()
    } else if path.starts_with('/') {
        without_dots(path)
    } else {
        let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        without_dots(&format!("{folder}/{path}"))
    };
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{scheme}://{authority}{path}{query}").parse().ok()
}

fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    if path.ends_with("/.") || path.ends_with("/..") {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_browsers_do() {
        let base: Uri = "http://h:1/a/b/sse?x=1".parse().unwrap();
        for (reference, expected) in [
            ("/messages?s=1", "http://h:1/messages?s=1"),
            ("messages", "http://h:1/a/b/messages"),
            ("../m?q=a:b", "http://h:1/a/m?q=a:b"),
            ("../../../m", "http://h:1/m"),
            ("./", "http://h:1/a/b/"),
            ("?s=1", "http://h:1/a/b/sse?s=1"),
            ("", "http://h:1/a/b/sse?x=1"),
            ("//other/x", "http://other/x"),
            ("https://other/x#f", "https://other/x"),
        ] {
            assert_eq!(resolve(&base, reference).unwrap().to_string(), expected, "{reference}");
        }
        assert!(resolve(&base, "http://").is_none());
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let same = |left: &str, right: &str| same_origin(&left.parse().unwrap(), &right.parse().unwrap());
        assert!(same("http://A/x", "http://a:80/y"));
        assert!(same("https://a:443/", "https://a/"));
        assert!(!same("http://a/", "https://a/"));
        assert!(!same("http://a/", "http://a:8080/"));
        assert!(!same("http://a/", "http://a.b/"));
    }
}
