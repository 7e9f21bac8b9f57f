//! What a modern result begins with, written once beforehand, so that results of our own need no stamp afterwards.

use bytes::{BufMut, BytesMut};

use super::stamp::SERVER_INFO;
use crate::{
    method::Method,
    raw::{Object, Quoted, Raw},
    revision::{Feature, Revision},
};

/// What the results of one server begin with, in one revision; nothing in the legacy era.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head(Option<Raw>);

/// How a tool's call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Well.
    Done,
    /// The tool failed.
    Failed,
}

/// Whether structured content goes with its mirror in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// The caller's revision carries it.
    Carried,
    /// The mirror alone.
    Mirrored,
}

const TEXT: &[u8] = br#""content":[{"type":"text","text":"#;

impl Head {
    /// What results of `server` begin with in `revision`.
    pub fn of(revision: Revision, server: &Raw) -> Self {
        if !revision.has(Feature::ResultType) {
            return Self(None);
        }
        let mut meta = Object::with_capacity(server.as_bytes().len() + 48);
        meta.put(SERVER_INFO, server);
        Self(Some(meta.finish()))
    }

    /// A result that begins with it.
    pub fn begin(&self, capacity: usize) -> Object {
        let mut result = Object::with_capacity(capacity + self.size());
        if let Some(meta) = &self.0 {
            result.put_text("resultType", "complete");
            result.put("_meta", meta);
        }
        result
    }

    /// A result that begins with it and with how long it may be kept, by whom (spec: server/utilities/caching).
    pub fn begin_kept(&self, ttl_ms: u64, scope: &str, capacity: usize) -> Object {
        let mut result = Object::with_capacity(capacity + self.size() + 48);
        if let Some(meta) = &self.0 {
            result.put_text("resultType", "complete");
            result.put_value("ttlMs", &ttl_ms);
            result.put_text("cacheScope", scope);
            result.put("_meta", meta);
        }
        result
    }

    /// The result of a tool that is one text.
    pub fn text(&self, text: &str, told: Told) -> Raw {
        let end: &[u8] = match told {
            Told::Done => b"}]}",
            Told::Failed => br#"}],"isError":true}"#,
        };
        let text = Quoted::of(text);
        let mut out = self.open(TEXT.len() + text.size() + end.len());
        out.put_slice(TEXT);
        text.put(&mut out);
        out.put_slice(end);
        Raw::judged(out.freeze())
    }

    /// The result of a tool that is structured: its mirror in text, then the content itself.
    pub fn structured(&self, content: &Raw, structure: Structure) -> Raw {
        let mirror = content.as_str();
        if structure == Structure::Mirrored {
            return self.text(mirror, Told::Done);
        }
        const MIDDLE: &[u8] = br#"}],"structuredContent":"#;
        let text = Quoted::of(mirror);
        let mut out = self.open(TEXT.len() + text.size() + MIDDLE.len() + mirror.len() + 1);
        out.put_slice(TEXT);
        text.put(&mut out);
        out.put_slice(MIDDLE);
        out.put_slice(content.as_bytes());
        out.put_u8(b'}');
        Raw::judged(out.freeze())
    }

    fn size(&self) -> usize {
        self.0.as_ref().map_or(0, |meta| meta.as_bytes().len() + START.len() + 2)
    }

    /// An object with room for exactly so much behind its head, open for a member.
    fn open(&self, size: usize) -> BytesMut {
        // Exactly as much as is needed: what is frozen then is the buffer itself.
        let head = self.0.as_ref().map_or(1, |meta| START.len() + meta.as_bytes().len() + 1);
        let mut out = BytesMut::with_capacity(head + size);
        match &self.0 {
            Some(meta) => {
                out.put_slice(START);
                out.put_slice(meta.as_bytes());
                out.put_u8(b',');
            }
            None => out.put_u8(b'{'),
        }
        out
    }
}

const START: &[u8] = br#"{"resultType":"complete","_meta":"#;

/// Whether a result begins with all that a stamp would add, in the order in which a head writes it.
pub(super) fn is_stamped(result: &Raw, method: &Method) -> bool {
    let Some(mut rest) = result.as_bytes().strip_prefix(br#"{"resultType":"complete","#) else { return false };
    if method.is_cacheable() {
        let Some(time) = rest.strip_prefix(br#""ttlMs":"#) else { return false };
        let digits = time.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let Some(scope) = time[digits..].strip_prefix(br#","cacheScope":""#) else { return false };
        let word = scope.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let Some(behind) = scope[word..].strip_prefix(br#"","#) else { return false };
        if digits == 0 || word == 0 {
            return false;
        }
        rest = behind;
    }
    let meta = rest.strip_prefix(br#""_meta":{""#).and_then(|rest| rest.strip_prefix(SERVER_INFO.as_bytes()));
    meta.is_some_and(|rest| rest.starts_with(br#"":"#))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::stamp;

    #[test]
    fn what_begins_with_a_head_needs_no_stamp() {
        let server = Raw::of(&serde_json::json!({"name": "s"}));
        for revision in Revision::ALL {
            let head = Head::of(revision, &server);
            let content = Raw::of(&serde_json::json!({"a": "b\n\u{1}"}));
            let results = [
                (Method::ToolsCall, head.text("a\"b\\\n\u{1}é", Told::Done)),
                (Method::ToolsCall, head.text("", Told::Failed)),
                (Method::ToolsCall, head.structured(&content, Structure::Carried)),
                (Method::ToolsCall, head.structured(&content, Structure::Mirrored)),
                (Method::PromptsGet, head.begin(8).finish()),
                (Method::ToolsList, head.begin_kept(7, "public", 8).finish()),
            ];
            for (method, result) in results {
                let value: serde_json::Value = result.read().unwrap();
                assert_eq!(value.get("resultType").is_some(), revision.has(Feature::ResultType));
                assert_eq!(is_stamped(&result, &method), revision.has(Feature::ResultType), "{method} {result:?}");
                let stamped = stamp(result.clone(), &method, revision, Some(&server));
                assert_eq!(stamped.as_bytes(), result.as_bytes());
            }
        }
    }

    #[test]
    fn anything_else_is_stamped_as_ever() {
        let server = Raw::of(&serde_json::json!({"name": "s"}));
        let who = r#""_meta":{"io.modelcontextprotocol/serverInfo":{}}"#;
        for (text, method) in [
            (r#"{"resultType":"complete"}"#.to_owned(), Method::ToolsCall),
            (format!(r#"{{"resultType":"complete",{who}}}"#), Method::ToolsList),
            (format!(r#"{{"resultType":"complete","ttlMs":,"cacheScope":"a",{who}}}"#), Method::ToolsList),
            (format!(r#"{{{who},"resultType":"complete"}}"#), Method::ToolsCall),
            (
                r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfoX":1}}"#.into(),
                Method::ToolsCall,
            ),
        ] {
            assert!(!is_stamped(&Raw::judged(text.clone().into()), &method), "{text}");
        }
        assert_eq!(Head::of(Revision::LATEST_LEGACY, &server), Head(None));
    }
}
