//! Servers that are slow, restless, lost or back again, as a client of the bay sees it.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod ears;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use ears::{client, pass};
use serde_json::{Value, json};
use tokio::time::Instant;
use toolbay_gateway::{
    Bay, Identity,
    catalog::Listed,
    servers::{Connector, Phase, Plan, Spec, embedded},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::Outcome,
    greeting::Profile,
    peer::Call,
    watch::{Change, Filter},
};
use toolbay_transport::{Caller, Connection, Cx, Error, Hub, Request, Service, Watch};

/// A server with one tool and one resource, and what may go wrong with its lists.
#[derive(Default)]
struct Server {
    hub: Hub,
    /// How often its tools were listed.
    listed: AtomicUsize,
    /// Whether its lists fail.
    failing: AtomicBool,
    /// Whether each listing changes the list.
    restless: bool,
    /// How long each page takes; with it, pages never end.
    page: Option<Duration>,
    /// How many watches of resources were begun.
    watched: AtomicUsize,
    /// A template that it lists.
    template: Option<&'static str>,
}

impl Service for Server {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "server", "version": "1"})),
            capabilities: Raw::of(&json!({
                "tools": {"listChanged": true}, "resources": {"subscribe": true, "listChanged": true}
            })),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        let list = match request.method {
            Method::ToolsList => self.tools().await?,
            Method::ResourcesList => json!({"resources": [{"uri": "test://one", "name": "one"}]}),
            Method::TemplatesList => match self.template {
                Some(template) => json!({"resourceTemplates": [{"uriTemplate": template, "name": "t"}]}),
                None => json!({"resourceTemplates": []}),
            },
            Method::ResourcesRead => {
                json!({"contents": [{"uri": "test://x", "text": self.template.unwrap_or("one").to_owned()}]})
            }
            _ => json!({"content": []}),
        };
        Ok(Raw::of(&list))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        self.watched.fetch_add(filter.uris.len(), Ordering::SeqCst);
        Ok(self.hub.watch(filter))
    }
}

impl Server {
    async fn tools(&self) -> Result<Value, ErrorObject> {
        let count = self.listed.fetch_add(1, Ordering::SeqCst);
        let mut list = json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]});
        if self.failing.load(Ordering::SeqCst) {
            return Err(ErrorObject::internal("broken today"));
        }
        if let Some(page) = self.page {
            pass(page).await;
            list["nextCursor"] = json!(count.to_string());
        }
        if self.restless {
            self.hub.publish(&Change::Tools);
        }
        Ok(list)
    }
}

fn open(specs: Vec<Spec>) -> Bay {
    Bay::open(&Identity { name: "bay".into(), version: "0".into() }, specs).unwrap()
}

async fn call(client: &Connection, tool: &str) -> Outcome {
    let call = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": tool, "arguments": {}}))));
    client.request(call).await.unwrap()
}

/// Connects to `service` each time it is asked; and the last connection.
fn connector(service: &Arc<Server>) -> (Connector, Arc<Mutex<Option<Connection>>>) {
    let latest: Arc<Mutex<Option<Connection>>> = Arc::default();
    let (kept, service) = (Arc::clone(&latest), Arc::clone(service));
    let connector: Connector = Arc::new(move |approach| {
        let (kept, service) = (Arc::clone(&kept), Arc::clone(&service));
        Box::pin(async move {
            let connection = embedded(service)(approach).await?;
            *kept.lock().unwrap() = Some(connection.clone());
            Ok(connection)
        })
    });
    (connector, latest)
}

