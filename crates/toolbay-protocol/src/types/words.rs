//! How the protocol's objects and words are declared: `words!` for objects, `choices!` for open enumerations.
//!
//! Not serde's derive, because every object keeps the members it does not know (`rest`), `flatten` breaks raw values,
//! and `null` for an optional member means absent.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{Deserialize, Deserializer, de};

/// Declares an object: members it must have (`need`), may leave out with a meaning (`fill`), may lack (`may`), and may
/// carry as any JSON value, `null` included (`any`); a tag stands first and is checked.
macro_rules! words {
    (
        $(#[$attr:meta])*
        $name:ident $(: $tag:literal = $kind:literal)? {
            $(need { $($(#[$nd:meta])* $n:ident : $nt:ty = $nw:literal,)+ })?
            $(fill { $($(#[$fd:meta])* $f:ident : $ft:ty = $fw:literal,)+ })?
            $(may { $($(#[$md:meta])* $m:ident : $mt:ty = $mw:literal,)+ })?
            $(any { $($(#[$ad:meta])* $a:ident = $aw:literal,)+ })?
        }
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($($(#[$nd])* pub $n: $nt,)+)?
            $($($(#[$fd])* pub $f: $ft,)+)?
            $($($(#[$md])* pub $m: Option<$mt>,)+)?
            $($($(#[$ad])* pub $a: Option<$crate::raw::Raw>,)+)?
            /// Members that no revision we know declares, as they were written.
            pub rest: $crate::types::Rest,
        }

        impl $name {
            /// One with what the spec requires, and nothing else.
            pub fn new($($($n: impl Into<$nt>,)+)?) -> Self {
                Self {
                    $($($n: $n.into(),)+)?
                    $($($f: Default::default(),)+)?
                    $($($m: None,)+)?
                    $($($a: None,)+)?
                    rest: Default::default(),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $(map.serialize_entry($tag, $kind)?;)?
                $($(map.serialize_entry($nw, &self.$n)?;)+)?
                $($(map.serialize_entry($fw, &self.$f)?;)+)?
                $($(if let Some(value) = &self.$m { map.serialize_entry($mw, value)?; })+)?
                $($(if let Some(value) = &self.$a { map.serialize_entry($aw, value)?; })+)?
                for (key, value) in self.rest.iter() {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Walk;
                impl<'de> serde::de::Visitor<'de> for Walk {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("an object (", stringify!($name), ")"))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        #[allow(unused_imports, reason = "not every object has members of each sort")]
                        use $crate::types::words::{Key, needed, once, tagged};
                        $($(let mut $n = None;)+)?
                        $($(let mut $f = None;)+)?
                        $($(let mut $m = None;)+)?
                        $($(let mut $a = None;)+)?
                        $(let mut tag = { let _ = $tag; None };)? // only where there is a tag
                        let mut rest = $crate::types::Rest::new();
                        while let Some(Key(key)) = map.next_key()? {
                            match &*key {
                                $($tag => once(&mut tag, $tag, tagged($tag, $kind, map.next_value::<Key<'de>>()?)?)?,)?
                                $($($nw => once(&mut $n, $nw, map.next_value::<$nt>()?)?,)+)?
                                $($($fw => once(&mut $f, $fw, map.next_value::<Option<$ft>>()?)?,)+)?
                                $($($mw => once(&mut $m, $mw, map.next_value::<Option<$mt>>()?)?,)+)?
                                $($($aw => once(&mut $a, $aw, map.next_value::<$crate::raw::Raw>()?)?,)+)?
                                _ => rest.push(key, map.next_value()?),
                            }
                        }
                        Ok($name {
                            $($($n: needed($n, $nw)?,)+)?
                            $($($f: $f.flatten().unwrap_or_default(),)+)?
                            $($($m: $m.flatten(),)+)?
                            $($($a,)+)?
                            rest: rest.distinct()?,
                        })
                    }
                }
                deserializer.deserialize_map(Walk)
            }
        }
    };
}
pub(crate) use words;

/// Declares a word that the spec lists values for; a value it does not list is kept.
macro_rules! choices {
    ($(#[$attr:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $wire:literal,)+ }) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
            /// A value that no revision we know lists.
            Other(Box<str>),
        }

        impl $name {
            /// Every listed value.
            pub const LISTED: &'static [Self] = &[$(Self::$variant),+];

            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $wire,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($wire => Self::$variant,)+
                    other => Self::Other(other.into()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::types::words::Word(std::marker::PhantomData))
            }
        }
    };
}
pub(crate) use choices;

/// A key, or a tag's value: borrowed where nothing is escaped.
pub(crate) struct Key<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> de::Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Reads a string as anything that every string can become.
pub(crate) struct Word<T>(pub(crate) PhantomData<T>);

impl<T: for<'a> From<&'a str>> de::Visitor<'_> for Word<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Ok(T::from(text))
    }
}

/// Takes a member's value; a second one of the same name is an error, whatever it says.
pub(crate) fn once<T, E: de::Error>(slot: &mut Option<T>, wire: &'static str, value: T) -> Result<(), E> {
    if slot.replace(value).is_some() { Err(E::duplicate_field(wire)) } else { Ok(()) }
}

/// A member that must be there.
pub(crate) fn needed<T, E: de::Error>(slot: Option<T>, wire: &'static str) -> Result<T, E> {
    slot.ok_or_else(|| E::missing_field(wire))
}

/// A tag that says what its object is.
pub(crate) fn tagged<E: de::Error>(tag: &str, expected: &str, found: Key<'_>) -> Result<(), E> {
    if found.0 == expected {
        return Ok(());
    }
    Err(E::custom(format_args!("`{tag}` is {:?} where {expected:?} is expected", found.0)))
}
