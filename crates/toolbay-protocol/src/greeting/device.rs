//! Which of its user's devices a client is on, as it states: a word of ours, which no revision knows.

use std::{fmt, sync::Arc};

use super::envelope::DEVICE;
use crate::{fault::Fault, raw::Raw};

/// Which of its user's devices a client is on, as it states: opaque, and believed only among those of one user.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Device(Arc<str>);

impl Device {
    /// How many bytes it may have.
    pub const LONGEST: usize = 128;
    /// The header in which it is stated, where there are headers; in `_meta` it is [`DEVICE`].
    pub const HEADER: &str = "toolbay-client";

    /// Takes what a client states: up to 128 printable characters of ASCII, spaces only within.
    pub fn parse(stated: &str) -> Result<Self, Fault> {
        let printable = stated.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if stated.is_empty() || stated.len() > Self::LONGEST || !printable || stated.trim() != stated {
            return Err(wrong());
        }
        Ok(Self(stated.into()))
    }

    /// The same from `_meta`; nothing where it holds nothing.
    pub fn read(stated: Option<&Raw>) -> Result<Option<Self>, Fault> {
        let Some(stated) = stated else { return Ok(None) };
        let text = stated.as_text().ok_or_else(wrong)?;
        Self::parse(&text).map(Some)
    }

    /// The one that is stated in two places, where they do not contradict each other.
    pub fn agreed(header: Option<Self>, meta: Option<Self>) -> Result<Option<Self>, Fault> {
        match (header, meta) {
            (Some(header), Some(meta)) if header != meta => Err(Fault::params(format!(
                "the header `{}` and `_meta` ({DEVICE:?}) state two devices: state one",
                Self::HEADER
            ))),
            (header, meta) => Ok(meta.or(header)),
        }
    }

    /// As it was stated.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn wrong() -> Fault {
    Fault::params(format!(
        "the device (header `{}`, {DEVICE:?} in `_meta`) must be 1 to {} printable characters of ASCII, without spaces at \
         the ends",
        Device::HEADER,
        Device::LONGEST
    ))
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_short_and_printable() {
        let check = |stated: &str, good: bool| assert_eq!(Device::parse(stated).is_ok(), good, "{stated:?}");
        for good in ["a", "laptop of Ada", "urn:uuid:3f1c", &"x".repeat(128)] {
            check(good, true);
        }
        for bad in ["", " a", "a ", "a\nb", "a\0", "gerät", &"x".repeat(129)] {
            check(bad, false);
        }
        assert!(Device::read(Some(&Raw::of(&7))).is_err());
        assert_eq!(Device::read(None).unwrap(), None);
    }

    #[test]
    fn a_header_and_meta_may_agree_but_not_differ() {
        let device = |name| Device::parse(name).ok();
        assert_eq!(Device::agreed(device("a"), device("a")).unwrap(), device("a"));
        assert_eq!(Device::agreed(device("a"), None).unwrap(), device("a"));
        assert_eq!(Device::agreed(None, device("b")).unwrap(), device("b"));
        assert!(Device::agreed(device("a"), device("b")).is_err());
    }
}
