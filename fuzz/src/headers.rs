//! Any texts as header values, and any schema with any arguments: what a client would send, a server accepts; what
//! differs, it refuses.

use serde_json::Value;
use toolbay_protocol::headers::{
    Header, HeaderPlan, Mirrored, Param, Reason, check_notification, check_request, decode, encode,
};

/// Two lines and a rest: a schema and arguments where the first begins with `{`, else texts for the three standard headers.
pub fn headers(data: &[u8]) {
    let mut lines = data.splitn(3, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (first, second, third) = (line(), line(), line());
    value(first);
    if first.starts_with(b"{") {
        plan(first, second, third);
    } else {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        standard(&text(first), &text(second), &text(third));
    }
}

fn value(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let encoded = encode(&text);
    assert!(encoded.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')), "{text:?} is sent as {encoded:?}");
    assert_eq!(decode(encoded.as_bytes()), Ok(text.clone()), "sent as {encoded:?}");
    let Ok(told) = decode(bytes) else { return };
    assert_eq!(decode(encode(&told).as_bytes()).as_ref(), Ok(&told));
    // Whatever is wrapped is wrapped in one way alone.
    if let Some(inside) = text.trim_matches([' ', '\t']).strip_prefix("=?base64?").filter(|rest| rest.ends_with("?=")) {
        assert_eq!(inside.strip_suffix("?="), Some(&*toolbay::base64(told.as_bytes())));
    }
}

fn lookup<'h>(headers: &'h [Header]) -> impl Fn(&str) -> Vec<&'h [u8]> {
    move |name| {
        let named = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        named.map(|header| header.value.as_bytes()).collect()
    }
}

fn standard(version: &str, method: &str, name: &str) {
    let token = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    for name in [None, Some(name)] {
        let body = Mirrored { version, method, name };
        let sent = body.headers();
        let verdict = check_request(&body, lookup(&sent));
        // Only names may be wrapped: the other two are tokens wherever they mean anything.
        if token(version) && token(method) {
            assert_eq!(verdict, Ok(()));
            assert_eq!(check_notification(&body, lookup(&sent)), Ok(()));
        }
        if verdict.is_err() {
            continue;
        }
        for (at, header) in sent.iter().enumerate() {
            let mut fewer = sent.clone();
            fewer.remove(at);
            assert_eq!(check_request(&body, lookup(&fewer)).map_err(|unlike| unlike.reason), Err(Reason::Missing));
            let twice = [&sent[..], std::slice::from_ref(header)].concat();
            assert_eq!(check_request(&body, lookup(&twice)).map_err(|unlike| unlike.reason), Err(Reason::Repeated));
            let mut other = sent.clone();
            other[at].value += "x";
            assert!(check_request(&body, lookup(&other)).is_err(), "{other:?} for {body:?}");
        }
    }
}

fn plan(schema: &[u8], arguments: &[u8], header: &[u8]) {
    let Ok(plan) = HeaderPlan::of_json(schema) else { return };
    if let Ok(value) = serde_json::from_slice::<Value>(schema) {
        assert_eq!(HeaderPlan::of(&value).as_ref(), Ok(&plan), "a schema and its text mean the same");
    }
    assert_eq!(plan.headers(None), Ok(vec![]));
    match plan.headers(Some(arguments)) {
        Ok(sent) => mirrored(&plan, arguments, &sent, header),
        // What cannot be sent cannot be right.
        Err(_) => {
            let said = plan.params().iter().map(|param| Header {
                name: param.header.clone().into(),
                value: String::from_utf8_lossy(header).into_owned(),
            });
            assert!(plan.check(Some(arguments), lookup(&said.collect::<Vec<_>>())).is_err());
            assert!(plan.check(Some(arguments), lookup(&[])).is_err());
        }
    }
}

fn mirrored(plan: &HeaderPlan, arguments: &[u8], sent: &[Header], header: &[u8]) {
    assert_eq!(plan.check(Some(arguments), lookup(sent)), Ok(()), "{sent:?}");
    for at in 0..sent.len().min(8) {
        let mut fewer = sent.to_vec();
        fewer.remove(at);
        assert_eq!(plan.check(Some(arguments), lookup(&fewer)).map_err(|unlike| unlike.reason), Err(Reason::Missing));
    }
    let Ok(body) = serde_json::from_slice::<Value>(arguments) else { return };
    let other = String::from_utf8_lossy(header).into_owned();
    for param in plan.params() {
        let value = at(&body, param);
        let found = sent.iter().find(|header| header.name == param.header);
        assert_eq!(found.is_some(), value.is_some(), "{param:?}");
        let (Some(found), Some(value)) = (found, value) else { continue };
        assert!(says(&found.value, value), "{found:?} for {value}");
        // Another value is let by only where it means the same.
        let mut changed = sent.to_vec();
        changed
            .iter_mut()
            .filter(|header| header.name == param.header)
            .for_each(|header| header.value.clone_from(&other));
        if plan.check(Some(arguments), lookup(&changed)).is_ok() {
            assert!(says(&other, value), "{other:?} passes for {value}");
        }
    }
}

/// The value that a parameter mirrors, found in another way.
fn at<'v>(body: &'v Value, param: &Param) -> Option<&'v Value> {
    let value = param.path.iter().try_fold(body, |value, name| value.as_object()?.get(name))?;
    (!value.is_null()).then_some(value)
}

fn says(header: &str, value: &Value) -> bool {
    let Ok(header) = decode(header.as_bytes()) else { return false };
    match value {
        Value::String(text) => header == *text,
        Value::Bool(truth) => header == truth.to_string(),
        Value::Number(number) => header.parse::<f64>().ok() == number.as_f64(),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}
