//! What a caller carries between two rounds of a call: sealed, bound to who may bring it back, for what, and until when.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    Key, KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolbay_protocol::{
    Method, Raw,
    raw::{Kind, Member},
    types::Dict,
};
use toolbay_transport::Principal;

const NONCE: usize = 24;

/// What is carried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Carried {
    /// How often the caller was sent back.
    pub(crate) round: u32,
    /// What it was asked last.
    pub(crate) asked: Vec<String>,
    /// What it answered before.
    pub(crate) answers: Dict<Raw>,
    /// What was done before and is not to be done again.
    pub(crate) done: Dict<Raw>,
}

#[derive(Serialize, Deserialize)]
struct Content {
    until: u64,
    carried: Carried,
}

/// Who may bring it back, and for what. It is not carried but made again from the request that comes back.
#[derive(Debug)]
pub(crate) struct Binding(Vec<u8>);

impl Binding {
    /// Binds to a caller and to a request, whatever it answers and however it is written.
    pub(crate) fn new(server: &str, principal: &Principal, method: &Method, params: &Raw) -> Self {
        let mut digest = Sha256::new();
        let own = |key: &str| matches!(key, "_meta" | "inputResponses" | "requestState");
        members(&mut digest, params.members().filter(|member| !own(&member.key)).collect());
        let who = match principal {
            Principal::Local => "local",
            Principal::Named(name) => name,
        };
        let mut bound = Vec::with_capacity(128);
        for part in [server, method.as_str(), who] {
            bound.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bound.extend_from_slice(part.as_bytes());
        }
        bound.push(u8::from(matches!(principal, Principal::Named(_))));
        bound.extend_from_slice(&digest.finalize());
        Self(bound)
    }
}

/// Takes a value in whatever order its members stand.
fn value(digest: &mut Sha256, raw: &Raw) {
    match raw.kind() {
        Kind::Object => members(digest, raw.members().collect()),
        Kind::Array => {
            digest.update(b"[");
            for element in raw.elements() {
                value(digest, &element);
                digest.update(b",");
            }
            digest.update(b"]");
        }
        Kind::String => text(digest, &raw.as_text().unwrap_or_default()),
        Kind::Number | Kind::Bool | Kind::Null => digest.update(raw.as_bytes()),
    }
}

fn members(digest: &mut Sha256, mut members: Vec<Member<'_>>) {
    members.sort_by(|one, other| one.key.cmp(&other.key));
    digest.update(b"{");
    for member in members {
        text(digest, &member.key);
        value(digest, &member.value);
        digest.update(b",");
    }
    digest.update(b"}");
}

fn text(digest: &mut Sha256, text: &str) {
    digest.update(b"\"");
    digest.update((text.len() as u64).to_be_bytes());
    digest.update(text.as_bytes());
}

/// Seals and opens; every server with the same key opens what another sealed.
#[derive(Clone)]
pub(crate) struct Sealer {
    cipher: XChaCha20Poly1305,
    life: Duration,
}

impl Sealer {
    /// How long a caller may take to come back, where nothing else is said.
    pub(crate) const LIFE: Duration = Duration::from_secs(15 * 60);

    /// A sealer with this key.
    pub(crate) fn keyed(secret: &[u8], life: Duration) -> Self {
        Self { cipher: XChaCha20Poly1305::new(&Key::from(<[u8; 32]>::from(Sha256::digest(secret)))), life }
    }

    /// A sealer with a key of its own, which ends with this process; none where the system has no random numbers.
    pub(crate) fn random(life: Duration) -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Self { cipher: XChaCha20Poly1305::new(&Key::from(key)), life })
    }

    /// Seals `carried` until its life is over; nothing where the system has no random numbers.
    pub(crate) fn seal(&self, carried: Carried, binding: &Binding, now: SystemTime) -> Option<Raw> {
        let content = Raw::of(&Content { until: seconds(now).saturating_add(self.life.as_secs()), carried });
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let payload = Payload { msg: content.as_bytes(), aad: &binding.0 };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).ok()?;
        Some(Raw::of(&URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat())))
    }

    /// Opens what came back. Whatever is wrong with it looks the same: it is not ours.
    pub(crate) fn open(&self, state: &Raw, binding: &Binding, now: SystemTime) -> Option<Carried> {
        let text = URL_SAFE_NO_PAD.decode(state.as_text()?.as_bytes()).ok()?;
        let (nonce, sealed) = text.split_at_checked(NONCE)?;
        let nonce: [u8; NONCE] = nonce.try_into().ok()?;
        let payload = Payload { msg: sealed, aad: &binding.0 };
        let content = self.cipher.decrypt(&XNonce::from(nonce), payload).ok()?;
        let content: Content = serde_json::from_slice(&content).ok()?;
        (content.until >= seconds(now)).then_some(content.carried)
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_caller_brings_the_same_request_back_in_time() {
        // rule 98 and rule 99 of basic/patterns/mrtr
        let sealer = Sealer::keyed(b"secret", Sealer::LIFE);
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let raw = |text: &str| Raw::parse(text.to_owned().into(), Default::default()).unwrap();
        let bind = |who: &Principal, method: &Method, params: &str| Binding::new("s", who, method, &raw(params));
        let (local, call) = (Principal::Local, Method::ToolsCall);
        let carried = Carried { round: 1, asked: vec!["a".into()], ..Carried::default() };
        let first = bind(&local, &call, r#"{"name":"x","arguments":{"a":1,"b":[1,2]},"_meta":{"a":1}}"#);
        let state = sealer.seal(carried.clone(), &first, now).unwrap();
        let again = r#"{"arguments":{"b":[1,2],"a":1},"name":"x","inputResponses":{},"requestState":"s"}"#;
        assert_eq!(sealer.open(&state, &bind(&local, &call, again), now), Some(carried));
        let named = Principal::Named("local".into());
        for (who, method, params) in [
            (&named, &call, again),
            (&local, &Method::PromptsGet, again),
            (&local, &call, r#"{"name":"x","arguments":{"a":1,"b":[12]}}"#),
            (&local, &call, r#"{"name":"y","arguments":{"a":1,"b":[1,2]}}"#),
        ] {
            assert_eq!(sealer.open(&state, &bind(who, method, params), now), None, "{params}");
        }
        assert_eq!(sealer.open(&state, &bind(&local, &call, again), now + Sealer::LIFE * 2), None);
        assert_eq!(Sealer::keyed(b"other", Sealer::LIFE).open(&state, &bind(&local, &call, again), now), None);
        let mut tampered = state.as_text().unwrap().into_owned();
        tampered.replace_range(60..61, if &tampered[60..61] == "A" { "B" } else { "A" });
        assert_eq!(sealer.open(&Raw::of(&tampered), &bind(&local, &call, again), now), None);
    }
}
