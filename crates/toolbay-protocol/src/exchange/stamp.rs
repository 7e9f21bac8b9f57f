//! What a modern result must carry beside its content, spliced in without reading the content.

use super::head::is_stamped;
use crate::{
    method::Method,
    raw::{Kind, Object, Raw},
    revision::{Feature, Revision},
};

pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Adds to a result of `method` what `revision` requires and the result lacks: `resultType`, cache hints, who answers.
/// Everything else stays as it was written. A result for the legacy era is left alone.
pub fn stamp(result: Raw, method: &Method, revision: Revision, server: Option<&Raw>) -> Raw {
    if !revision.has(Feature::ResultType) || result.kind() != Kind::Object {
        return result;
    }
    if is_stamped(&result, method) {
        return result;
    }
    let (mut typed, mut asks, mut timed, mut scoped, mut meta) = (false, false, false, false, None);
    for member in result.members() {
        match &*member.key {
            "resultType" => (typed, asks) = (true, member.value.as_bytes() == br#""input_required""#),
            "ttlMs" => timed = true,
            "cacheScope" => scoped = true,
            "_meta" => meta = Some(member.value),
            _ => {}
        }
    }
    let mut out = Object::with_capacity(result.as_bytes().len() + 192);
    if !typed {
        out.put_text("resultType", "complete");
    }
    // spec: basic/index, serverInfo in every result
    let merged = server.map(|server| match &meta {
        Some(meta) if meta.kind() == Kind::Object && meta.get(SERVER_INFO).is_some() => meta.clone(),
        Some(meta) if meta.kind() == Kind::Object => meta.with(&[(SERVER_INFO, Some(server))]),
        Some(_) | None => {
            let mut meta = Object::with_capacity(server.as_bytes().len() + 48);
            meta.put(SERVER_INFO, server);
            meta.finish()
        }
    });
    if let Some(merged) = &merged {
        out.put("_meta", merged);
    }
    if method.is_cacheable() && !asks {
        // spec: server/utilities/caching; nothing is known of how long it holds, so it is stale at once.
        if !timed {
            out.put("ttlMs", &Raw::ZERO);
        }
        if !scoped {
            out.put_text("cacheScope", "private");
        }
    }
    out.append(&result, |key| merged.is_some() && key == "_meta");
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Limits;

    #[test]
    fn only_what_is_missing_is_added() {
        let check = |text: &str, method: Method, revision, expected: &str| {
            let raw = |text: &str| Raw::parse(text.to_owned().into(), Limits::DEFAULT).unwrap();
            let stamped = stamp(raw(text), &method, revision, Some(&raw(r#"{"name":"s"}"#)));
            assert_eq!(format!("{stamped:?}"), expected);
        };
        let new = Revision::LATEST;
        let who = r#""io.modelcontextprotocol/serverInfo":{"name":"s"}"#;
        check(r#"{"x":1.50}"#, Method::ToolsCall, Revision::LATEST_LEGACY, r#"{"x":1.50}"#);
        let all = format!(r#"{{"resultType":"complete","_meta":{{{who}}},"x":1.50}}"#);
        check(r#"{"x":1.50}"#, Method::ToolsCall, new, &all);
        let all = format!(r#"{{"_meta":{{"a":1,{who}}},"ttlMs":0,"cacheScope":"private","resultType":"task"}}"#);
        check(r#"{"resultType":"task","_meta":{"a":1}}"#, Method::ToolsList, new, &all);
        let all = format!(r#"{{"_meta":{{{who}}},"resultType":"input_required"}}"#);
        check(r#"{"resultType":"input_required"}"#, Method::ResourcesRead, new, &all);
        let all = format!(r#"{{"resultType":"complete","_meta":{{{who}}}}}"#);
        check("{}", Method::ToolsCall, new, &all);
    }
}
