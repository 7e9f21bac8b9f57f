//! Pages of lists in which something nests too deep: one such item must not take the page with it. What is too deep is cut
//! out and marked; whoever reads the list leaves that item out and says so. Not for any other message: those are refused.

use bytes::Bytes;

use super::{Frame, Rejected};
use crate::{
    fault::{Fault, Malformed},
    raw::Kind,
    scan::{Flaw, Limits, trusted_string_end},
};

/// What stands in the place of a value that was cut out of an item of a list: a text like this one.
pub const CUT: &str = "toolbay: cut here, the rest nests too deep";

const LISTS: [&str; 4] = ["tools", "prompts", "resources", "resourceTemplates"];

impl Frame {
    /// The same as [`Frame::parse_within`] for whoever asked for something: where a page of a list nests too deep, what
    /// lies deeper is replaced by [`CUT`].
    pub fn parse_answer(text: &Bytes, limits: Limits) -> Result<Self, Rejected> {
        Self::parse_within(text, limits).or_else(|rejected| match rejected.fault {
            Fault::Malformed(Malformed::Json(Flaw::TooDeep(depth))) => page(text, depth, limits).ok_or(rejected),
            _ => Err(rejected),
        })
    }
}

fn page(text: &Bytes, depth: u8, limits: Limits) -> Option<Frame> {
    let frame = Frame::parse_within(&cut(text, usize::from(depth))?.into(), limits).ok()?;
    let Frame::Result { result, .. } = &frame else { return None };
    let lists = LISTS.iter().any(|list| result.get(list).is_some_and(|list| list.kind() == Kind::Array));
    (lists && result.get("content").is_none()).then_some(frame)
}

/// The text without anything deeper than `depth`. What is cut out is not judged; what is left will be.
fn cut(text: &[u8], depth: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut at, mut level, mut from) = (0, 0usize, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => at = trusted_string_end(text, at),
            b'{' | b'[' => {
                level += 1;
                if level == depth + 1 {
                    out.extend_from_slice(&text[from..at - 1]);
                    out.push(b'"');
                    out.extend_from_slice(CUT.as_bytes());
                    out.push(b'"');
                }
            }
            b'}' | b']' => {
                if level == depth + 1 {
                    from = at;
                }
                level = level.checked_sub(1)?;
            }
            _ => {}
        }
    }
    (level == 0).then(|| out.extend_from_slice(&text[from..]))?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_cut_where_it_is_too_deep_and_nothing_else_is() {
        let nested = |levels: usize| format!("{}1{}", r#"{"a":["x]}",["#.repeat(levels), "]]}".repeat(levels));
        let page = |member: &str, levels: usize| {
            let deep = nested(levels);
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"{member}":[{{"n":1.50}},{{"d":{deep}}}]}}}}"#);
            Frame::parse_answer(&text.into(), Limits::DEFAULT)
        };
        let Ok(Frame::Result { result, .. }) = page("tools", 5_000) else { panic!("the page is lost") };
        let items: Vec<_> = result.get("tools").iter().flat_map(crate::Raw::elements).collect();
        assert_eq!(items[0].as_str(), r#"{"n":1.50}"#);
        assert!(items.len() == 2 && items[1].as_str().contains(CUT));
        assert!(page("messages", 5_000).is_err());
        assert!(matches!(page("tools", 20), Ok(Frame::Result { result, .. }) if !result.as_str().contains(CUT)));
        let broken = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]"#, nested(500));
        assert!(Frame::parse_answer(&broken.into(), Limits::DEFAULT).is_err());
    }
}
