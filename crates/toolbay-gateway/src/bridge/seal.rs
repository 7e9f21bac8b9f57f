//! What a caller carries between two rounds of a call: sealed, bound to who may bring it back, for what, and until when.

use std::{fmt, time::SystemTime};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    Key, KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolbay_protocol::{Method, Raw};
use toolbay_transport::Principal;

use super::key::StateKey;

/// How long a caller may take to come back.
pub(crate) const LIFE: std::time::Duration = std::time::Duration::from_secs(600);
const NONCE: usize = 24;
/// How many bytes say which key something was sealed with.
const MARK: usize = 4;

/// What is carried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Carried {
    /// The server keeps nothing: its own state, if it gave one.
    Through { server: String, state: Option<Raw> },
    /// The server wanted its caller to visit a page first; the call is made anew after that.
    Anew { server: String },
    /// The call waits under this handle, in the bay of this number alone.
    Parked { bay: u64, handle: u64 },
}

/// Who may bring it back, and for what. It is not carried but made again from the request that comes back.
#[derive(Debug)]
pub(crate) struct Binding<'r> {
    principal: &'r Principal,
    method: &'r Method,
    params: &'r Raw,
}

impl<'r> Binding<'r> {
    /// Binds to a caller and to a request, whatever it answers.
    pub(crate) fn new(principal: &'r Principal, method: &'r Method, params: &'r Raw) -> Self {
        Self { principal, method, params }
    }

    /// What is bound to, as bytes; made only where something is sealed or opened.
    fn bytes(&self) -> Vec<u8> {
        let Self { principal, method, params } = self;
        let bare = params.with(&[("_meta", None), ("inputResponses", None), ("requestState", None)]);
        let mut bound = bytes_of(principal);
        bound.push(0);
        bound.extend_from_slice(method.as_str().as_bytes());
        bound.push(0);
        bound.extend_from_slice(&Sha256::digest(bare.as_bytes()));
        bound
    }
}

#[derive(Serialize, Deserialize)]
struct Content {
    until: u64,
    carried: Carried,
}

/// Seals and opens; every bay with the same key opens what another sealed.
pub(crate) struct Sealer {
    states: XChaCha20Poly1305,
    names: XChaCha20Poly1305,
    naming: [u8; 32],
    /// Stands in front of all that is sealed, so that what another key sealed is told from what was tampered with.
    mark: [u8; MARK],
    /// Tells this bay apart from others with the same key.
    bay: u64,
}

impl Sealer {
    /// A sealer with this key.
    pub(crate) fn new(key: &StateKey) -> Result<Self, getrandom::Error> {
        let derived = |what: &[u8]| <[u8; 32]>::from(Sha256::digest([&key.bytes()[..], what].concat()));
        let cipher = |what: &[u8]| XChaCha20Poly1305::new(&Key::from(derived(what)));
        let mut bay = [0; 8];
        getrandom::fill(&mut bay)?;
        let [one, two, three, four, ..] = derived(b"mark");
        Ok(Self {
            mark: [one, two, three, four],
            states: cipher(b"states"),
            names: cipher(b"names"),
            naming: derived(b"naming"),
            bay: u64::from_be_bytes(bay),
        })
    }

    /// The number of this bay.
    pub(crate) fn bay(&self) -> u64 {
        self.bay
    }

    /// The public name, for this principal alone, of what a server calls `name`. It is the same each time; nobody can
    /// make one up, and nobody else's opens.
    pub(crate) fn name(&self, sort: Sort, principal: &Principal, server: &str, name: &str) -> String {
        let bound = [&[sort as u8][..], &bytes_of(principal)].concat();
        let plain = [server.as_bytes(), b"\0", name.as_bytes()].concat();
        // The nonce follows from all that goes in: no two different texts are sealed with one.
        let length = (bound.len() as u64).to_be_bytes();
        let digest = Sha256::digest([&self.naming, &length[..], &bound, &plain].concat());
        let mut nonce = [0; NONCE];
        nonce.copy_from_slice(&digest[..NONCE]);
        let sealed = self.names.encrypt(&XNonce::from(nonce), Payload { msg: &plain, aad: &bound });
        let sealed = sealed.expect("a short text can be sealed");
        URL_SAFE_NO_PAD.encode([&self.mark[..], &nonce, &sealed].concat())
    }

