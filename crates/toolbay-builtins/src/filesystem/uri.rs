//! `file:` URIs of paths (RFC 8089).

use std::{fmt::Write as _, path::Path};

/// The URI of an absolute path; `None` where its name is not UTF-8.
pub(super) fn uri_of(path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let mut uri = String::with_capacity(path.len() + 8);
    uri.push_str("file://");
    if !path.starts_with('/') {
        uri.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            byte if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte) => uri.push(char::from(byte)),
            byte => write!(uri, "%{byte:02X}").expect("a growing text takes every write"),
        }
    }
    Some(uri)
}

/// The absolute path that a URI without its `file:///` and with its escapes undone names.
pub(super) fn path_of(rest: &str) -> String {
    if cfg!(windows) { rest.to_owned() } else { format!("/{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_has_a_meaning_in_uris_is_escaped() {
        assert_eq!(uri_of(Path::new("/a b/c?d#é.txt")).unwrap(), "file:///a%20b/c%3Fd%23%C3%A9.txt");
        assert_eq!(path_of("a b/c?d#é.txt"), "/a b/c?d#é.txt");
    }
}
