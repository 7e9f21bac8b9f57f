//! Lists in pages, put together from entries that are written already.

use std::num::NonZeroUsize;

use toolbay_protocol::{ErrorObject, Raw, raw::Array, types::CacheScope};

use super::output::Form;

/// One page of a list that is made when it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// What stands on it.
    pub items: Vec<T>,
    /// What to ask for the next one with; none on the last.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// The last page, or the only one.
    pub fn last(items: impl Into<Vec<T>>) -> Self {
        Self { items: items.into(), next: None }
    }

    /// A page with others behind it.
    pub fn before(items: impl Into<Vec<T>>, next: impl Into<String>) -> Self {
        Self { items: items.into(), next: Some(next.into()) }
    }
}

/// How long a list, or what was read, may be kept, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hints {
    pub(crate) ttl_ms: u64,
    pub(crate) scope: CacheScope,
}

impl Default for Hints {
    fn default() -> Self {
        Self { ttl_ms: 0, scope: CacheScope::Private }
    }
}

impl Hints {
    /// The same for what was made for one caller.
    pub(crate) fn private(&self) -> Self {
        Self { ttl_ms: self.ttl_ms, scope: CacheScope::Private }
    }
}

/// Where a page begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cursor {
    /// At an entry of the table.
    At(usize),
    /// Where a lister says.
    Beyond(Option<String>),
}

pub(crate) fn bad_cursor() -> ErrorObject {
    ErrorObject::invalid_params("`cursor` is none that this list has given: begin again without one")
}

impl Cursor {
    /// Reads the cursor in `params`.
    pub(crate) fn read(params: &Raw) -> Result<Self, ErrorObject> {
        let Some(raw) = params.get("cursor").filter(|cursor| cursor.as_bytes() != b"null") else {
            return Ok(Self::At(0));
        };
        let text = raw.as_text().ok_or_else(|| ErrorObject::invalid_params("`cursor` must be a string"))?;
        let read = match text.split_once('.') {
            Some(("at", place)) => place.parse().ok().filter(|place| *place > 0).map(Self::At),
            Some(("on", rest)) => Some(Self::Beyond(Some(rest.to_owned()))),
            _ if text == "on" => Some(Self::Beyond(None)),
            Some(_) | None => None,
        };
        read.ok_or_else(bad_cursor)
    }

    pub(crate) fn write(&self) -> String {
        match self {
            Self::At(place) => format!("at.{place}"),
            Self::Beyond(Some(rest)) => format!("on.{rest}"),
            Self::Beyond(None) => "on".to_owned(),
        }
    }
}

/// The part of `written` that a page shows, and where the next one begins.
pub(crate) fn cut(
    written: &[Raw],
    from: usize,
    size: Option<NonZeroUsize>,
) -> Result<(&[Raw], Option<Cursor>), ErrorObject> {
    if from > 0 && from >= written.len() {
        return Err(bad_cursor());
    }
    let end = size.map_or(written.len(), |size| written.len().min(from + size.get()));
    Ok((&written[from..end], (end < written.len()).then_some(Cursor::At(end))))
}

/// A result that lists `items` under `key`.
pub(crate) fn list<'a>(
    key: &str,
    items: impl Iterator<Item = &'a Raw> + Clone,
    next: Option<&Cursor>,
    hints: &Hints,
    form: &Form,
) -> Raw {
    let size: usize = items.clone().map(|item| item.as_bytes().len() + 1).sum();
    let mut array = Array::with_capacity(size);
    for item in items {
        array.push(item);
    }
    let mut result = form.head.begin_kept(hints.ttl_ms, hints.scope.as_str(), size + 64);
    result.put(key, &array.finish());
    if let Some(next) = next {
        result.put_text("nextCursor", &next.write());
    }
    result.finish()
}
