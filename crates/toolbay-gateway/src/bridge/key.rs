//! The key that replicas share.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

/// The key with which replicas open what another of them gave its callers to carry.
#[derive(Clone, PartialEq, Eq)]
pub struct StateKey([u8; 32]);

impl StateKey {
    /// A key that nobody else has.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self(key))
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 32 bytes, written as 64 hexadecimal digits or in base64.
    pub fn parse(text: &str) -> Result<Self, StateKeyError> {
        let text = text.trim();
        let bytes = hexadecimal(text).or_else(|| {
            let plain = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
            STANDARD_NO_PAD.decode(plain.as_bytes()).ok()
        });
        bytes.and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or(StateKeyError)
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    (digits.len() == 64).then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey(***)")
    }
}

/// A text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateKeyError;

impl fmt::Display for StateKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a state key is 32 random bytes as 64 hexadecimal digits or in base64, as `openssl rand -hex 32` makes",
        )
    }
}

impl std::error::Error for StateKeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_people_write_them() {
        let hex = "00".repeat(31) + "ff";
        let key = StateKey::parse(&hex).unwrap();
        let base64 = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP8";
        assert_eq!(StateKey::parse(&format!(" {base64}=\n")), Ok(key.clone()));
        assert_eq!(StateKey::parse(base64), Ok(key.clone()));
        assert_eq!(format!("{key:?}"), "StateKey(***)");
        for wrong in ["", "00", &hex[1..], &format!("{hex}0"), "é"] {
            assert_eq!(StateKey::parse(wrong), Err(StateKeyError), "{wrong}");
        }
    }
}
