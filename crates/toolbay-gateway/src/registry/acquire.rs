//! `search_and_acquire`: looks for servers in the registries that are known, and adds what may be added, for a while.
//!
//! The rules: the same query within the cooldown is not searched again; one whose words overlap with an earlier one's is the
//! same; the registries are asked, again after a pause where that may help; what is found is added with a time to live, at
//! whose end [`hot`](super::hot) lets it go. A program is never run because a registry lists it: it is shown as a plan.

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwapOption;
use tokio::{
    sync::{mpsc, oneshot},
    task::{self, JoinHandle},
};
use toolbay_retrieval::{Fit, Index, Query};

use super::{
    Added, Error, Existing, Registry,
    asked::Asked,
    hot::Clock,
    listing::{Listing, Standing},
    mirror::{Fetch, Mirror, News},
    offered::{described, is_within, planned, words},
    plan::{Means, Plan, long_name},
    store,
};
use crate::embeddings::{Embedder, Meaning};

/// How many queries may wait while one is searched for.
const WAITING: usize = 64;

/// How many servers are looked at for what they mean, the best by words; and how long that may take.
const MEANT: usize = 64;
const PATIENCE: Duration = Duration::from_secs(5);

/// How much of the best answer's score another one needs to be added with it.
const NEARLY: f64 = 0.5;

/// The numbers of the rules, and where is looked.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The registries, by address; where two list a server of one name, the first has it.
    pub sources: Vec<String>,
    /// How long the same query is not searched again.
    pub cooldown: Duration,
    /// How far the words of two queries overlap that are the same.
    pub similarity: f64,
    /// How long to wait before each further try where a registry does not answer.
    pub pauses: Vec<Duration>,
    /// How long what was added lasts.
    pub lifetime: Duration,
    /// How many servers one query finds, and adds.
    pub most: usize,
    /// What is done about servers on other machines.
    pub remote: Remote,
}

/// What is done about servers on other machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remote {
    /// They are shown, and somebody decides.
    #[default]
    Ask,
    /// They are added, where nothing is wanted of anybody first.
    Add,
}

/// The official registry.
pub const OFFICIAL: &str = "https://registry.modelcontextprotocol.io";

impl Default for Settings {
    fn default() -> Self {
        Self {
            sources: vec![OFFICIAL.into()],
            cooldown: Duration::from_secs(30),
            similarity: 0.8,
            pauses: [1, 2, 4].map(Duration::from_secs).into(),
            lifetime: Duration::from_secs(15 * 60),
            most: 3,
            remote: Remote::default(),
        }
    }
}

/// What a query brought.
#[derive(Clone, Debug, PartialEq)]
pub struct Acquired {
    /// The servers that fit, best first; none where nothing does.
    pub offers: Vec<Offer>,
    /// Registries that could not be asked, and why; what is known of them from before was searched all the same.
    pub remarks: Vec<String>,
    /// The earlier query that was the same, where this one was not searched for.
    pub cached: Option<String>,
}

/// A server that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// What the registry says of it.
    pub listing: Listing,
    /// The registry.
    pub source: String,
    /// How well it fits; comparable within one answer only.
    pub score: f64,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a server that was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is in the registry of tools under this name, until then.
    Added {
        /// The name of the entry.
        name: String,
        /// When it goes.
        until: SystemTime,
    },
    /// It was there before.
    Known {
        /// The name of the entry.
        name: String,
    },
    /// Somebody has to say yes, or to give something first.
    Planned(Box<Plan>),
    /// It cannot be reached from here: why.
    Unreachable(String),
}

/// Searches and acquires, one query after the other.
pub struct Acquirer {
    asks: mpsc::Sender<(What, oneshot::Sender<Acquired>)>,
    embedder: Arc<ArcSwapOption<Embedder>>,
    task: JoinHandle<()>,
}

enum What {
    /// What is needed, in words; what may be added is added.
    Acquire(String),
    /// The same, adding nothing.
    Find(String, usize),
    /// The server of that name.
    Named(String),
}

