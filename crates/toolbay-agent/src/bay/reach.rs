//! What an agent reaches: a bay in this process, or a server at the end of a connection.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::time::timeout;
use toolbay_gateway::{
    Bay,
    catalog::{Catalog, Listed},
    servers,
};
use toolbay_protocol::{
    Method, Raw,
    exchange::Wishes,
    peer::{Call, Patience},
    raw::Object,
    watch::Filter,
};
use toolbay_transport::{Caller, Connection, Error, Subscription, connect, duplex};

use super::{
    approach::{Changes, Offer, approach},
    converse::converse,
    stock,
};
use crate::{
    person::{Nobody, Person},
    planner::{Blame, Failure},
    toolbox::{Item, Shelf, Tool, ToolId, Toolbox},
};

/// How long a server may take to answer with a page of a list.
const PAGE: Duration = Duration::from_secs(60);
/// How long the servers of a bay are waited for before its tools are looked at for the first time.
const START: Duration = Duration::from_secs(60);
/// How long a call may be silent; progress begins it anew.
const SILENCE: Duration = Duration::from_secs(120);

/// The tools of a running bay, or of a server at the end of a connection, which may be a bay elsewhere.
pub struct Reach {
    connection: Connection,
    source: Source,
    silence: Duration,
    kept: Mutex<Option<Kept>>,
}

enum Source {
    /// A bay, and as whom it sees us.
    Bay(Bay, Caller),
    /// One at the end of the connection.
    Server {
        /// Its name here.
        name: String,
        changes: Changes,
        /// Keeps it telling of changes.
        _telling: Option<Subscription>,
    },
}

/// A shelf, and what it was made of.
struct Kept {
    shelf: Arc<Shelf>,
    of: Of,
}

#[derive(Clone)]
enum Of {
    Catalog(Arc<Catalog>, u64),
    Changes(u64),
}

impl Of {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Catalog(one, at), Self::Catalog(other, then)) => Arc::ptr_eq(one, other) && at == then,
            (Self::Changes(one), Self::Changes(other)) => one == other,
            (Self::Catalog(..), Self::Changes(_)) | (Self::Changes(_), Self::Catalog(..)) => false,
        }
    }
}

impl Reach {
    /// The tools of a bay in this process, called like those of any other client of it. What is offered of the model holds
    /// for all its servers.
    pub async fn bay(bay: Bay, name: &str, version: &str, offer: Offer) -> Result<Self, Error> {
        let (approach, _) = approach(name, version, offer);
        let options = duplex::Options::default();
        let principal = options.principal.clone();
        let connection = connect::memory(Arc::new(bay.clone()), options, approach).await?;
        let caller = Caller { introduction: Arc::clone(connection.us()), principal, session: None, device: None };
        Ok(Self::new(connection, Source::Bay(bay, caller)))
    }

    /// The tools of a server that was [approached](approach()) so. All of them are of the server `name`, whatever it says of
    /// itself: rules are kept by that name.
    pub async fn over(connection: Connection, name: &str, changes: Changes) -> Self {
        // One that cannot tell of changes is taken as it is now.
        let telling = connection.subscribe(Filter::lists()).await.ok();
        Self::new(connection, Source::Server { name: name.to_owned(), changes, _telling: telling })
    }

    fn new(connection: Connection, source: Source) -> Self {
        Self { connection, source, silence: SILENCE, kept: Mutex::new(None) }
    }

    /// How long a call may be silent, in place of two minutes. Progress begins it anew.
    #[must_use]
    pub fn silence(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// Ends the connection; a bay goes on.
    pub async fn close(&self) {
        self.connection.close().await;
    }

    fn patience(&self) -> Patience {
        Patience { silence: self.silence, total: None }
    }

    async fn look(&self) -> Arc<Shelf> {
        match &self.source {
            Source::Bay(bay, caller) => {
                if self.newest().is_none() {
                    // Those that are later than that are told as still starting.
                    let _ = timeout(START, bay.settled()).await;
                }
                // Counted before: what moves meanwhile has it looked at again.
                let moves = *bay.moves().borrow();
                let of = Of::Catalog(bay.catalog_for(caller).await, moves);
                self.same(&of).unwrap_or_else(|| {
                    let Of::Catalog(catalog, _) = &of else { unreachable!("made above") };
                    let (tools, down) = (stock::tools(catalog), stock::down(bay));
                    self.put(tools, down, of)
                })
            }
            Source::Server { name, changes, .. } => {
                // Counted before the list is read: what changes meanwhile has it read again.
                let of = Of::Changes(changes.count());
                if let Some(same) = self.same(&of) {
                    return same;
                }
                match servers::whole(&self.connection, Listed::Tools, PAGE).await {
                    Ok(listed) => self.put(stock::listed_tools(name, &listed), vec![], of),
                    // It is asked again next time.
                    Err(why) => self.put(vec![], vec![(name.clone(), why)], Of::Changes(u64::MAX)),
                }
            }
        }
    }

    fn newest(&self) -> Option<Arc<Shelf>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().map(|kept| Arc::clone(&kept.shelf))
    }

