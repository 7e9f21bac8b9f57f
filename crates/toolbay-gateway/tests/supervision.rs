//! Servers that are started when they are needed, stopped when they are not, and left alone when they fail too often.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

mod ears;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ears::{client, pass};
use serde_json::json;
use tokio::time::Instant;
use toolbay_gateway::{
    Bay, Identity,
    catalog::Listed,
    config::Start,
    limits::Bounds,
    servers::{Circuit, Connector, Phase, Plan, Spec, embedded},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Note, Outcome, Wishes},
    greeting::Profile,
    method::TASKS,
    peer::Call,
    watch::{Change, Filter},
};
use toolbay_transport::{Caller, Connection, Cx, Error, Hub, Request, Service, Watch};

/// A server with one tool that takes its time, and how often that ran.
#[derive(Default)]
struct Server {
    hub: Hub,
    ran: AtomicUsize,
    /// How long a call takes, in steps of which it tells.
    steps: Vec<Duration>,
}

impl Service for Server {
    fn profile(&self) -> Arc<Profile> {
        let capabilities = json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}});
        let server = Raw::of(&json!({"name": "server", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&capabilities), instructions: None })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        Ok(Raw::of(&match request.method {
            Method::ToolsList => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
            Method::ResourcesList => json!({"resources": [{"uri": "test://one", "name": "one"}]}),
            Method::TemplatesList => json!({"resourceTemplates": []}),
            _ => {
                self.ran.fetch_add(1, Ordering::SeqCst);
                for (step, time) in (1..).zip(&self.steps) {
                    pass(*time).await;
                    let _ = cx.note(Note::progress(f64::from(step), None, None)).await;
                }
                json!({"content": []})
            }
        }))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }
}

/// Connects to a server each time it is asked, but for the first `failing` times; how often it was asked, and the last
/// connection.
struct Counted {
    asked: AtomicUsize,
    latest: Mutex<Option<Connection>>,
}

fn counted(service: &Arc<Server>, failing: usize) -> (Plan, Arc<Counted>) {
    let counted = Arc::new(Counted { asked: AtomicUsize::new(0), latest: Mutex::default() });
    let (kept, service) = (Arc::clone(&counted), Arc::clone(service));
    let connector: Connector = Arc::new(move |approach| {
        let (kept, service) = (Arc::clone(&kept), Arc::clone(&service));
        Box::pin(async move {
            if kept.asked.fetch_add(1, Ordering::SeqCst) < failing {
                return Err(Error::closed("not yet"));
            }
            let connection = embedded(service)(approach).await?;
            *kept.latest.lock().unwrap() = Some(connection.clone());
            Ok(connection)
        })
    });
    (Plan::Connect(connector), counted)
}

