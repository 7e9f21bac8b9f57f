//! Servers that misbehave, and what becomes of the others.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use toolbay_gateway::{
    Bay, Identity,
    catalog::Listed,
    servers::{Connector, Phase, Plan, Spec, embedded},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::Outcome,
    greeting::{Introduction, Profile},
    peer::Call,
    watch::Filter,
};
use toolbay_transport::{Approach, Caller, Connection, Cx, Error, Hub, Kind, Request, Service, Watch, connect, duplex};

type Answer = Box<dyn Fn(&Method, Option<&str>) -> Option<Result<Value, ErrorObject>> + Send + Sync>;

/// A server whose lists are what a function makes of method and cursor; `None` is never answered.
struct Lister {
    answer: Answer,
    hub: Hub,
}

impl Lister {
    fn new(
        answer: impl Fn(&Method, Option<&str>) -> Option<Result<Value, ErrorObject>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { answer: Box::new(answer), hub: Hub::new() })
    }
}

impl Service for Lister {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "lister", "version": "1"})),
            capabilities: Raw::of(&json!({"tools": {}, "resources": {}})),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        let cursor = request.params.get("cursor");
        match (self.answer)(&request.method, cursor.as_ref().and_then(Raw::as_text).as_deref()) {
            Some(answer) => answer.map(|value| Raw::of(&value)),
            None => std::future::pending().await,
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn open(specs: Vec<Spec>) -> Bay {
    Bay::open(&Identity { name: "bay".into(), version: "0".into() }, specs).unwrap()
}

fn good() -> Spec {
    Spec::embedded("good", Lister::new(|method, _| Some(Ok(lists(method, &[tool("t")])))))
}

fn lists(method: &Method, tools: &[Value]) -> Value {
    match method {
        Method::ToolsList => json!({"tools": tools}),
        Method::ResourcesList => json!({"resources": []}),
        _ => json!({"resourceTemplates": []}),
    }
}

fn phase_of(bay: &Bay, server: &str) -> Phase {
    bay.status().into_iter().find(|status| &*status.server == server).unwrap().phase
}

#[tokio::test(start_paused = true)]
async fn every_page_is_followed() {
    let paged = Lister::new(|method, cursor| {
        let page = cursor.map_or(0, |cursor| cursor.parse().unwrap_or(0));
        let mut list = lists(method, &[tool(&format!("t{page}"))]);
        // An empty string is a cursor like any other.
        match page {
            0 if cursor.is_none() => list["nextCursor"] = json!(""),
            0..4 => list["nextCursor"] = json!((page + 1).to_string()),
            _ => list["nextCursor"] = Value::Null,
        }
        Some(Ok(list))
    });
    let bay = open(vec![Spec::embedded("paged", paged)]);
    bay.settled().await;
    let catalog = bay.catalog();
    assert!((1..=4).all(|page| catalog.find(Listed::Tools, &format!("paged__t{page}")).is_some()));
}

#[tokio::test(start_paused = true)]
async fn a_list_without_end_is_named_and_hides_no_other() {
    let count = Arc::new(AtomicUsize::new(0));
    let endless = Lister::new(move |method, _| {
        let mut list = lists(method, &[tool("t")]);
        if *method == Method::ToolsList {
            list["nextCursor"] = json!(count.fetch_add(1, Ordering::Relaxed).to_string());
        }
        Some(Ok(list))
    });
    let circle = Lister::new(|method, _| {
        let mut list = lists(method, &[tool("t")]);
        list["nextCursor"] = json!("again");
        Some(Ok(list))
    });
    let bay = open(vec![Spec::embedded("endless", endless), Spec::embedded("circle", circle), good()]);
    bay.settled().await;
    let reports: Vec<_> =
        bay.reports().into_iter().map(|report| format!("{}: {}", report.server, report.what)).collect();
    assert!(reports.iter().any(|report| report.starts_with("endless: its tools") && report.contains("limit `pages`")));
    assert!(reports.iter().any(|report| report.starts_with("circle: its tools") && report.contains("circle")));
    assert!(matches!(phase_of(&bay, "endless"), Phase::Ready { .. }));
    assert_eq!(bay.catalog().count(Listed::Tools), 1, "{reports:?}");
}

#[tokio::test(start_paused = true)]
async fn one_list_that_fails_leaves_the_others_standing() {
    let half = Lister::new(|method, _| match method {
        Method::ToolsList => Some(Ok(lists(method, &[tool("t"), json!({"no": "name"}), json!({"name": "bare"})]))),
        Method::ResourcesList => Some(Err(ErrorObject::internal("broken today"))),
        _ => Some(Err(ErrorObject::new(-32601, "what is that?"))),
    });
    let bay = open(vec![Spec::embedded("half", half)]);
    bay.settled().await;
    assert!(bay.catalog().find(Listed::Tools, "half__t").is_some());
    let reports: Vec<_> = bay.reports().into_iter().map(|report| report.what).collect();
    assert_eq!(reports.len(), 3, "{reports:?}");
    assert!(reports.iter().any(|what| what.contains("broken today")));
}

#[tokio::test(start_paused = true)]
async fn a_woken_server_whose_list_fails_offers_on_what_it_offered() {
    let times = AtomicUsize::new(0);
    let forgetful = Lister::new(move |method, _| match method {
        Method::ToolsList if times.fetch_add(1, Ordering::SeqCst) > 0 => {
            Some(Err(ErrorObject::internal("broken today")))
        }
        Method::ToolsList => Some(Ok(lists(method, &[tool("t")]))),
        Method::ToolsCall => Some(Ok(json!({"content": []}))),
        _ => Some(Err(ErrorObject::new(-32601, "what is that?"))),
    });
    let bay = open(vec![Spec { rest: Duration::from_secs(30), ..Spec::embedded("s", forgetful) }]);
    bay.settled().await;
    let mut moves = bay.moves();
    while !matches!(phase_of(&bay, "s"), Phase::Resting { .. }) {
        moves.changed().await.unwrap();
    }
    let approach = Approach::new(Introduction::anonymous(Revision::LATEST));
    let client = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
    let call = || Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__t"}))));
    assert!(client.request(call()).await.unwrap().is_ok());
    while !matches!(phase_of(&bay, "s"), Phase::Ready { .. }) {
        moves.changed().await.unwrap();
    }
    assert_eq!(bay.catalog().count(Listed::Tools), 1);
    let reports: Vec<_> = bay.reports().into_iter().map(|report| report.what).collect();
    let said = reports.iter().find(|what| what.contains("broken today")).unwrap();
    assert!(said.contains("what it offered before is offered on"), "{said}");
    assert!(client.request(call()).await.unwrap().is_ok());
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_meets_its_own_deadline_alone() {
    let silent = Spec { startup: Duration::from_secs(5), ..Spec::embedded("silent", Lister::new(|_, _| None)) };
    let never: Connector = Arc::new(|approach| {
        Box::pin(async move {
            tokio::time::timeout(approach.deadline, std::future::pending::<()>()).await.ok();
            Err(Error::overdue("starting the server", approach.deadline))
        })
    });
    let deaf = Spec { plan: Plan::Connect(never), startup: Duration::from_secs(3), ..good() };
    let deaf = Spec { name: "deaf".into(), ..deaf };
    let begun = tokio::time::Instant::now();
    let bay = open(vec![silent, deaf, good()]);
    let mut moves = bay.moves();
    while !phase_of(&bay, "good").is_settled() {
        moves.changed().await.unwrap();
    }
    assert!(begun.elapsed() < Duration::from_millis(100), "nobody waited for the others");
    bay.settled().await;
    assert!(begun.elapsed() < Duration::from_secs(7));
    assert!(matches!(phase_of(&bay, "deaf"), Phase::Failed(why) if why.contains("3.0 s")));
    assert!(bay.reports().iter().any(|report| &*report.server == "silent"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_comes_back_is_announced() {
    let latest: Arc<Mutex<Option<Connection>>> = Arc::default();
    let starts = Arc::new(AtomicUsize::new(0));
    let connector: Connector = {
        let (latest, starts) = (Arc::clone(&latest), Arc::clone(&starts));
        Arc::new(move |approach| {
            let start = starts.fetch_add(1, Ordering::SeqCst);
            let latest = Arc::clone(&latest);
            Box::pin(async move {
                if start == 1 {
                    return Err(Error::new(Kind::Unreachable, "not yet"));
                }
                let service = Lister::new(move |method, _| Some(Ok(lists(method, &[tool(&format!("t{start}"))]))));
                let connection = embedded(service)(approach).await?;
                *latest.lock().unwrap() = Some(connection.clone());
                Ok(connection)
            })
        })
    };
    let bay = open(vec![Spec { plan: Plan::Connect(connector), ..good() }]);
    bay.settled().await;
    assert!(bay.catalog().find(Listed::Tools, "good__t0").is_some());
    let lost = latest.lock().unwrap().take().unwrap();
    lost.close().await;
    let mut moves = bay.moves();
    while bay.catalog().find(Listed::Tools, "good__t2").is_none() {
        moves.changed().await.unwrap();
    }
    assert_eq!(starts.load(Ordering::SeqCst), 3);
    assert!(bay.catalog().find(Listed::Tools, "good__t0").is_none());
    bay.close().await;
}
