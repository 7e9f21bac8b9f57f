//! What is said of a span, of a number, of ourselves: a name and a value.

use std::borrow::Cow;

/// A name and a value.
pub(super) type Attribute = (Cow<'static, str>, Value);

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(Cow<'static, str>),
    Whole(i64),
    Flag(bool),
}

/// An attribute that is a text.
pub(super) fn text(name: &'static str, value: impl Into<Cow<'static, str>>) -> Attribute {
    (Cow::Borrowed(name), Value::Text(value.into()))
}

/// An attribute that is a number.
pub(super) fn whole(name: &'static str, value: i64) -> Attribute {
    (Cow::Borrowed(name), Value::Whole(value))
}
