//! Roots: the folders a client lets its servers see (spec: client/roots).

use std::fmt;

use super::{Conform, Meta, words::words};
use crate::revision::{Feature as F, Revision};

words! {
    /// One folder or file.
    #[derive(Default)]
    Root {
        need {
            /// A `file://` URI.
            uri: String = "uri",
        }
        may {
            /// For people.
            name: String = "name",
            /// About the root.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Answer to `roots/list`.
    #[derive(Default)]
    ListRootsResult {
        need {
            /// All of them.
            roots: Vec<Root> = "roots",
        }
        may {
            /// About the answer (until 2025-11-25).
            meta: Meta = "_meta",
        }
    }
}

/// Why something is no root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootFlaw {
    /// Its URI has another scheme than `file`.
    Scheme,
    /// Its URI names no absolute path.
    Path,
    /// Its path leads up again (`..`), so that nobody sees at once where it ends.
    Traversal,
}

impl fmt::Display for RootFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "the URI of a root begins with `file://`",
            Self::Path => "the URI of a root names an absolute path: `file:///home/me/project`",
            Self::Traversal => "the path of a root does not lead up by `..`",
        })
    }
}

impl std::error::Error for RootFlaw {}

impl Root {
    /// Whether it is a root at all (spec: client/roots).
    pub fn check(&self) -> Result<(), RootFlaw> {
        let rest = self.uri.strip_prefix("file://").ok_or(RootFlaw::Scheme)?;
        let (_, path) = rest.split_once('/').ok_or(RootFlaw::Path)?;
        let path = percent_decoded(path);
        if path.iter().any(u8::is_ascii_control) {
            return Err(RootFlaw::Path);
        }
        let mut steps = path.split(|byte| matches!(byte, b'/' | b'\\'));
        if steps.any(|step| step == b"..") { Err(RootFlaw::Traversal) } else { Ok(()) }
    }
}

/// The bytes that a path stands for; a `%` that begins nothing stands for itself.
fn percent_decoded(text: &str) -> Vec<u8> {
    let (text, mut bytes, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    let digit = |place: usize| text.get(place).and_then(|byte| char::from(*byte).to_digit(16));
    while let Some(byte) = text.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'%'));
                at += 3;
            }
            _ => {
                bytes.push(*byte);
                at += 1;
            }
        }
    }
    bytes
}

impl Conform for Root {
    fn conform(&mut self, revision: Revision) {
        let Self { uri: _, name: _, meta, rest: _ } = self;
        revision.keep(F::ItemMeta, meta);
    }
}

impl Conform for ListRootsResult {
    fn conform(&mut self, revision: Revision) {
        let Self { roots, meta, rest: _ } = self;
        roots.conform(revision);
        revision.keep(F::AskMeta, meta);
        super::meta::conform_meta(meta, revision);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_165_a_root_is_a_file_uri_that_leads_nowhere_else() {
        for good in ["file:///", "file:///home/me/a%20b", "file://host/share", "file:///C:/x..y/...", "file:///项目"]
        {
            assert_eq!(Root::new(good).check(), Ok(()), "{good}");
        }
        for bad in ["", "/home/me", "https://a.test/x", "FILE:///x", "file:/x", "git+file:///x", "data:,x"] {
            assert_eq!(Root::new(bad).check(), Err(RootFlaw::Scheme), "{bad}");
        }
        for bad in ["file://", "file://home", "file:///a%00b", "file:///a\nb"] {
            assert_eq!(Root::new(bad).check(), Err(RootFlaw::Path), "{bad}");
        }
        for bad in ["file:///a/../b", "file:///..", "file:///a/%2e%2E/b", "file:///a%2F..%2Fb", "file:///a\\..\\b"] {
            assert_eq!(Root::new(bad).check(), Err(RootFlaw::Traversal), "{bad}");
        }
    }
}
