//! The environment variables of OpenTelemetry, by the rules of its specification: what is empty is not set, and what cannot
//! be read is told and passed over.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::attribute::Kept;

/// Looks variables up and remembers what is wrong with them.
pub(super) struct Variables<'v> {
    look: &'v dyn Fn(&str) -> Option<String>,
    pub(super) remarks: Vec<String>,
}

impl<'v> Variables<'v> {
    pub(super) fn new(look: &'v dyn Fn(&str) -> Option<String>) -> Self {
        Self { look, remarks: vec![] }
    }

    /// A variable that says something.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        (self.look)(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// The variable of one signal, or of all; and its name.
    pub(super) fn either(&self, signal: &str, rest: &str) -> Option<(String, String)> {
        let names = [format!("OTEL_EXPORTER_OTLP_{signal}_{rest}"), format!("OTEL_EXPORTER_OTLP_{rest}")];
        names.into_iter().find_map(|name| Some((self.text(&name)?, name)))
    }

    pub(super) fn remark(&mut self, what: String) {
        if !self.remarks.contains(&what) {
            self.remarks.push(what);
        }
    }

    /// A number of milliseconds.
    pub(super) fn millis(&mut self, name: &str, usual: Duration) -> Duration {
        let Some(text) = self.text(name) else { return usual };
        match text.parse() {
            Ok(millis) => Duration::from_millis(millis),
            Err(_) => {
                self.remark(format!("{name} must be a number of milliseconds; it is taken as {}", usual.as_millis()));
                usual
            }
        }
    }

    /// A number of things, at least one.
    pub(super) fn count(&mut self, name: &str, usual: usize) -> usize {
        let Some(text) = self.text(name) else { return usual };
        match text.parse() {
            Ok(count) if (1..=1_000_000).contains(&count) => count,
            _ => {
                self.remark(format!("{name} must be a number from 1 to 1000000; it is taken as {usual}"));
                usual
            }
        }
    }

    /// Headers, as `name=value,name=value`. What stands in them is never told.
    pub(super) fn headers(&mut self, signal: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let Some((text, name)) = self.either(signal, "HEADERS") else { return headers };
        for (key, value) in self.pairs(&text, &name) {
            let header = (HeaderName::try_from(&*key), HeaderValue::try_from(&*value));
            match header {
                (Ok(header), Ok(mut value)) => {
                    value.set_sensitive(true);
                    headers.insert(header, value);
                }
                (Ok(header), Err(_)) => {
                    self.remark(format!("{name}: the value of {header} cannot be sent and is left out"))
                }
                // What should be a name may be a secret.
                (Err(_), _) => self.remark(format!("{name}: a part of it does not begin with a name and is left out")),
            }
        }
        headers
    }

    /// Attributes, as `name=value,name=value`.
    pub(super) fn attributes(&mut self, name: &str) -> Vec<Kept> {
        let text = self.text(name).unwrap_or_default();
        self.pairs(&text, name)
    }

    fn pairs(&mut self, text: &str, name: &str) -> Vec<Kept> {
        let mut pairs = vec![];
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or_default();
            match (unescaped(key.trim()), unescaped(value.trim())) {
                (Some(key), Some(value)) if !key.is_empty() => pairs.push((key, value)),
                _ => self
                    .remark(format!("{name} is read as name=value,name=value; a part of it is not so and is left out")),
            }
        }
        pairs
    }
}

/// A text without its `%41`.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, more)) = rest.split_first() {
        rest = more;
        match (byte, more) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |digit: u8| (digit as char).to_digit(16);
                let byte = digit(*high)? << 4 | digit(*low)?;
                bytes.push(u8::try_from(byte).ok()?);
                rest = after;
            }
            (b'%', _) => return None,
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).ok()
}