    fn same(&self, of: &Of) -> Option<Arc<Shelf>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|kept| kept.of.is(of)).map(|kept| Arc::clone(&kept.shelf))
    }

    /// Another shelf where something else stands there now, else the old one.
    fn put(&self, tools: Vec<Arc<Tool>>, down: Vec<(String, String)>, of: Of) -> Arc<Shelf> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let shelf = match kept.as_ref().map(|kept| &kept.shelf) {
            Some(old) if old.tools == tools && old.down == down => Arc::clone(old),
            old => Arc::new(Shelf { generation: old.map_or(1, |old| old.generation + 1), tools, down }),
        };
        *kept = Some(Kept { shelf: Arc::clone(&shelf), of });
        shelf
    }

    async fn request(&self, method: Method, params: Raw, of: &ToolId, person: &dyn Person) -> Result<Value, Failure> {
        let wishes = Wishes { log_level: Some("info".into()), ..Wishes::progress() };
        let call = Call { wishes, patience: self.patience(), ..Call::new(method, Some(params)) };
        converse(&self.connection, call, of, person).await
    }
}

impl Toolbox for Reach {
    fn shelf(&self) -> BoxFuture<'_, Arc<Shelf>> {
        Box::pin(self.look())
    }

    fn call<'a>(
        &'a self,
        tool: &'a Tool,
        arguments: Map<String, Value>,
        person: &'a dyn Person,
    ) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async move {
            let params = named(&tool.public, &arguments);
            self.request(Method::ToolsCall, params, &tool.id, person).await
        })
    }

    fn items(&self, what: Listed) -> BoxFuture<'_, Vec<Item>> {
        Box::pin(async move {
            match &self.source {
                Source::Bay(bay, caller) => stock::items(&*bay.catalog_for(caller).await, what),
                Source::Server { name, .. } => {
                    let listed = servers::whole(&self.connection, what, PAGE).await.unwrap_or_default();
                    stock::listed_items(name, what, &listed)
                }
            }
        })
    }

    fn read<'a>(&'a self, server: &'a str, uri: &'a str) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async move {
            if let Source::Bay(bay, caller) = &self.source
                && let Some(owner) = bay.catalog_for(caller).await.server_of(uri).filter(|owner| &***owner != server)
            {
                let what = format!("{uri} is of server {owner:?} here, not of {server:?}");
                return Err(Failure { blame: Blame::Request, what });
            }
            let mut params = Object::with_capacity(uri.len() + 16);
            params.put_text("uri", uri);
            let of = ToolId { server: server.to_owned(), name: uri.to_owned() };
            self.request(Method::ResourcesRead, params.finish(), &of, &Nobody).await
        })
    }

    fn prompt<'a>(
        &'a self,
        public: &'a str,
        arguments: Map<String, Value>,
        person: &'a dyn Person,
    ) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async move {
            let server = match &self.source {
                Source::Bay(bay, caller) => {
                    let catalog = bay.catalog_for(caller).await;
                    catalog.find(Listed::Prompts, public).map(|found| found.server.to_string()).unwrap_or_default()
                }
                Source::Server { name, .. } => name.clone(),
            };
            let of = ToolId { server, name: public.to_owned() };
            self.request(Method::PromptsGet, named(public, &arguments), &of, person).await
        })
    }
}

fn named(name: &str, arguments: &Map<String, Value>) -> Raw {
    let mut params = Object::with_capacity(256);
    params.put_text("name", name);
    params.put_value("arguments", arguments);
    params.finish()
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = match &self.source {
            Source::Bay(..) => "a bay",
            Source::Server { name, .. } => name,
        };
        f.debug_struct("Reach").field("over", &over).finish_non_exhaustive()
    }
}
