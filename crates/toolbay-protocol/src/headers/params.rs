//! A call's arguments against its `Mcp-Param-*` headers, both ways. Arguments are read where they lie; only mirrored values
//! are taken out. Not for validating arguments against their schema: a value of a wrong type is mirrored as what it is.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::number::{Decimal, Integer, same};
use super::plan::Node;
use super::standard::single;
use super::value::{decode, encode};
use super::{Header, HeaderPlan, Mismatch, Param, Reason};

impl HeaderPlan {
    /// The headers a client sends with a call of these arguments (JSON text, if there are any).
    pub fn headers(&self, arguments: Option<&[u8]>) -> Result<Vec<Header>, Mismatch> {
        let values = self.values(arguments)?;
        let mut headers = Vec::new();
        for (param, value) in self.params().iter().zip(values) {
            let Some(value) = value else { continue };
            let value = value.mirrored().map_err(|reason| param.mismatch(reason))?;
            headers.push(Header { name: param.header.clone().into(), value });
        }
        Ok(headers)
    }

    /// Whether the headers of a received call say what its arguments say. `lookup` gives all values of a header.
    pub fn check<'h, V, L>(&self, arguments: Option<&[u8]>, mut lookup: L) -> Result<(), Mismatch>
    where
        L: FnMut(&str) -> V,
        V: IntoIterator<Item = &'h [u8]>,
    {
        let values = self.values(arguments)?;
        for (param, value) in self.params().iter().zip(values) {
            let source = param.source();
            let header = single(&param.header, &source, lookup(&param.header))?;
            let verdict = match (header, value) {
                (None, None) => Ok(()),
                (None, Some(_)) => Err(Reason::Missing),
                // What is not in the body has nothing to be equal to, yet something between may have acted on it.
                (Some(_), None) => Err(Reason::NotInBody),
                (Some(header), Some(value)) => value.check(header),
            };
            verdict.map_err(|reason| param.mismatch(reason))?;
        }
        Ok(())
    }

    /// The value of each parameter; absent and `null` are nothing.
    fn values(&self, arguments: Option<&[u8]>) -> Result<Vec<Option<Leaf>>, Mismatch> {
        let mut values = Vec::new();
        values.resize_with(self.params().len(), || None);
        let (Some(first), Some(arguments)) = (self.params().first(), arguments) else { return Ok(values) };
        let raw: &RawValue = serde_json::from_slice(arguments).map_err(|_| first.mismatch(Reason::BadArguments))?;
        if raw.get() == "null" {
            return Ok(values);
        }
        if !raw.get().starts_with('{') {
            return Err(first.mismatch(Reason::BadArguments));
        }
        match gather(&self.root, raw, &mut values) {
            Ok(()) => Ok(values),
            Err(found) => Err(self.params().get(found.param).unwrap_or(first).mismatch(found.reason)),
        }
    }
}

impl Param {
    fn source(&self) -> String {
        format!("params.arguments.{}", self.path.join("."))
    }

    fn mismatch(&self, reason: Reason) -> Mismatch {
        Mismatch::new(self.header.clone(), self.source(), reason)
    }
}

/// An argument that is mirrored.
#[derive(Debug)]
enum Leaf {
    Text(String),
    /// As written.
    Number(String),
    Boolean(&'static str),
    /// An object or array.
    Compound,
}

impl Leaf {
    fn of(raw: &RawValue) -> Result<Option<Self>, Reason> {
        let text = raw.get();
        Ok(Some(match text.as_bytes().first() {
            Some(b'n') => return Ok(None),
            Some(b't') => Self::Boolean("true"),
            Some(b'f') => Self::Boolean("false"),
            Some(b'"') => Self::Text(serde_json::from_str(text).map_err(|_| Reason::NotMirrorable)?),
            Some(b'{' | b'[') => Self::Compound,
            _ => Self::Number(text.to_owned()),
        }))
    }

    fn mirrored(self) -> Result<String, Reason> {
        match self {
            Self::Text(text) => Ok(encode(&text).into_owned()),
            Self::Boolean(text) => Ok(text.to_owned()),
            Self::Compound => Err(Reason::NotMirrorable),
            Self::Number(text) => match Decimal::parse(&text).and_then(|number| number.integer()) {
                Some(Integer::Safe(number)) => Ok(number.to_string()),
                Some(Integer::Unsafe) => Err(Reason::UnsafeInteger),
                None => Ok(text),
            },
        }
    }

    fn check(&self, header: &[u8]) -> Result<(), Reason> {
        let header = decode(header)?;
        let equal = match self {
            Self::Text(text) => *text == header,
            Self::Boolean(text) => *text == header,
            Self::Compound => return Err(Reason::NotMirrorable),
            Self::Number(text) => {
                if Decimal::parse(text).and_then(|number| number.integer()) == Some(Integer::Unsafe) {
                    return Err(Reason::UnsafeInteger);
                }
                *text == header || same(text, &header)
            }
        };
        if equal { Ok(()) } else { Err(Reason::Differs) }
    }
}

/// What stood in the way, and at which parameter.
struct Found {
    param: usize,
    reason: Reason,
}

/// Takes the mirrored values out of one object; as deep as the plan, no deeper.
fn gather(node: &Node, object: &RawValue, values: &mut [Option<Leaf>]) -> Result<(), Found> {
    let mut members = vec![None; node.children.len()];
    let mut repeated = None;
    let mut reader = serde_json::Deserializer::from_str(object.get());
    let read = Members { node, found: &mut members, repeated: &mut repeated }.deserialize(&mut reader);
    if let Some(child) = repeated {
        return Err(Found { param: node.children[child].1.first_param(), reason: Reason::RepeatedArgument });
    }
    read.map_err(|_| Found { param: node.first_param(), reason: Reason::BadArguments })?;
    for ((_, child), member) in node.children.iter().zip(members) {
        let Some(raw) = member else { continue };
        if let Some(param) = child.param {
            values[param] = Leaf::of(raw).map_err(|reason| Found { param, reason })?;
        }
        if raw.get().starts_with('{') {
            gather(child, raw, values)?;
        }
    }
    Ok(())
}

impl Node {
    fn first_param(&self) -> usize {
        self.param.or_else(|| self.children.first().map(|(_, child)| child.first_param())).unwrap_or(0)
    }
}

/// Reads an object and keeps the members a node knows.
struct Members<'n, 'f, 'de> {
    node: &'n Node,
    found: &'f mut Vec<Option<&'de RawValue>>,
    repeated: &'f mut Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Members<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(child) = map.next_key_seed(ChildNamed(self.node))? {
            let Some(child) = child else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if self.found[child].replace(map.next_value()?).is_some() {
                *self.repeated = Some(child);
            }
        }
        Ok(())
    }
}

/// Reads a key and says which child of a node it names.
struct ChildNamed<'n>(&'n Node);

impl<'de> DeserializeSeed<'de> for ChildNamed<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for ChildNamed<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.children.iter().position(|(known, _)| known == name))
    }
}