impl Acquirer {
    /// Looks by `settings` and `fetch`, adds to `registry`, keeps copies of what is listed in `cache`.
    pub fn start(settings: Settings, fetch: Fetch, clock: Clock, registry: Registry, cache: Option<PathBuf>) -> Self {
        let (asks, queries) = mpsc::channel(WAITING);
        let asked = Asked::new(settings.cooldown, settings.similarity);
        let embedder: Arc<ArcSwapOption<Embedder>> = Arc::default();
        let desk = Desk {
            embedder: Arc::clone(&embedder),
            space: 0,
            settings,
            fetch,
            clock,
            registry,
            cache,
            asked,
            mirrors: vec![],
            index: Index::new(),
            listings: BTreeMap::new(),
        };
        Self { asks, embedder, task: tokio::spawn(desk.run(queries)) }
    }

    /// Asks this one what servers and queries mean from here on, or nobody.
    pub fn embed_by(&self, embedder: Option<Embedder>) {
        self.embedder.store(embedder.map(Arc::new));
    }

    /// Finds servers for what is needed, and adds those that may be.
    pub async fn search_and_acquire(&self, query: &str) -> Acquired {
        self.ask(What::Acquire(query.to_owned())).await
    }

    /// Finds servers, and adds none.
    pub async fn find(&self, query: &str, most: usize) -> Acquired {
        self.ask(What::Find(query.to_owned(), most)).await
    }

    /// The server of that name, or those whose last part it is.
    pub async fn named(&self, name: &str) -> Acquired {
        self.ask(What::Named(name.to_owned())).await
    }

    async fn ask(&self, what: What) -> Acquired {
        let (done, answer) = oneshot::channel();
        let nothing = || Acquired {
            offers: vec![],
            remarks: vec!["too much is being searched for, or the search came to its end; try again".into()],
            cached: None,
        };
        match self.asks.try_send((what, done)) {
            Ok(()) => answer.await.unwrap_or_else(|_| nothing()),
            Err(_) => nothing(),
        }
    }
}

impl Drop for Acquirer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for Acquirer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Acquirer")
    }
}

/// Owns what is known.
struct Desk {
    settings: Settings,
    fetch: Fetch,
    clock: Clock,
    registry: Registry,
    cache: Option<PathBuf>,
    asked: Asked<Acquired>,
    mirrors: Vec<Mirror>,
    index: Index,
    embedder: Arc<ArcSwapOption<Embedder>>,
    /// The stamp of the space that the vectors in the index are of.
    space: u64,
    /// What is listed, with the place of its registry.
    listings: BTreeMap<String, (usize, Arc<Listing>)>,
}

impl Desk {
    async fn run(mut self, mut queries: mpsc::Receiver<(What, oneshot::Sender<Acquired>)>) {
        while let Some((what, done)) = queries.recv().await {
            let answer = match what {
                What::Acquire(query) => self.acquire(&query).await,
                What::Find(query, most) => {
                    let remarks = self.refresh().await;
                    Acquired { offers: self.best(&query, most).await, remarks, cached: None }
                }
                What::Named(name) => {
                    let remarks = self.refresh().await;
                    Acquired { offers: self.named(&name).await, remarks, cached: None }
                }
            };
            // Whoever asked may have left.
            let _ = done.send(answer);
        }
    }

    async fn acquire(&mut self, query: &str) -> Acquired {
        if let Some((before, answer)) = self.asked.answered(query, (self.clock)()) {
            return Acquired { cached: Some(before), offers: self.still(answer.offers).await, ..answer };
        }
        let remarks = self.refresh().await;
        let mut offers = self.best(query, self.settings.most).await;
        if self.settings.remote == Remote::Add {
            let least = offers.first().map_or(0.0, |best| best.score * NEARLY);
            for offer in offers.iter_mut().filter(|offer| offer.score >= least) {
                offer.outcome = self.add(offer).await;
            }
        }
        let answer = Acquired { offers, remarks, cached: None };
        // A search that failed is no answer to the next one.
        if answer.remarks.is_empty() || !answer.offers.is_empty() {
            self.asked.remember(query, (self.clock)(), answer.clone());
        }
        answer
    }

    /// Brings what is known up to date; what went wrong.
    async fn refresh(&mut self) -> Vec<String> {
        if self.mirrors.len() < self.settings.sources.len() {
            self.load().await;
        }
        let (mut remarks, now) = (vec![], (self.clock)());
        for place in 0..self.mirrors.len() {
            let before = self.mirrors[place].known;
            let refreshed = self.mirrors[place].refresh(&self.fetch, now, &self.settings.pauses).await;
            match refreshed {
                Ok(news) => {
                    let changed = before.is_none() || news != News::default();
                    self.take(place, news);
                    if changed {
                        self.keep(place).await;
                    }
                }
                Err(why) => {
                    remarks.push(why.to_string());
                    // What came before the failure counts.
                    self.learn(place);
                }
            }
        }
        remarks
    }

