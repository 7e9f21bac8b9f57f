//! How the parts of a record that no message carries are written by a store.

/// `null` for the user who runs the server, a text for anybody else.
pub(super) mod principal {
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
    use toolbay_transport::Principal;

    pub(in super::super) fn serialize<S: Serializer>(principal: &Principal, serializer: S) -> Result<S::Ok, S::Error> {
        match principal {
            Principal::Local => None,
            Principal::Named(name) => Some(&**name),
        }
        .serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Principal, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        Ok(name.map_or(Principal::Local, |name| Principal::Named(name.into())))
    }
}

/// Its date.
pub(super) mod revision {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use toolbay_protocol::Revision;

    pub(in super::super) fn serialize<S: Serializer>(revision: &Revision, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(revision.as_str())
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Revision, D::Error> {
        let text = String::deserialize(deserializer)?;
        Revision::parse(&text).ok_or_else(|| D::Error::custom(format_args!("there is no revision {text:?}")))
    }
}
