//! Another configuration while calls are in flight.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use toolbay_gateway::{
    Bay, Identity, StateKey, What,
    catalog::Listed,
    config::{self, Surroundings, System},
    limits::{Effect, Limits},
    servers::{Connector, Phase, Plan, Spec, embedded},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::Outcome,
    greeting::{Introduction, Profile},
    peer::Call,
    watch::{Change, Filter},
};
use toolbay_transport::{Approach, Caller, Connection, Cx, Hub, Listener, Request, Service, Watch, connect, duplex};

const URI: &str = "test://one";

/// A server with one resource, and one tool, which answers when it is let go.
struct Slow {
    gate: Arc<Semaphore>,
    hub: Hub,
}

impl Service for Slow {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "slow", "version": "1"})),
            capabilities: Raw::of(&json!({"tools": {}, "resources": {"subscribe": true}})),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        Ok(Raw::of(&match request.method {
            Method::ToolsList => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
            Method::ResourcesList => json!({"resources": [{"uri": URI, "name": "one"}]}),
            Method::TemplatesList => json!({"resourceTemplates": []}),
            _ => {
                self.gate.acquire().await.unwrap().forget();
                json!({"content": [{"type": "text", "text": "done"}]})
            }
        }))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }
}

/// A change in short: whose, what became of it, and its fields.
type Short = (String, What, Vec<(&'static str, Effect)>);

/// Scripted servers in the place of those that a configuration names.
#[derive(Clone, Default)]
struct Peers {
    gates: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
    starts: Arc<Mutex<HashMap<String, usize>>>,
    open: Arc<Mutex<HashMap<String, Vec<Connection>>>>,
    latest: Arc<Mutex<Option<Arc<Slow>>>>,
}

impl Peers {
    fn gate(&self, server: &str) -> Arc<Semaphore> {
        let mut gates = self.gates.lock().unwrap();
        Arc::clone(gates.entry(server.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(0))))
    }

    fn starts(&self, server: &str) -> usize {
        self.starts.lock().unwrap().get(server).copied().unwrap_or_default()
    }

    fn connection(&self, server: &str, place: usize) -> Connection {
        self.open.lock().unwrap()[server][place].clone()
    }

    fn connector(&self, server: &str) -> Connector {
        let (peers, server) = (self.clone(), server.to_owned());
        Arc::new(move |approach| {
            let (peers, server) = (peers.clone(), server.clone());
            Box::pin(async move {
                *peers.starts.lock().unwrap().entry(server.clone()).or_default() += 1;
                let service = Arc::new(Slow { gate: peers.gate(&server), hub: Hub::new() });
                *peers.latest.lock().unwrap() = Some(Arc::clone(&service));
                let connection = embedded(service)(approach).await?;
                peers.open.lock().unwrap().entry(server).or_default().push(connection.clone());
                Ok(connection)
            })
        })
    }

    /// What a configuration says, with scripted servers.
    fn configured(&self, text: &str) -> (Vec<Spec>, Limits) {
        let around = Surroundings { folder: Path::new("/"), system: System::Unix, variable: &|_| None };
        let config = config::parse(text, Path::new("/toolbay.json"), &around).unwrap().config;
        let specs = config.servers.iter().map(Spec::configured).map(|spec| match spec.plan {
            Plan::Connect(_) => Spec { plan: Plan::Connect(self.connector(&spec.name)), ..spec },
            Plan::Disabled | Plan::Broken(_) => spec,
        });
        (specs.collect(), config.limits)
    }

    fn open(&self, text: &str) -> Bay {
        let (specs, limits) = self.configured(text);
        let identity = Identity { name: "bay".into(), version: "0".into() };
        Bay::open_within(&identity, specs, &StateKey::random().unwrap(), limits).unwrap()
    }

    /// What came of another configuration, in short.
    fn reload(&self, bay: &Bay, text: &str) -> Vec<Short> {
        let (specs, limits) = self.configured(text);
        let changes = bay.reload(specs, limits).into_iter();
        let short = changes.map(|change| {
            let fields = change.fields.iter().map(|field| (field.key, field.effect)).collect();
            (change.server.unwrap_or_default(), change.what, fields)
        });
        short.collect()
    }
}

async fn caller(bay: &Bay) -> Connection {
    let approach = Approach::new(Introduction::anonymous(Revision::LATEST));
    connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap()
}

fn call(caller: &Connection, tool: &str) -> tokio::task::JoinHandle<Outcome> {
    let (caller, params) = (caller.clone(), Raw::of(&json!({ "name": tool })));
    tokio::spawn(async move { caller.request(Call::new(Method::ToolsCall, Some(params))).await.unwrap() })
}

/// Waits until so many calls of a server wait at its gate: all others have nothing left to do.
async fn under_way() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

const FIRST: &str = r#"{"mcpServers": {
    "same": {"command": "same"}, "changed": {"command": "old"}, "gone": {"command": "gone"}
}}"#;
const SECOND: &str = r#"{"mcpServers": {
    "new": {"command": "new"}, "changed": {"command": "old", "args": ["x"], "timeout": 5}, "same": {"command": "same"}
}}"#;