    async fn load(&mut self) {
        let (sources, cache) = (self.settings.sources.clone(), self.cache.clone());
        let load = move || -> Vec<Mirror> {
            let one = |source: &String| match &cache {
                Some(folder) => store::load(folder, source),
                None => Mirror::of(source),
            };
            sources.iter().map(one).collect()
        };
        self.mirrors = task::spawn_blocking(load).await.unwrap_or_default();
        (0..self.mirrors.len()).for_each(|place| self.learn(place));
    }

    /// Learns all that the copy of a registry holds, and forgets what it does not hold any more.
    fn learn(&mut self, place: usize) {
        let servers = &self.mirrors[place].servers;
        let changed = servers.values().filter_map(Listing::read).collect();
        let known = self.listings.iter().filter(|(_, (owner, _))| *owner == place).map(|(name, _)| name);
        let gone = known.filter(|name| !servers.contains_key(*name)).cloned().collect();
        self.take(place, News { changed, gone });
    }

    fn take(&mut self, place: usize, news: News) {
        let own = |known: Option<&(usize, Arc<Listing>)>| known.is_none_or(|(owner, _)| *owner >= place);
        for name in news.gone {
            if self.listings.contains_key(&name) && own(self.listings.get(&name)) {
                self.listings.remove(&name);
                self.index.remove(&name);
                // Another registry may have listed it all the while.
                let later = self.mirrors.iter().enumerate().skip(place + 1);
                let mut listed =
                    later.filter_map(|(place, mirror)| Some((place, Listing::read(mirror.servers.get(&name)?)?)));
                if let Some((place, listing)) = listed.next() {
                    self.index.insert(&described(&listing));
                    self.listings.insert(name, (place, Arc::new(listing)));
                }
            }
        }
        for listing in news.changed {
            let known = self.listings.get(&listing.name);
            if own(known) && known.is_none_or(|(owner, before)| *owner != place || **before != listing) {
                self.index.insert(&described(&listing));
                self.listings.insert(listing.name.clone(), (place, Arc::new(listing)));
            }
        }
    }

    /// Keeps the copy of a registry. That it cannot be kept costs time at the next start, and nothing else.
    async fn keep(&self, place: usize) {
        if let Some(folder) = self.cache.clone() {
            let mirror = self.mirrors[place].clone();
            let _ = task::spawn_blocking(move || store::save(&folder, &mirror)).await;
        }
    }

    /// What a model makes of a query, and of the servers that answer it best by words: a registry lists far more than are worth
    /// encoding.
    async fn meaning(&mut self, query: &str) -> Meaning {
        let Some(embedder) = self.embedder.load_full() else { return Meaning::default() };
        let ids: Vec<Arc<str>> = match self.listings.len() <= MEANT {
            true => self.listings.keys().map(|name| name.as_str().into()).collect(),
            false => self.index.search(&Query::new(query).limit(MEANT)).hits.into_iter().map(|hit| hit.id).collect(),
        };
        let text = |id: &Arc<str>| self.listings.get(&**id).map(|(_, listing)| described(listing).text());
        let texts: Vec<String> = ids.iter().map(|id| text(id).unwrap_or_default()).collect();
        let vectors = embedder.vectors(&texts, PATIENCE).await;
        let meaning = embedder.request(query).await;
        let Some((stamp, encoder)) = embedder.encoder().filter(|(stamp, _)| *stamp == meaning.stamp) else {
            return Meaning::default();
        };
        if self.space != stamp {
            self.index.set_encoder((*encoder).clone());
            self.space = stamp;
        }
        for (id, vector) in ids.iter().zip(vectors) {
            if let Some(vector) = vector {
                self.index.set_vector(id, &vector);
            }
        }
        meaning
    }

