//! A server that remembers, behind a bay that tells devices apart; and clients that say which they are.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity,
    config::{Endpoint, Isolation, Remote, Url},
    servers::{Plan, Spec, embedded, endpoint},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::Outcome,
    greeting::{Device, Introduction, Profile},
    peer::Call,
    watch::Filter,
};
use toolbay_transport::{
    Approach, Caller, Connection, Cx, Hub, Principal, Request, Service, Watch, connect, duplex, http::server,
};

pub(crate) const LEGACY: Revision = Revision::LATEST_LEGACY;
pub(crate) const MODERN: Revision = Revision::LATEST;

/// By what a server tells those apart for whom it remembers something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// It does not: it is a program, and remembers for whoever runs it.
    Program,
    /// By the session.
    Session,
    /// By what it is told of the device.
    Device,
}

/// Remembers notes.
pub(crate) struct Notebook {
    by: By,
    notes: Mutex<HashMap<String, Vec<String>>>,
    /// Calls that hang: how many began, how many ended.
    pub(crate) hanging: watch::Sender<(usize, usize)>,
    /// What `_meta` the last call carried.
    pub(crate) meta: Mutex<Value>,
    pub(crate) left: AtomicUsize,
    pub(crate) opened: AtomicUsize,
    /// Held, so that no session is taken for another that was before it.
    joined: Mutex<Vec<Arc<Caller>>>,
    hub: Hub,
}

impl Notebook {
    pub(crate) fn new(by: By) -> Arc<Self> {
        Arc::new(Self {
            by,
            notes: Mutex::default(),
            hanging: watch::Sender::default(),
            meta: Mutex::default(),
            left: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            joined: Mutex::default(),
            hub: Hub::new(),
        })
    }

    fn whose(&self, caller: &Caller) -> String {
        match self.by {
            By::Program => String::new(),
            By::Session => format!("{:p}", Arc::as_ptr(&caller.introduction)),
            By::Device => caller.device().map(|device| device.as_str().to_owned()).unwrap_or_default(),
        }
    }
}

struct Hanging<'n>(&'n Notebook);

impl Drop for Hanging<'_> {
    fn drop(&mut self) {
        self.0.hanging.send_modify(|(_, ended)| *ended += 1);
    }
}

impl Service for Notebook {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "notebook", "version": "1"})),
            capabilities: Raw::of(&json!({"tools": {}})),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        if request.method == Method::ToolsList {
            let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
            return Ok(Raw::of(&json!({"tools": [tool("note"), tool("hangs")]})));
        }
        let params: Value = request.params.read().unwrap();
        *self.meta.lock().unwrap() = params["_meta"].clone();
        if params["name"] == "hangs" {
            let _hanging = Hanging(self);
            self.hanging.send_modify(|(begun, _)| *begun += 1);
            std::future::pending::<()>().await;
        }
        let mut notes = self.notes.lock().unwrap();
        let mine = notes.entry(self.whose(&request.caller)).or_default();
        mine.extend(params["arguments"]["text"].as_str().map(str::to_owned));
        Ok(Raw::of(&json!({"content": [{"type": "text", "text": mine.join(" ")}]})))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }

    fn joined(&self, caller: &Arc<Caller>) {
        self.joined.lock().unwrap().push(Arc::clone(caller));
        self.opened.fetch_add(1, Ordering::SeqCst);
    }

    fn left(&self, _: &Arc<Caller>) {
        self.left.fetch_add(1, Ordering::SeqCst);
    }
}

/// Serves something over HTTP until the end; how it is reached.
pub(crate) async fn listen<S: Service>(service: Arc<S>, end: &CancellationToken) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
    let endpoint = server::Endpoint::new(service, server::Options::default());
    tokio::spawn(server::serve(listener, endpoint, end.clone()));
    url
}

/// A server that remembers, as it is reached.
pub(crate) async fn spec(by: By, revision: Revision, end: &CancellationToken) -> Spec {
    let spec = match by {
        // As a program that is started for each connection.
        By::Program => Spec::planned(
            "n",
            "stdio-like",
            Plan::Connect(Arc::new(move |approach| embedded(Notebook::new(By::Program))(approach))),
        ),
        By::Session | By::Device => {
            let url = listen(Notebook::new(by), end).await;
            Spec::planned("n", "http", Plan::Connect(endpoint(Endpoint::Http(Remote::bare(url)))))
        }
    };
    Spec { revision: Some(revision), isolation: Isolation::PerDevice, ..spec }
}

pub(crate) async fn bay(spec: Spec) -> Bay {
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    bay.settled().await;
    bay
}

/// A bay in front of one notebook that all connections reach, in sessions.
pub(crate) async fn shared(with: impl Fn(Spec) -> Spec) -> (Bay, Arc<Notebook>) {
    let notebook = Notebook::new(By::Session);
    let spec = Spec::embedded("n", Arc::clone(&notebook));
    let spec = Spec { revision: Some(LEGACY), isolation: Isolation::PerDevice, ..spec };
    (bay(with(spec)).await, notebook)
}

fn approach(revision: Revision, device: Option<&str>) -> Approach {
    let device = device.map(|device| Device::parse(device).unwrap());
    let us = Introduction { device, ..Introduction::anonymous(revision) };
    Approach { revision: Some(revision), ..Approach::new(us) }
}

/// A client of `user` (`""` is the local one), which says in `_meta` which device it is.
pub(crate) async fn client(bay: &Bay, revision: Revision, user: &str, device: Option<&str>) -> Connection {
    let principal = if user.is_empty() { Principal::Local } else { Principal::Named(user.into()) };
    let options = duplex::Options { principal, ..duplex::Options::default() };
    connect::memory(Arc::new(bay.clone()), options, approach(revision, device)).await.unwrap()
}

/// A client over HTTP, which says in a header which device it is.
pub(crate) async fn over_http(url: &Url, revision: Revision, device: &str) -> Connection {
    let mut headers = HeaderMap::new();
    headers.insert("toolbay-client", HeaderValue::from_str(device).unwrap());
    let remote = Remote { headers, ..Remote::bare(url.clone()) };
    endpoint(Endpoint::Http(remote))(approach(revision, None)).await.unwrap()
}

pub(crate) async fn try_note(client: &Connection, text: Option<&str>, meta: Value) -> Result<String, ErrorObject> {
    let params = json!({"name": "n__note", "arguments": {"text": text}, "_meta": meta});
    let outcome = client.request(Call::new(Method::ToolsCall, Some(Raw::of(&params)))).await.unwrap();
    let result: Value = outcome?.read().unwrap();
    Ok(result["content"][0]["text"].as_str().unwrap().to_owned())
}

/// Notes something down; everything that is remembered.
pub(crate) async fn note(client: &Connection, text: &str) -> String {
    try_note(client, Some(text), json!({})).await.unwrap()
}

/// Everything that is remembered.
pub(crate) async fn notes(client: &Connection) -> String {
    try_note(client, None, json!({})).await.unwrap()
}
