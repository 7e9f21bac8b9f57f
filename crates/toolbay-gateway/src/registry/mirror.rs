//! A copy of what a registry of servers lists (API v0.1): its own search knows names only, so all of it is read once, then
//! what changed since, and the words are looked for here.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    pin::Pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use tokio::time;

use super::listing::{Listing, Standing};
use crate::percent;

/// How many servers are asked for at once, and how many answers a list may have.
const PAGE: usize = 100;
const PAGES: usize = 1_000;
/// How many servers one registry may list.
const MOST: usize = 100_000;
/// How far back is asked again, so that nothing is missed between two clocks.
const OVERLAP: Duration = Duration::from_secs(60);
/// How long changes are asked for before all is read again: not every registry tells what it took out.
const WHOLE: Duration = Duration::from_secs(24 * 60 * 60);

/// Fetches what lies at an address.
pub type Fetch = Arc<dyn Fn(String) -> Fetching + Send + Sync>;
/// A fetch that goes on.
pub type Fetching = Pin<Box<dyn Future<Output = Result<Bytes, Failed>> + Send>>;

/// Why nothing was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It may go better in a moment: no connection, no answer in time, 429, 5xx.
    Passing(String),
    /// It will not.
    Lasting(String),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Passing(why) | Self::Lasting(why)) = self;
        f.write_str(why)
    }
}

/// The copy of one registry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mirror {
    /// The registry's address.
    pub source: String,
    /// What it lists, by name, as it said it.
    pub servers: BTreeMap<String, Value>,
    /// Until when it is known to be whole.
    pub known: Option<Timestamp>,
    /// When all of it was last read.
    pub read: Option<Timestamp>,
}

/// What one look at a registry brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct News {
    /// New or changed.
    pub changed: Vec<Listing>,
    /// Taken out.
    pub gone: Vec<String>,
}

#[derive(Deserialize)]
struct Page {
    servers: Vec<Value>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    #[serde(alias = "next_cursor")]
    next_cursor: Option<String>,
}

impl Mirror {
    /// An empty copy of the registry at that address.
    pub fn of(source: impl Into<String>) -> Self {
        let source: String = source.into();
        Self { source: source.trim_end_matches('/').to_owned(), ..Self::default() }
    }

    /// Asks what changed, all pages of it; a failure that may pass is tried again after each of `pauses`. What was read before
    /// a failure is kept, and read again next time.
    pub async fn refresh(&mut self, fetch: &Fetch, now: SystemTime, pauses: &[Duration]) -> Result<News, Failed> {
        let began = Timestamp::try_from(now).unwrap_or(Timestamp::MIN);
        let whole = self.read.is_none_or(|read| began.duration_since(read).unsigned_abs() >= WHOLE);
        let since = self.known.filter(|_| !whole);
        let (mut news, mut seen) = (News::default(), BTreeSet::new());
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES {
            let text = patiently(fetch, &self.address(since, cursor.as_deref()), pauses).await?;
            let page: Page = serde_json::from_slice(&text).map_err(|why| {
                Failed::Lasting(format!("{} answers with something else than a list of servers ({why})", self.source))
            })?;
            for value in page.servers {
                seen.extend(self.take(value, &mut news)?);
            }
            let before = cursor;
            cursor = page.metadata.next_cursor.filter(|next| !next.is_empty());
            if cursor.is_none() {
                self.known = Some(began);
                if whole {
                    self.read = Some(began);
                    self.forget_all_but(&seen, &mut news);
                }
                return Ok(news);
            }
            if cursor == before {
                break;
            }
        }
        Err(Failed::Lasting(format!("the list of {} never ends", self.source)))
    }

    fn forget_all_but(&mut self, seen: &BTreeSet<String>, news: &mut News) {
        let gone: Vec<_> = self.servers.keys().filter(|name| !seen.contains(*name)).cloned().collect();
        for name in gone {
            self.servers.remove(&name);
            news.gone.push(name);
        }
    }

    /// Takes what is said of one server; its name, where there is such a server.
    fn take(&mut self, value: Value, news: &mut News) -> Result<Option<String>, Failed> {
        let Some(listing) = Listing::read(&value) else { return Ok(None) };
        if listing.standing == Standing::Deleted {
            if self.servers.remove(&listing.name).is_some() {
                news.gone.push(listing.name);
            }
            return Ok(None);
        }
        if self.servers.len() >= MOST && !self.servers.contains_key(&listing.name) {
            return Err(Failed::Lasting(format!("{} lists more than {MOST} servers", self.source)));
        }
        let name = listing.name.clone();
        if self.servers.get(&name) != Some(&value) {
            self.servers.insert(name.clone(), value);
            news.changed.push(listing);
        }
        Ok(Some(name))
    }

    fn address(&self, since: Option<Timestamp>, cursor: Option<&str>) -> String {
        let mut address = format!("{}/v0.1/servers?version=latest&limit={PAGE}", self.source);
        if let Some(known) = since {
            let since = known.checked_sub(OVERLAP).unwrap_or(known);
            address += &format!("&updated_since={since:.0}");
        }
        if let Some(cursor) = cursor {
            address += &format!("&cursor={}", percent::in_address(cursor));
        }
        address
    }
}

async fn patiently(fetch: &Fetch, address: &str, pauses: &[Duration]) -> Result<Bytes, Failed> {
    let mut pauses = pauses.iter();
    loop {
        match (fetch(address.to_owned()).await, pauses.next()) {
            (Err(Failed::Passing(_)), Some(pause)) => time::sleep(*pause).await,
            (answer, _) => return answer,
        }
    }
}
