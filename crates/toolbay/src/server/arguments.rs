//! From what a caller sent to a handler's own type; what does not fit is named.

use std::{any::Any, fmt, ops::RangeBounds};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IntoDeserializer, Visitor, value::MapDeserializer},
    forward_to_deserialize_any,
};
use toolbay_protocol::{Raw, types::Dict};

use crate::ToolError;

/// What a caller sent: an object, or a few texts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given<'a> {
    /// Arguments of a tool.
    Json(&'a Raw),
    /// Arguments of a prompt, or what a URI holds: texts that are numbers and such where the handler's type says so.
    Texts(&'a Dict<String>),
}

/// What does not fit, in a sentence that names the argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit(String);

#[cfg(feature = "validate")]
impl Misfit {
    pub(crate) fn saying(what: String) -> Self {
        Self(what)
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Given<'_> {
    /// Reads the handler's own type.
    pub(crate) fn read<A: DeserializeOwned + 'static>(self) -> Result<A, Misfit> {
        match self {
            Self::Json(raw) => as_written(raw).map_or_else(|| raw.read().map_err(|_| misfit::<A>(raw)), Ok),
            Self::Texts(texts) => {
                let pairs = texts.iter().map(|(key, text)| (key, Text(text)));
                A::deserialize(MapDeserializer::<_, serde::de::value::Error>::new(pairs))
                    .map_err(|error| Misfit(error.to_string()))
            }
        }
    }
}

/// The arguments themselves, uncopied, where that is what the handler takes.
fn as_written<A: 'static>(raw: &Raw) -> Option<A> {
    let mut taken: Option<A> = None;
    let slot: &mut dyn Any = &mut taken;
    *slot.downcast_mut::<Option<Arguments>>()? = Some(Arguments(raw.clone()));
    taken
}

/// Reads once more, to find out where it went wrong.
#[cold]
fn misfit<A: DeserializeOwned>(raw: &Raw) -> Misfit {
    let mut reader = serde_json::Deserializer::from_slice(raw.as_bytes());
    let error = match serde_path_to_error::deserialize::<_, A>(&mut reader) {
        Ok(_) => return Misfit("the arguments end in something else".into()),
        Err(error) => error,
    };
    let path = error.path().to_string();
    let said = error.into_inner().to_string();
    // The place in the text helps nobody who wrote no text.
    let said = said.split(" at line ").next().unwrap_or_default();
    Misfit(if path == "." { said.to_owned() } else { format!("`{path}`: {said}") })
}

/// A text that is read as whatever its reader expects.
struct Text<'a>(&'a str);

impl<'de> IntoDeserializer<'de, serde::de::value::Error> for Text<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            match self.0.trim().parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => visitor.visit_borrowed_str(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Text<'de> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    parsed! {
        deserialize_bool => visit_bool,
        deserialize_i8 => visit_i8,
        deserialize_i16 => visit_i16,
        deserialize_i32 => visit_i32,
        deserialize_i64 => visit_i64,
        deserialize_i128 => visit_i128,
        deserialize_u8 => visit_u8,
        deserialize_u16 => visit_u16,
        deserialize_u32 => visit_u32,
        deserialize_u64 => visit_u64,
        deserialize_u128 => visit_u128,
        deserialize_f32 => visit_f32,
        deserialize_f64 => visit_f64,
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Refuses a value outside its range; what [`tool`](macro@crate::tool) checks ranges with.
pub fn within<T: PartialOrd + fmt::Debug, R: RangeBounds<T> + fmt::Debug>(
    name: &str,
    value: &T,
    range: &R,
) -> Result<(), ToolError> {
    if range.contains(value) {
        return Ok(());
    }
    Err(ToolError::new(format!("invalid arguments: `{name}` is {value:?}, but must be within {range:?}")))
}

/// Arguments as they were written, for tools whose schema is not known when they are compiled.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Arguments(pub Raw);

impl JsonSchema for Arguments {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Arguments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Args {
        week: u32,
        #[serde(default)]
        strict: bool,
        note: Option<String>,
    }

    #[test]
    fn texts_become_what_the_type_says() {
        let texts: Dict<String> = [("week", "7".to_owned()), ("strict", "true".to_owned())].into_iter().collect();
        assert_eq!(Given::Texts(&texts).read(), Ok(Args { week: 7, strict: true, note: None }));
        let texts: Dict<String> = [("week", "soon".to_owned())].into_iter().collect();
        let misfit = Given::Texts(&texts).read::<Args>().unwrap_err().to_string();
        assert!(misfit.contains("soon"), "{misfit}");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let read = |text: &'static str| {
            let raw = Raw::parse(bytes::Bytes::from_static(text.as_bytes()), Default::default()).unwrap();
            Given::Json(&raw).read::<Args>().map_err(|misfit| misfit.to_string())
        };
        assert_eq!(read(r#"{"week":"x"}"#).unwrap_err(), "`week`: invalid type: string \"x\", expected u32");
        assert_eq!(read("{}").unwrap_err(), "missing field `week`");
    }
}