impl Counted {
    fn times(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn open(spec: Spec) -> Bay {
    Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap()
}

fn tool() -> Call {
    Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__t"}))))
}

async fn call(client: &Connection) -> Outcome {
    client.request(tool()).await.unwrap()
}

async fn until(bay: &Bay, what: impl Fn(&Phase) -> bool) {
    let mut moves = bay.moves();
    while !what(&bay.status()[0].phase) {
        tokio::time::timeout(Duration::from_secs(3600), moves.changed()).await.expect("it moves").unwrap();
    }
}

fn rests(phase: &Phase) -> bool {
    matches!(phase, Phase::Resting { .. })
}

#[tokio::test(start_paused = true)]
async fn a_server_on_demand_is_started_by_the_first_list_or_call() {
    for list in [true, false] {
        let service = Arc::<Server>::default();
        let (plan, counted) = counted(&service, 0);
        let bay = open(Spec { plan, start: Start::OnDemand, ..Spec::embedded("s", service) });
        let (client, _) = client(&bay, Revision::LATEST).await;
        pass(Duration::from_secs(600)).await;
        assert_eq!((counted.times(), bay.status()[0].phase.clone()), (0, Phase::Resting { counts: None }));
        assert!(bay.readiness().ready, "nobody waits for what nobody needs");
        if list {
            let tools = client.request(Call::new(Method::ToolsList, None)).await.unwrap().unwrap();
            assert_eq!(tools.get("tools").unwrap().elements().count(), 1);
        } else {
            assert!(call(&client).await.is_ok());
        }
        assert_eq!(counted.times(), 1);
        bay.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_nobody_needs_is_stopped_and_started_again_by_the_next_call() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let service = Arc::<Server>::default();
        let (plan, counted) = counted(&service, 0);
        let rest = Duration::from_secs(30);
        let bay = open(Spec { plan, rest, revision: Some(revision), ..Spec::embedded("s", Arc::clone(&service)) });
        bay.settled().await;
        let (client, mut heard) = client(&bay, revision).await;
        assert!(call(&client).await.is_ok());
        until(&bay, rests).await;
        let before = counted.latest.lock().unwrap().take().unwrap();
        assert!(before.call(tool()).await.is_err(), "its connection is closed");
        let tools = client.request(Call::new(Method::ToolsList, None)).await.unwrap().unwrap();
        assert_eq!(tools.get("tools").unwrap().elements().count(), 1, "what it offers is still offered");
        assert_eq!((counted.times(), bay.catalog().count(Listed::Resources)), (1, 1));
        pass(Duration::from_secs(3600)).await;
        assert_eq!(counted.times(), 1);
        assert!(call(&client).await.is_ok());
        assert_eq!((counted.times(), service.ran.load(Ordering::SeqCst)), (2, 2));
        assert!(heard.try_recv().is_err(), "no list changed by that");
        assert_eq!(bay.status()[0].counted.restarts, 0, "it was never lost");
        // A subscription needs it.
        let watching = client.subscribe(Filter::resource("test://one")).await.unwrap();
        pass(Duration::from_secs(600)).await;
        assert!(!rests(&bay.status()[0].phase));
        drop(watching);
        until(&bay, rests).await;
        bay.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_at_work_does_not_rest() {
    let service = Arc::new(Server { steps: vec![Duration::from_secs(50); 4], ..Server::default() });
    let (plan, counted) = counted(&service, 0);
    let bay = open(Spec { plan, rest: Duration::from_secs(5), ..Spec::embedded("s", service) });
    bay.settled().await;
    let (client, _) = client(&bay, Revision::LATEST).await;
    let call = Call { wishes: Wishes::progress(), ..tool() };
    assert!(client.request(call).await.unwrap().is_ok());
    assert_eq!(counted.times(), 1);
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_circuit_of_a_server_that_fails_too_often_opens_and_closes_when_it_is_well() {
    let service = Arc::<Server>::default();
    let (plan, counted) = counted(&service, 4);
    let bounds = Bounds {
        circuit_failures: 3,
        circuit_pause: Duration::from_secs(100),
        pause: Duration::from_secs(1),
        ..Bounds::default()
    };
    let bay = open(Spec { plan, bounds, ..Spec::embedded("s", service) });
    let begun = Instant::now();
    let (client, _) = client(&bay, Revision::LATEST).await;
    let circuit = || bay.status()[0].circuit;
    let is = async |word: &str| {
        while circuit().word() != word {
            tokio::time::advance(Duration::from_millis(100)).await;
            assert!(begun.elapsed() < Duration::from_secs(1000), "{:?}", circuit());
        }
    };
    assert_eq!(circuit(), Circuit::Closed);
    is("open").await;
    // At once, after one second and after two more.
    assert_eq!((counted.times(), begun.elapsed().as_secs()), (3, 3));
    let error = call(&client).await.unwrap_err();
    assert!(error.message.contains("not yet") && error.message.contains("limits `circuitFailures`"), "{error}");
    pass(Duration::from_secs(90)).await;
    assert_eq!((counted.times(), circuit().word()), (3, "open"));
    assert!(circuit().left().unwrap() < Duration::from_secs(11));
    // It is tried once, fails, and is left alone again.
    pass(Duration::from_secs(20)).await;
    assert_eq!((counted.times(), circuit().word()), (4, "open"));
    until(&bay, |phase| matches!(phase, Phase::Ready { .. })).await;
    assert_eq!((counted.times(), circuit()), (5, Circuit::Closed));
    assert!(call(&client).await.is_ok());
    // One that is lost right after is not trusted yet.
    let latest = counted.latest.lock().unwrap().take().unwrap();
    latest.close().await;
    until(&bay, |phase| matches!(phase, Phase::Failed(_))).await;
    assert_eq!(circuit().word(), "open");
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_at_its_start_fails_like_one_that_ends() {
    let connector: Connector = Arc::new(move |approach| {
        Box::pin(async move {
            pass(approach.deadline).await;
            Err(Error::closed("it never answers"))
        })
    });
    let bay = open(Spec { plan: Plan::Connect(connector), ..Spec::embedded("s", Arc::<Server>::default()) });
    let begun = Instant::now();
    while bay.status()[0].circuit.word() != "open" {
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(begun.elapsed() < Duration::from_secs(1000), "{:?}", bay.status()[0].circuit);
    }
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_trial_is_shown_as_a_half_open_circuit() {
    let asked = Arc::new(AtomicUsize::new(0));
    let connector: Connector = Arc::new(move |approach| {
        let times = asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            if times > 0 {
                pass(approach.deadline).await;
            }
            Err(Error::closed("not yet"))
        })
    });
    let bounds = Bounds { circuit_failures: 1, circuit_pause: Duration::from_secs(10), ..Bounds::default() };
    let plan = Plan::Connect(connector);
    let bay = open(Spec { plan, bounds, ..Spec::embedded("s", Arc::<Server>::default()) });
    bay.settled().await;
    assert_eq!(bay.status()[0].circuit.word(), "open");
    pass(Duration::from_secs(11)).await;
    assert_eq!(bay.status()[0].circuit.word(), "half-open");
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_connection_broke_is_not_made_again_and_is_told_that_it_may_have_run() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let service = Arc::new(Server { steps: vec![Duration::from_secs(5)], ..Server::default() });
        let (plan, counted) = counted(&service, 0);
        let bay = open(Spec { plan, revision: Some(revision), ..Spec::embedded("s", Arc::clone(&service)) });
        bay.settled().await;
        let (client, mut heard) = client(&bay, revision).await;
        // A stateless client hears of what it asked for alone.
        let _listening = client.subscribe(Filter::lists()).await.unwrap();
        let mut running = client.call(tool()).await.unwrap();
        let broken = async {
            while service.ran.load(Ordering::SeqCst) == 0 {
                tokio::task::yield_now().await;
            }
            let connection = counted.latest.lock().unwrap().take().unwrap();
            connection.close().await;
        };
        let (step, ()) = tokio::join!(running.step(), broken);
        let error = format!("{:?}", step.unwrap());
        assert!(error.contains("may or may not have run"), "{error}");
        until(&bay, |phase| matches!(phase, Phase::Failed(_))).await;
        until(&bay, |phase| matches!(phase, Phase::Ready { .. })).await;
        assert_eq!((counted.times(), service.ran.load(Ordering::SeqCst)), (2, 1), "{revision}");
        // That it went and came back is announced to whoever is connected.
        let mut tools = 0;
        while tools < 2 {
            let heard = tokio::time::timeout(Duration::from_secs(60), heard.recv()).await;
            tools += usize::from(heard.expect("it is announced") == Some(Change::Tools));
        }
        bay.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_says_how_far_it_is_may_take_longer_than_one_that_is_silent() {
    for (down, up) in [
        (Revision::LATEST_LEGACY, Revision::LATEST_LEGACY),
        (Revision::LATEST_LEGACY, Revision::LATEST),
        (Revision::LATEST, Revision::LATEST_LEGACY),
        (Revision::LATEST, Revision::LATEST),
    ] {
        let service = Arc::new(Server { steps: vec![Duration::from_secs(40); 4], ..Server::default() });
        let spec = Spec { silence: Duration::from_secs(60), revision: Some(up), ..Spec::embedded("s", service) };
        let bay = open(spec);
        bay.settled().await;
        let (client, _) = client(&bay, down).await;
        let patient = toolbay_protocol::peer::Patience { silence: Duration::from_secs(3600), total: None };
        let told = Call { wishes: Wishes::progress(), patience: patient, ..tool() };
        assert!(client.request(told).await.unwrap().is_ok(), "{down} {up}");
        // Whoever did not ask to be told of progress allows no more than the limit.
        let error = client.request(Call { patience: patient, ..tool() }).await.unwrap().unwrap_err();
        assert!(error.message.contains("did not answer in time"), "{down} {up}: {error}");
        bay.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_comes_before_the_servers_is_promised_what_they_may_yet_turn_out_to_have() {
    for (start, revision) in [
        (Start::AtOnce, Revision::LATEST_LEGACY),
        (Start::OnDemand, Revision::LATEST_LEGACY),
        (Start::AtOnce, Revision::LATEST),
    ] {
        let slow: Connector = Arc::new(|approach| {
            Box::pin(async move {
                pass(Duration::from_secs(3)).await;
                embedded(Arc::<Server>::default())(approach).await
            })
        });
        let plan = Plan::Connect(slow);
        let bay = open(Spec { plan, start, ..Spec::embedded("s", Arc::<Server>::default()) });
        let declares = |client: &Connection| {
            let profile = &client.meeting().profile;
            profile.declares(&["tasks", "requests", "tools", "call"]) || profile.declares(&["extensions", TASKS])
        };
        let (early, _) = client(&bay, revision).await;
        assert!(declares(&early), "{revision}");
        bay.settled().await;
        let (late, _) = client(&bay, revision).await;
        assert!(!declares(&late), "{revision}: now it is known that none has tasks");
        assert!(call(&early).await.is_ok());
        bay.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_woken_was_ready_and_stays_so() {
    let service = Arc::<Server>::default();
    let slow: Connector = {
        let service = Arc::clone(&service);
        Arc::new(move |approach| {
            let service = Arc::clone(&service);
            Box::pin(async move {
                pass(Duration::from_secs(5)).await;
                embedded(service)(approach).await
            })
        })
    };
    let bay = open(Spec { rest: Duration::from_secs(60), ..Spec::planned("s", "http", Plan::Connect(slow)) });
    assert!(!bay.readiness().ready, "it is not decided yet how it does");
    until(&bay, rests).await;
    assert!(bay.readiness().ready);
    let (client, _) = client(&bay, Revision::LATEST).await;
    let called = tokio::spawn(async move { call(&client).await });
    until(&bay, |phase| *phase == Phase::Connecting).await;
    assert!(bay.readiness().ready, "nobody need be sent elsewhere for it");
    assert!(called.await.unwrap().is_ok());
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_counted_are_starts_after_the_first() {
    let service = Arc::<Server>::default();
    let (plan, counted) = counted(&service, 1);
    let bay = open(Spec { plan, ..Spec::embedded("s", service) });
    until(&bay, |phase| matches!(phase, Phase::Failed(_))).await;
    assert_eq!((counted.times(), bay.status()[0].counted.restarts), (1, 0), "it was started once");
    until(&bay, |phase| matches!(phase, Phase::Ready { .. })).await;
    assert_eq!((counted.times(), bay.status()[0].counted.restarts), (2, 1));
    bay.close().await;
}
