//! A server over HTTP that forgets its sessions: they are opened again once, and nothing runs twice.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity,
    config::{Endpoint, Remote, Url},
    servers::{Phase, Plan, Spec, endpoint},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::Outcome,
    greeting::{Introduction, Profile},
    peer::Call,
    watch::{Change, Filter},
};
use toolbay_transport::{
    Approach, Caller, Connection, Cx, Hub, Listener, Request, Service, Watch, connect, duplex, http::server,
};

const SOON: Duration = Duration::from_secs(20);

/// Counts what it is asked.
#[derive(Default)]
struct Counting {
    hub: Hub,
    joined: AtomicUsize,
    ran: AtomicUsize,
    watched: AtomicUsize,
}

impl Service for Counting {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = json!({"tools": {}, "resources": {"subscribe": true}});
        let server = Raw::of(&json!({"name": "counting", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&capabilities), instructions: None })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        Ok(Raw::of(&match request.method {
            Method::ToolsList => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
            Method::ResourcesList => json!({"resources": [{"uri": "test://r", "name": "r"}]}),
            Method::TemplatesList => json!({"resourceTemplates": []}),
            _ => {
                self.ran.fetch_add(1, Ordering::SeqCst);
                json!({"content": [{"type": "text", "text": "here"}]})
            }
        }))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        self.watched.fetch_add(filter.uris.len(), Ordering::SeqCst);
        Ok(self.hub.watch(filter))
    }

    fn joined(&self, _: &Arc<Caller>) {
        self.joined.fetch_add(1, Ordering::SeqCst);
    }
}

type Served = (SocketAddr, CancellationToken, JoinHandle<std::io::Result<()>>);

async fn start(service: &Arc<Counting>, address: SocketAddr) -> Served {
    let listener = TcpListener::bind(address).await.unwrap();
    let (address, end) = (listener.local_addr().unwrap(), CancellationToken::new());
    let endpoint = server::Endpoint::new(Arc::clone(service), server::Options::default());
    (address, end.clone(), tokio::spawn(server::serve(listener, endpoint, end)))
}

struct Ears(tokio::sync::watch::Sender<usize>);

impl Listener for Ears {
    fn changed(&self, change: Change) {
        if change == Change::Updated("test://r".into()) {
            self.0.send_modify(|count| *count += 1);
        }
    }
}

async fn client(bay: &Bay, capabilities: Value) -> (Connection, Arc<Ears>) {
    let us = Introduction { capabilities: Raw::of(&capabilities), ..Introduction::anonymous(Revision::LATEST) };
    let ears = Arc::new(Ears(tokio::sync::watch::Sender::new(0)));
    let approach = Approach::new(us).heard_by(Arc::clone(&ears) as Arc<dyn Listener>);
    (connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap(), ears)
}

async fn call(client: &Connection) -> Outcome {
    client.request(Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "far__t"}))))).await.unwrap()
}

#[tokio::test]
async fn a_forgotten_session_is_opened_again_once_and_the_call_made_again() {
    for (capabilities, connections) in [(json!({}), 1), (json!({"roots": {}}), 2)] {
        let service = Arc::<Counting>::default();
        let (address, end, served) = start(&service, "127.0.0.1:0".parse().unwrap()).await;
        let url = Url::parse(&format!("http://{address}/mcp")).unwrap();
        let plan = Plan::Connect(endpoint(Endpoint::Http(Remote::bare(url))));
        let spec = Spec { revision: Some(Revision::LATEST_LEGACY), ..Spec::planned("far", "http", plan) };
        let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
        bay.settled().await;
        let (caller, ears) = client(&bay, capabilities).await;
        let subscription = caller.subscribe(Filter::resource("test://r")).await.unwrap();
        assert!(call(&caller).await.is_ok());
        let before = (service.joined.load(Ordering::SeqCst), service.ran.load(Ordering::SeqCst));
        assert_eq!(before, (connections, 1));

        // It ends and is there again at once, but knows no session any more.
        end.cancel();
        served.await.unwrap().unwrap();
        let (_, end, served) = start(&service, address).await;
        for _ in 0..3 {
            assert!(call(&caller).await.is_ok());
        }
        assert_eq!(service.ran.load(Ordering::SeqCst), 4, "each call ran once");
        let again = service.joined.load(Ordering::SeqCst) - connections;
        assert!((1..=connections).contains(&again), "{again} sessions for {connections} connections");
        assert!(matches!(bay.status()[0].phase, Phase::Ready { .. }), "{:?}", bay.status());

        let subscribed = async {
            while service.watched.load(Ordering::SeqCst) < 2 {
                tokio::task::yield_now().await;
            }
        };
        timeout(SOON, subscribed).await.expect("it is subscribed to again");
        let mut heard = ears.0.subscribe();
        heard.borrow_and_update();
        service.hub.publish(&Change::Updated("test://r".into()));
        timeout(SOON, heard.changed()).await.expect("and heard of").unwrap();
        drop(subscription);
        bay.close().await;
        end.cancel();
        served.await.unwrap().unwrap();
    }
}
