//! The three headers every modern request carries. Not for the headers of a tool's parameters: see `params`.

use std::borrow::Cow;

use super::value::{decode, encode, plain};
use super::{Header, Mismatch, Reason};

/// The header that mirrors the protocol version.
pub const VERSION: &str = "MCP-Protocol-Version";
/// The header that mirrors the method.
pub const METHOD: &str = "Mcp-Method";
/// The header that mirrors the tool, prompt, resource or task.
pub const NAME: &str = "Mcp-Name";
/// What the headers that mirror a tool's parameters begin with.
pub const PARAM_PREFIX: &str = "Mcp-Param-";

/// The values of a body that its headers mirror.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mirrored<'a> {
    /// `io.modelcontextprotocol/protocolVersion` of `_meta`.
    pub version: &'a str,
    /// The method.
    pub method: &'a str,
    /// The member of `params` that [`name_field`] names, if the method has one and the body holds it.
    pub name: Option<&'a str>,
}

/// The member of `params` that `Mcp-Name` mirrors for a method.
pub fn name_field(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

impl Mirrored<'_> {
    /// The headers a client sends with this body.
    pub fn headers(&self) -> Vec<Header> {
        let field = |name: &'static str, value: Cow<'_, str>| Header { name: name.into(), value: value.into_owned() };
        let mut headers = vec![field(VERSION, self.version.into()), field(METHOD, self.method.into())];
        headers.extend(self.name.map(|name| field(NAME, encode(name))));
        headers
    }
}

/// Whether a request's headers say what its body says. `lookup` gives all values of the header of that name, in any case.
pub fn check_request<'h, V, L>(body: &Mirrored<'_>, mut lookup: L) -> Result<(), Mismatch>
where
    L: FnMut(&str) -> V,
    V: IntoIterator<Item = &'h [u8]>,
{
    let version = single(VERSION, VERSION_SOURCE, lookup(VERSION))?;
    compare(VERSION, VERSION_SOURCE, present(VERSION, VERSION_SOURCE, version)?, body.version, plain_text)?;
    let method = single(METHOD, METHOD_SOURCE, lookup(METHOD))?;
    compare(METHOD, METHOD_SOURCE, present(METHOD, METHOD_SOURCE, method)?, body.method, plain_text)?;
    let Some(name) = body.name else { return Ok(()) };
    let source = name_source(body.method);
    let value = single(NAME, &source, lookup(NAME))?;
    compare(NAME, &source, present(NAME, &source, value)?, name, decode)
}

/// Whether a notification's headers, where there are any, say what its body says.
// The spec leaves the headers of notifications open, so none is required.
pub fn check_notification<'h, V, L>(body: &Mirrored<'_>, mut lookup: L) -> Result<(), Mismatch>
where
    L: FnMut(&str) -> V,
    V: IntoIterator<Item = &'h [u8]>,
{
    if let Some(version) = single(VERSION, VERSION_SOURCE, lookup(VERSION))? {
        compare(VERSION, VERSION_SOURCE, version, body.version, plain_text)?;
    }
    if let Some(method) = single(METHOD, METHOD_SOURCE, lookup(METHOD))? {
        compare(METHOD, METHOD_SOURCE, method, body.method, plain_text)?;
    }
    Ok(())
}

/// The one value of a header, if it was sent.
pub(super) fn single<'h>(
    header: &str,
    source: &str,
    values: impl IntoIterator<Item = &'h [u8]>,
) -> Result<Option<&'h [u8]>, Mismatch> {
    let mut values = values.into_iter();
    let first = values.next();
    match values.next() {
        None => Ok(first),
        Some(_) => Err(Mismatch::new(header.to_owned(), source, Reason::Repeated)),
    }
}

fn present<'h>(header: &'static str, source: &str, value: Option<&'h [u8]>) -> Result<&'h [u8], Mismatch> {
    value.ok_or_else(|| Mismatch::new(header, source, Reason::Missing))
}

fn compare<'h>(
    header: &'static str,
    source: &str,
    value: &'h [u8],
    body: &str,
    read: impl Fn(&'h [u8]) -> Result<Cow<'h, str>, Reason>,
) -> Result<(), Mismatch> {
    match read(value) {
        Ok(text) if text == body => Ok(()),
        Ok(_) => Err(Mismatch::new(header, source, Reason::Differs)),
        Err(reason) => Err(Mismatch::new(header, source, reason)),
    }
}

fn plain_text(value: &[u8]) -> Result<Cow<'_, str>, Reason> {
    plain(value).map(Cow::Borrowed)
}

fn name_source(method: &str) -> String {
    format!("params.{}", name_field(method).unwrap_or("name"))
}

const VERSION_SOURCE: &str = "the protocolVersion of _meta";
const METHOD_SOURCE: &str = "method";