fn never() -> Spec {
    let connector: Connector = Arc::new(|approach| {
        Box::pin(async move {
            pass(approach.deadline).await;
            Err(Error::overdue("starting the server", approach.deadline))
        })
    });
    Spec { plan: Plan::Connect(connector), ..Spec::embedded("never", Arc::<Server>::default()) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_that_start_at_once_are_offered() {
    for _ in 0..20 {
        let bay = open((0..64).map(|n| Spec::embedded(&format!("s{n}"), Arc::<Server>::default())).collect());
        bay.settled().await;
        assert_eq!(bay.catalog().count(Listed::Tools), 64);
        bay.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn pages_that_drip_do_not_keep_a_server_starting() {
    let service = Arc::new(Server { page: Some(Duration::from_secs(2)), ..Server::default() });
    let begun = Instant::now();
    let bay = open(vec![Spec { startup: Duration::from_secs(5), ..Spec::embedded("drips", service) }]);
    bay.settled().await;
    assert!(begun.elapsed() < Duration::from_secs(7), "{:?}", begun.elapsed());
    assert!(bay.reports().iter().any(|report| report.what.contains("limit `startupTimeout`")), "{:?}", bay.reports());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fails_later_stays_as_it_was() {
    let service = Arc::<Server>::default();
    let bay = open(vec![Spec::embedded("s", Arc::clone(&service))]);
    bay.settled().await;
    service.failing.store(true, Ordering::SeqCst);
    service.hub.publish(&Change::Tools);
    let mut moves = bay.moves();
    while bay.reports().is_empty() {
        moves.changed().await.unwrap();
    }
    assert_eq!(bay.catalog().count(Listed::Tools), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_changes_whenever_it_is_listed_is_not_listed_all_the_time() {
    let service = Arc::new(Server { restless: true, ..Server::default() });
    let bay = open(vec![Spec::embedded("s", Arc::clone(&service))]);
    bay.settled().await;
    pass(Duration::from_secs(10)).await;
    let listed = service.listed.load(Ordering::SeqCst);
    assert!((2..=50).contains(&listed), "{listed}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_found_as_soon_as_it_is_there() {
    let bay = open(vec![never(), Spec::embedded("s", Arc::<Server>::default())]);
    let begun = Instant::now();
    assert_eq!(bay.offered(Listed::Tools, "s__t").await.map(|found| found.name), Some(Raw::of("t")));
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(bay.offered(Listed::Tools, "s__u").await, None);
}

#[tokio::test(start_paused = true)]
async fn what_is_there_is_called_while_others_are_starting() {
    let bay = open(vec![never(), Spec::embedded("s", Arc::<Server>::default())]);
    let begun = Instant::now();
    let (client, _) = client(&bay, Revision::LATEST).await;
    assert!(call(&client, "s__t").await.is_ok());
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_a_lost_server_is_not_called_unknown() {
    let service = Arc::<Server>::default();
    let (connector, latest) = connector(&service);
    let bay = open(vec![Spec { plan: Plan::Connect(connector), ..Spec::embedded("s", service) }]);
    bay.settled().await;
    let (client, _) = client(&bay, Revision::LATEST).await;
    let lost = latest.lock().unwrap().take().unwrap();
    lost.close().await;
    let mut moves = bay.moves();
    while !matches!(bay.status()[0].phase, Phase::Failed(_)) {
        moves.changed().await.unwrap();
    }
    let error = call(&client, "s__t").await.unwrap_err();
    assert!(error.message.contains("server \"s\" is not connected"), "{error:?}");
    assert!(call(&client, "s__u").await.unwrap_err().message.contains("unknown tool"));
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_a_server_that_was_never_there_is_not_called_unknown() {
    let never = Spec { startup: Duration::from_secs(3), ..never() };
    let bay = open(vec![never, Spec::embedded("s", Arc::<Server>::default())]);
    let (client, _) = client(&bay, Revision::LATEST).await;
    let error = call(&client, "never__t").await.unwrap_err();
    assert!(error.message.contains("\"never\" is not connected"), "{error:?}");
    let error = call(&client, "s__nothing").await.unwrap_err();
    assert!(error.message.contains("unknown tool"), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn subscriptions_outlive_a_restart_of_their_server() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let service = Arc::<Server>::default();
        let (connector, latest) = connector(&service);
        let bay = open(vec![Spec { plan: Plan::Connect(connector), ..Spec::embedded("s", Arc::clone(&service)) }]);
        bay.settled().await;
        let (client, mut heard) = client(&bay, revision).await;
        let subscription = client.subscribe(Filter::resource("test://one")).await.unwrap();
        let updated = Change::Updated("test://one".into());
        let lost = latest.lock().unwrap().take().unwrap();
        lost.close().await;
        while service.watched.load(Ordering::SeqCst) < 2 {
            tokio::time::timeout(Duration::from_secs(9), heard.recv()).await.expect("it is subscribed to again");
        }
        while heard.try_recv().is_ok() {}
        service.hub.publish(&updated);
        while heard.recv().await != Some(updated.clone()) {}
        drop(subscription);
        bay.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_resource_that_cannot_be_watched_leaves_the_others_watched() {
    let service = Arc::<Server>::default();
    let bay = open(vec![Spec::embedded("s", service)]);
    bay.settled().await;
    let (client, _) = client(&bay, Revision::LATEST).await;
    let mut filter = Filter::resource("test://one");
    filter.uris.insert("test://nobody".into());
    let subscription = client.subscribe(filter).await.unwrap();
    assert_eq!(subscription.filter(), &Filter::resource("test://one"));
}

async fn read(client: &Connection, uri: &str) -> Outcome {
    let call = Call::new(Method::ResourcesRead, Some(Raw::of(&json!({ "uri": uri }))));
    client.request(call).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_a_lost_server_is_read_for_is_read_from_no_other() {
    let narrow = Arc::new(Server { template: Some("test://narrow/{id}"), ..Server::default() });
    let wide = Arc::new(Server { template: Some("test://{+any}"), ..Server::default() });
    let (connector, latest) = connector(&narrow);
    let first = Spec { plan: Plan::Connect(connector), ..Spec::embedded("narrow", narrow) };
    let bay = open(vec![first, Spec::embedded("wide", wide)]);
    bay.settled().await;
    let (client, _) = client(&bay, Revision::LATEST).await;
    let whose = |outcome: Outcome| format!("{:?}", outcome.unwrap());
    for uri in ["test://one", "test://narrow/1"] {
        assert!(whose(read(&client, uri).await).contains("narrow"), "{uri}");
    }
    assert!(whose(read(&client, "test://other").await).contains("+any"));
    let lost = latest.lock().unwrap().take().unwrap();
    lost.close().await;
    let mut moves = bay.moves();
    while !matches!(bay.status()[0].phase, Phase::Failed(_)) {
        moves.changed().await.unwrap();
    }
    let error = read(&client, "test://narrow/1").await.unwrap_err();
    assert!(error.message.contains("server \"narrow\" is not connected"), "{error}");
    let error = client.subscribe(Filter::resource("test://narrow/1")).await.unwrap_err();
    assert!(error.to_string().contains("server \"narrow\" is not connected"), "{error}");
    assert!(whose(read(&client, "test://other").await).contains("+any"), "what was the other's still is");
    while !matches!(bay.status()[0].phase, Phase::Ready { .. }) {
        moves.changed().await.unwrap();
    }
    assert!(whose(read(&client, "test://narrow/1").await).contains("narrow"));
}

#[tokio::test(start_paused = true)]
async fn a_wide_template_is_not_read_while_the_owner_may_still_be_starting() {
    let wide = Arc::new(Server { template: Some("test://{+any}"), ..Server::default() });
    let slow: Connector = Arc::new(|approach| {
        Box::pin(async move {
            pass(Duration::from_secs(3)).await;
            let own = Server { template: Some("test://own/{id}"), ..Server::default() };
            embedded(Arc::new(own))(approach).await
        })
    });
    let slow = Spec { plan: Plan::Connect(slow), ..Spec::embedded("slow", Arc::<Server>::default()) };
    let bay = open(vec![slow, Spec::embedded("wide", wide)]);
    let (client, _) = client(&bay, Revision::LATEST).await;
    let said = format!("{:?}", read(&client, "test://own/1").await.unwrap());
    assert!(said.contains("own/{id}"), "{said}");
}