#[tokio::test(start_paused = true)]
async fn what_is_unchanged_goes_on_and_what_is_gone_drains() {
    let peers = Peers::default();
    let bay = peers.open(FIRST);
    bay.settled().await;
    let caller = caller(&bay).await;
    let calls = ["same", "changed", "gone"].map(|server| (server, call(&caller, &format!("{server}__t"))));
    under_way().await;
    let changes = peers.reload(&bay, SECOND);
    assert_eq!(
        changes,
        [
            ("new".into(), What::Added, vec![]),
            ("changed".into(), What::Restarted, vec![("args", Effect::Restart), ("timeout", Effect::Live)]),
            ("gone".into(), What::Removed, vec![]),
        ]
    );
    bay.settled().await;
    let names: Vec<_> = bay.status().iter().map(|status| status.server.to_string()).collect();
    assert_eq!(names, ["new", "changed", "same"]);
    assert!(bay.status().iter().all(|status| matches!(status.phase, Phase::Ready { .. })));
    assert_eq!(["same", "changed", "gone", "new"].map(|server| peers.starts(server)), [1, 2, 1, 1]);
    assert!(bay.catalog().find(Listed::Tools, "gone__t").is_none());
    let unknown = call(&caller, "gone__t").await.unwrap().unwrap_err();
    assert!(unknown.message.contains("unknown tool"), "{unknown}");
    // Every call in flight ends where it began.
    for (server, call) in calls {
        peers.gate(server).add_permits(1);
        assert!(call.await.unwrap().is_ok(), "{server}");
    }
    peers.connection("gone", 0).ended().await;
    peers.connection("changed", 0).ended().await;
    // The new connection serves.
    peers.gate("changed").add_permits(1);
    assert!(call(&caller, "changed__t").await.unwrap().is_ok());
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_outlasts_its_server_is_told_so() {
    let peers = Peers::default();
    let limits = |servers: &str| format!(r#"{{"limits": {{"drain": 3}}, "mcpServers": {{{servers}}}}}"#);
    let bay = peers.open(&limits(r#""gone": {"command": "gone"}"#));
    bay.settled().await;
    let caller = caller(&bay).await;
    let endless = call(&caller, "gone__t");
    under_way().await;
    let begun = tokio::time::Instant::now();
    peers.reload(&bay, &limits(""));
    let error = endless.await.unwrap().unwrap_err();
    assert!(error.message.contains("gone") && begun.elapsed() < Duration::from_secs(6), "{error} {begun:?}");
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_live_restarts_nothing_and_the_rest_is_told() {
    let peers = Peers::default();
    let config = |limits: Value, one: Value| json!({"limits": limits, "mcpServers": {"one": one}}).to_string();
    let bay = peers.open(&config(json!({}), json!({"command": "x"})));
    bay.settled().await;
    assert_eq!(peers.reload(&bay, &config(json!({}), json!({"command": "x"}))), []);
    let second = config(json!({"parkedCalls": 1, "sessions": 5}), json!({"command": "x", "timeout": 2}));
    let changes = peers.reload(&bay, &second);
    assert_eq!(
        changes,
        [
            (String::new(), What::Adjusted, vec![("parkedCalls", Effect::Live), ("sessions", Effect::NextStart)]),
            ("one".into(), What::Adjusted, vec![("timeout", Effect::Live)]),
        ]
    );
    // What waits for the next start is said each time; the rest is as it was.
    let again = peers.reload(&bay, &second);
    assert_eq!(again, [(String::new(), What::Adjusted, vec![("sessions", Effect::NextStart)])]);
    assert_eq!(peers.starts("one"), 1);
    let caller = caller(&bay).await;
    let begun = tokio::time::Instant::now();
    let late = call(&caller, "one__t").await.unwrap().unwrap_err();
    assert!(late.message.contains("in time") && begun.elapsed() < Duration::from_secs(5), "{late}");
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_entry_breaks_goes_on_as_it_was() {
    let peers = Peers::default();
    let bay = peers.open(r#"{"mcpServers": {"one": {"command": "x"}}}"#);
    bay.settled().await;
    let changes = peers.reload(&bay, r#"{"mcpServers": {"one": {"command": "${NO_SUCH_VARIABLE}"}}}"#);
    assert!(matches!(&changes[..], [(_, What::Kept(why), _)] if why.contains("NO_SUCH_VARIABLE")), "{changes:?}");
    assert!(matches!(bay.status()[0].phase, Phase::Ready { .. }));
    let changes = peers.reload(&bay, r#"{"mcpServers": {"one": {"command": "x", "disabled": true}}}"#);
    assert!(matches!(&changes[..], [(_, What::Restarted, _)]), "{changes:?}");
    assert_eq!(bay.status()[0].phase, Phase::Disabled);
    bay.close().await;
}

/// Hears which resources changed.
struct Ears(mpsc::UnboundedSender<String>);

impl Listener for Ears {
    fn changed(&self, change: Change) {
        if let Change::Updated(uri) = change {
            let _ = self.0.send(uri);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_watched_is_watched_at_the_server_that_takes_its_place() {
    for revision in [Revision::LATEST, Revision::LATEST_LEGACY] {
        let peers = Peers::default();
        let bay = peers.open(r#"{"mcpServers": {"one": {"command": "old"}}}"#);
        bay.settled().await;
        let (ears, mut heard) = mpsc::unbounded_channel();
        let mut approach = Approach::new(Introduction::anonymous(revision)).heard_by(Arc::new(Ears(ears)));
        approach.revision = Some(revision);
        let caller = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
        let watching = caller.subscribe(Filter::resource(URI)).await.unwrap();
        under_way().await;
        while heard.try_recv().is_ok() {}
        peers.reload(&bay, r#"{"mcpServers": {"one": {"command": "new"}}}"#);
        bay.settled().await;
        // It may have changed before it was watched, so that alone is told.
        assert_eq!(heard.recv().await.as_deref(), Some(URI), "{revision}");
        under_way().await;
        while heard.try_recv().is_ok() {}
        peers.latest.lock().unwrap().clone().unwrap().hub.publish(&Change::Updated(URI.into()));
        assert_eq!(heard.recv().await.as_deref(), Some(URI), "{revision}");
        drop(watching);
        bay.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_watched_while_the_old_server_drains_is_watched_at_the_new_one() {
    let peers = Peers::default();
    let bay = peers.open(r#"{"mcpServers": {"one": {"command": "old"}}}"#);
    bay.settled().await;
    let (ears, mut heard) = mpsc::unbounded_channel();
    let approach = Approach::new(Introduction::anonymous(Revision::LATEST)).heard_by(Arc::new(Ears(ears)));
    let caller = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
    let running = call(&caller, "one__t");
    under_way().await;
    peers.reload(&bay, r#"{"mcpServers": {"one": {"command": "new"}}}"#);
    bay.settled().await;
    let watching = caller.subscribe(Filter::resource(URI)).await.unwrap();
    peers.gate("one").add_permits(1);
    assert!(running.await.unwrap().is_ok());
    peers.connection("one", 0).ended().await;
    under_way().await;
    while heard.try_recv().is_ok() {}
    peers.latest.lock().unwrap().clone().unwrap().hub.publish(&Change::Updated(URI.into()));
    assert_eq!(heard.recv().await.as_deref(), Some(URI));
    drop(watching);
    bay.close().await;
}