    /// The server, and what it calls what `public` names to this principal.
    pub(crate) fn named(&self, sort: Sort, principal: &Principal, public: &str) -> Option<(String, String)> {
        let bound = [&[sort as u8][..], &bytes_of(principal)].concat();
        let text = self.unmarked(public).ok()?;
        let (nonce, sealed) = text.split_at_checked(NONCE)?;
        let nonce: [u8; NONCE] = nonce.try_into().ok()?;
        let plain = self.names.decrypt(&XNonce::from(nonce), Payload { msg: sealed, aad: &bound }).ok()?;
        let (server, name) = std::str::from_utf8(&plain).ok()?.split_once('\0')?;
        Some((server.to_owned(), name.to_owned()))
    }

    /// Whether a public name was made with another key, as far as its looks tell.
    pub(crate) fn is_foreign(&self, public: &str) -> bool {
        self.unmarked(public) == Err(SealError::Foreign)
    }

    /// What stands behind the mark.
    fn unmarked(&self, text: &str) -> Result<Vec<u8>, SealError> {
        let mut text = URL_SAFE_NO_PAD.decode(text.as_bytes()).map_err(|_| SealError::Unfit)?;
        match text.split_first_chunk::<MARK>() {
            Some((mark, _)) if *mark == self.mark => Ok(text.split_off(MARK)),
            Some(_) => Err(SealError::Foreign),
            None => Err(SealError::Unfit),
        }
    }

    /// Seals `carried` until its life is over.
    pub(crate) fn seal(&self, carried: Carried, binding: &Binding<'_>, now: SystemTime) -> Result<Raw, NoRandom> {
        let content = Content { until: seconds(now) + LIFE.as_secs(), carried };
        let content = Raw::of(&content);
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| NoRandom)?;
        let payload = Payload { msg: content.as_bytes(), aad: &binding.bytes() };
        let sealed = self.states.encrypt(&XNonce::from(nonce), payload).expect("a message in memory can be sealed");
        Ok(Raw::of(&URL_SAFE_NO_PAD.encode([&self.mark[..], &nonce, &sealed].concat())))
    }

    /// Opens what came back. Whatever else is wrong with it looks the same: it is not ours.
    pub(crate) fn open(&self, state: &Raw, binding: &Binding<'_>, now: SystemTime) -> Result<Carried, SealError> {
        let text = self.unmarked(&state.as_text().ok_or(SealError::Unfit)?)?;
        let (nonce, sealed) = text.split_at_checked(NONCE).ok_or(SealError::Unfit)?;
        let nonce: [u8; NONCE] = nonce.try_into().map_err(|_| SealError::Unfit)?;
        let payload = Payload { msg: sealed, aad: &binding.bytes() };
        let content = self.states.decrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::Unfit)?;
        let content: Content = serde_json::from_slice(&content).map_err(|_| SealError::Unfit)?;
        if content.until < seconds(now) { Err(SealError::Late) } else { Ok(content.carried) }
    }
}

fn bytes_of(principal: &Principal) -> Vec<u8> {
    match principal {
        Principal::Local => b"local".to_vec(),
        Principal::Named(name) => [b"named ", name.as_bytes()].concat(),
    }
}

/// What a public name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A task.
    Task = 1,
    /// A place in a list.
    Cursor = 2,
    /// A task of our own making: its server knows nothing of it.
    Own = 3,
    /// A task that is kept here, and runs at its server in another revision than its caller's.
    Kept = 4,
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(***)")
    }
}

/// The system has no random numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoRandom;

