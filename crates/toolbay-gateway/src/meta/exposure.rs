//! Who is shown all tools, and who the few by which all others are found.

use std::collections::BTreeMap;

use toolbay_transport::Caller;

/// What a client is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expose {
    /// Every tool.
    #[default]
    All,
    /// The tools by which others are found and called.
    Search,
    /// Every tool, as long as they take no more than their share of the client's context.
    Auto,
}

impl Expose {
    /// How each is written.
    pub const WORDS: [(&'static str, Self); 3] = [("all", Self::All), ("search", Self::Search), ("auto", Self::Auto)];

    /// How it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Search => "search",
            Self::Auto => "auto",
        }
    }
}

/// What clients are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Exposure {
    /// What those are shown that are not named.
    pub expose: Expose,
    /// How many tokens a client's context holds, where it is not named.
    pub context: u32,
    /// Which share of it the definitions of tools may take.
    pub share: f64,
    /// Those that are named, by the name with which they introduce themselves.
    pub clients: BTreeMap<String, Client>,
}

/// What is different for one client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// What it is shown.
    pub expose: Option<Expose>,
    /// How many tokens its context holds.
    pub context: Option<u32>,
}

impl Default for Exposure {
    fn default() -> Self {
        Self { expose: Expose::default(), context: 200_000, share: 0.1, clients: BTreeMap::new() }
    }
}

/// How many bytes of a definition count as a token: what English and JSON take on average.
const BYTES: usize = 4;

/// About how many tokens so many bytes of definitions are.
pub(super) fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(BYTES)
}

impl Exposure {
    /// Every tool, for everybody.
    pub fn all() -> Self {
        Self { expose: Expose::All, ..Self::default() }
    }

    /// What a client of that name is shown, where it may find tools of so many tokens.
    pub fn shows(&self, client: Option<&str>, tokens: usize) -> Expose {
        match self.of(client) {
            Expose::Auto if tokens as f64 > self.most(client) => Expose::Search,
            Expose::Auto => Expose::All,
            decided => decided,
        }
    }

    /// Up to how many tokens such a client is shown every tool, where that decides.
    pub fn most(&self, client: Option<&str>) -> f64 {
        let own = client.and_then(|name| self.clients.get(name)?.context);
        f64::from(own.unwrap_or(self.context)) * self.share
    }

    /// What is said of a client of that name.
    pub fn of(&self, client: Option<&str>) -> Expose {
        client.and_then(|name| self.clients.get(name)?.expose).unwrap_or(self.expose)
    }

    /// The keys under which another one says something else.
    pub fn differing(&self, other: &Self) -> Vec<&'static str> {
        let pairs = [
            ("expose", self.expose == other.expose),
            ("context", self.context == other.context),
            ("share", self.share.to_bits() == other.share.to_bits()),
            ("clients", self.clients == other.clients),
        ];
        pairs.into_iter().filter(|(_, same)| !same).map(|(key, _)| key).collect()
    }
}

/// What everybody is shown at this moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Exposed {
    /// What is configured.
    pub exposure: Exposure,
    /// How many tools there are.
    pub tools: usize,
    /// About how many tokens their definitions take: a quarter of their bytes.
    pub tokens: usize,
    /// Whether servers can be looked for that are not here.
    pub acquires: bool,
}

impl Exposed {
    /// What a client of that name is shown.
    pub fn shows(&self, client: Option<&str>) -> Expose {
        self.exposure.shows(client, self.tokens)
    }
}

/// The name with which a client introduced itself. It proves nothing, and nothing is allowed for it.
pub(super) fn client_of(caller: &Caller) -> Option<String> {
    let name = caller.introduction.client.as_ref()?.get("name")?;
    name.as_text().map(std::borrow::Cow::into_owned)
}
