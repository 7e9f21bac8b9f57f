//! What is said of a span, of a number, of ourselves: a name and a value. Borrowed from where it is kept, since it is made
//! only to be written.

/// A name and a value.
pub(super) type Attribute<'a> = (&'a str, Value<'a>);

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Text(&'a str),
    /// A number that is written as a text.
    Digits(i64),
    Whole(i64),
    Flag(bool),
}

/// An attribute that is a text, kept.
pub(super) type Kept = (String, String);

/// What was kept, to be written.
pub(super) fn lent((name, value): &Kept) -> Attribute<'_> {
    (name, Value::Text(value))
}
