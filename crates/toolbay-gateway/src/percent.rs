//! Percent-encoding: what stands in an address, or between marks of a list, and must not mean anything there.

/// A text in which every byte that is not to be kept is written as `%XX`.
pub(crate) fn escaped(text: &str, keep: impl Fn(u8) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match keep(byte) {
            true => escaped.push(char::from(byte)),
            false => escaped += &format!("%{byte:02X}"),
        }
    }
    escaped
}

/// A text as it may stand in a path or a query: only what is never reserved is kept.
pub(crate) fn in_address(text: &str) -> String {
    escaped(text, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}