/// Why a state is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SealError {
    /// It was sealed with another key, or not at all.
    Foreign,
    /// It is not this caller's, not for this request, or not as it was given out.
    Unfit,
    /// It is too old.
    Late,
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Foreign => {
                "`requestState` was not sealed with the key of this gateway, but by another replica or before it was \
                 started again: give all of them the same TOOLBAY_STATE_KEY, and begin this call anew"
            }
            Self::Unfit => "`requestState` is not for this request of this caller, or was changed on its way",
            Self::Late => "`requestState` is older than ten minutes: begin the call anew",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_the_same_caller_brings_the_same_request_back_in_time() {
        let sealer = Sealer::new(&StateKey::random().unwrap()).unwrap();
        let (now, method) = (SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000), Method::ToolsCall);
        let params = |text: &str| Raw::parse(text.to_owned().into(), Default::default()).unwrap();
        let first = params(r#"{"name":"x","_meta":{"a":1}}"#);
        let again = params(r#"{"name":"x","_meta":{"a":2},"inputResponses":{},"requestState":"s"}"#);

        let carried = Carried::Through { server: "a".into(), state: Some(params(r#"{"deep":1.50}"#)) };
        let state = sealer.seal(carried.clone(), &Binding::new(&Principal::Local, &method, &first), now).unwrap();
        let open = |state: &Raw, binding: Binding<'_>, now| sealer.open(state, &binding, now);
        assert_eq!(open(&state, Binding::new(&Principal::Local, &method, &again), now), Ok(carried));
        let other = Principal::Named("eve".into());
        assert_eq!(open(&state, Binding::new(&other, &method, &again), now), Err(SealError::Unfit));
        assert_eq!(
            open(&state, Binding::new(&Principal::Local, &Method::PromptsGet, &again), now),
            Err(SealError::Unfit)
        );
        assert_eq!(
            open(&state, Binding::new(&Principal::Local, &method, &params(r#"{"name":"y"}"#)), now),
            Err(SealError::Unfit)
        );
        assert_eq!(
            open(&state, Binding::new(&Principal::Local, &method, &again), now + LIFE * 2),
            Err(SealError::Late)
        );
        let mut tampered = state.as_text().unwrap().into_owned();
        tampered.replace_range(40..41, if &tampered[40..41] == "A" { "B" } else { "A" });
        assert_eq!(
            open(&Raw::of(&tampered), Binding::new(&Principal::Local, &method, &again), now),
            Err(SealError::Unfit)
        );
        assert_eq!(open(&Raw::EMPTY, Binding::new(&Principal::Local, &method, &again), now), Err(SealError::Unfit));
        let elsewhere = Sealer::new(&StateKey::random().unwrap()).unwrap();
        assert_eq!(
            elsewhere.open(&state, &Binding::new(&Principal::Local, &method, &again), now),
            Err(SealError::Foreign)
        );
    }

    #[test]
    fn a_name_is_the_same_each_time_and_opens_for_its_principal_alone() {
        let key = StateKey::random().unwrap();
        let (one, other) = (Sealer::new(&key).unwrap(), Sealer::new(&key).unwrap());
        let eve = Principal::Named("eve".into());
        let name = one.name(Sort::Task, &Principal::Local, "server", "t-1");
        assert_eq!(name, other.name(Sort::Task, &Principal::Local, "server", "t-1"));
        assert_eq!(other.named(Sort::Task, &Principal::Local, &name), Some(("server".into(), "t-1".into())));
        assert_eq!(one.named(Sort::Task, &eve, &name), None);
        assert_eq!(one.named(Sort::Cursor, &Principal::Local, &name), None);
        assert_ne!(name, one.name(Sort::Task, &Principal::Local, "server2", "t-1"));
        let stranger = Sealer::new(&StateKey::random().unwrap()).unwrap();
        assert_eq!(stranger.named(Sort::Task, &Principal::Local, &name), None);
        assert_eq!([&one, &stranger].map(|sealer| sealer.is_foreign(&name)), [false, true]);
        assert!(!one.is_foreign("t-1") && !stranger.is_foreign(""));
    }
}