    async fn best(&mut self, query: &str, most: usize) -> Vec<Offer> {
        let meaning = self.meaning(query).await;
        let asked = Query::new(query).limit(most.saturating_mul(2));
        let found = self.index.search(&match meaning.vector() {
            Some(vector) => asked.vector(vector),
            None => asked,
        });
        if found.fit == Fit::Nothing {
            return vec![];
        }
        // Beside the best, only what answers words of the query, too.
        let near = found.hits.iter().enumerate().filter(|(place, hit)| *place == 0 || words(hit) > 0.0);
        let hits = near.filter_map(|(_, hit)| Some((hit.score, self.listings.get(&*hit.id)?)));
        let mut hits: Vec<_> = hits.collect();
        // Those that are rather not to be used come after the others.
        hits.sort_by_key(|(_, (_, listing))| listing.standing != Standing::Active);
        hits.truncate(most);
        self.offered(hits).await
    }

    /// Offers of a moment ago as they stand now: what was found is not looked for again, but may have come or gone.
    async fn still(&self, offers: Vec<Offer>) -> Vec<Offer> {
        let hits = offers.iter().filter_map(|offer| Some((offer.score, self.listings.get(&offer.listing.name)?)));
        let now = self.offered(hits.collect()).await;
        let before = |name: &str| offers.iter().find(|offer| offer.listing.name == name).map(|offer| &offer.outcome);
        let mut still = now;
        for offer in &mut still {
            if let (Outcome::Known { name }, Some(added @ Outcome::Added { name: same, .. })) =
                (&offer.outcome, before(&offer.listing.name))
                && name == same
            {
                offer.outcome = added.clone();
            }
        }
        still
    }

    async fn named(&self, name: &str) -> Vec<Offer> {
        let is_named = |listing: &Listing| listing.name.rsplit('/').next() == Some(name);
        let known = match self.listings.get(name) {
            Some(known) => vec![(1.0, known)],
            None => self.listings.values().filter(|(_, listing)| is_named(listing)).map(|known| (1.0, known)).collect(),
        };
        self.offered(known).await
    }

    async fn offered(&self, hits: Vec<(f64, &(usize, Arc<Listing>))>) -> Vec<Offer> {
        let registry = self.registry.clone();
        let entries = task::spawn_blocking(move || registry.tools()).await;
        let entries: Vec<_> = entries.ok().and_then(Result::ok).into_iter().flatten().flatten().collect();
        let now = (self.clock)();
        let known = |listing: &Listing| {
            let is_it = |entry: &&super::Entry| {
                let source = entry.other.get("source").and_then(|source| source.get("name")?.as_str());
                source == Some(&listing.name) && !entry.is_over(now)
            };
            entries.iter().find(is_it)
        };
        let offer = |(score, (place, listing)): (f64, &(usize, Arc<Listing>))| Offer {
            outcome: match known(listing) {
                Some(entry) if entry.enabled => Outcome::Known { name: entry.name.clone() },
                // Its name would only be refused, and it is not added a second time.
                Some(_) => Outcome::Unreachable("it is here, and switched off".into()),
                None => planned(listing),
            },
            listing: (**listing).clone(),
            source: self.mirrors[*place].source.clone(),
            score,
        };
        hits.into_iter().map(offer).collect()
    }

    /// Adds a server on another machine of which nothing is wanted; any other is left as it is.
    async fn add(&self, offer: &Offer) -> Outcome {
        let Outcome::Planned(plan) = &offer.outcome else { return offer.outcome.clone() };
        let Means::Remote { url } = &plan.means else { return offer.outcome.clone() };
        // Its registry wrote that address, and nobody saw it: only one within this network may lead there.
        let outside = is_within(url) == Some(false) && url.starts_with("https://");
        let may_lead_there = outside || is_within(&offer.source) == Some(true);
        if !plan.wanted.is_empty() || !may_lead_there {
            return offer.outcome.clone();
        }
        let until = (self.clock)() + self.settings.lifetime;
        let (registry, entry) = (self.registry.clone(), plan.entry.clone().until(until));
        let long = long_name(&offer.listing.name);
        let add = move || match registry.add_tool(&entry, Existing::Refuse) {
            Err(Error::Taken { .. }) => {
                let entry = super::Entry { name: long, ..entry };
                registry.add_tool(&entry, Existing::Refuse).map(|added| (added, entry.name))
            }
            added => added.map(|added| (added, entry.name)),
        };
        match task::spawn_blocking(add).await {
            Ok(Ok((Added::New | Added::Replaced, name))) => Outcome::Added { name, until },
            Ok(Ok((Added::Same, name))) => Outcome::Known { name },
            Ok(Err(why)) => Outcome::Unreachable(why.to_string()),
            Err(_) => Outcome::Unreachable("it could not be added".into()),
        }
    }
}
