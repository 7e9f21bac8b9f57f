//! A server that takes its question back, over HTTP on either side: so is what was asked of the caller.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::{net::TcpListener, sync::Notify, time::timeout};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity,
    config::{Endpoint, Remote, Url},
    servers::{Plan, Spec, endpoint},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Ask, Asks, Outcome, Step},
    greeting::{Introduction, Profile},
    peer::Call,
    watch::Filter,
};
use toolbay_transport::{
    Approach, Caller, Cx, Hub, Request, Service, Watch, connect, duplex,
    http::{client, server},
};

const SOON: Duration = Duration::from_secs(20);

/// Asks for the roots until it has enough of waiting.
#[derive(Default)]
struct Impatient(Notify);

impl Service for Impatient {
    fn profile(&self) -> Arc<Profile> {
        let server = Raw::of(&json!({"name": "impatient", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&json!({"tools": {}})), instructions: None })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        if request.method == Method::ToolsList {
            return Ok(Raw::of(&json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})));
        }
        tokio::select! {
            reply = cx.ask(Asks::one("roots", Ask { method: Method::RootsList, params: None }), None) => {
                panic!("nobody answers: {reply:?}")
            }
            () = self.0.notified() => Ok(Raw::of(&json!({"content": [{"type": "text", "text": "enough"}]}))),
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(Hub::new().watch(filter))
    }
}

async fn serve<S: Service>(service: Arc<S>, end: &CancellationToken) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(server::serve(listener, server::Endpoint::new(service, server::Options::default()), end.clone()));
    url
}

#[tokio::test]
async fn what_a_server_does_not_ask_any_more_is_taken_back_from_the_caller() {
    let held = Some(Revision::LATEST_LEGACY);
    for (far_server, far_client) in [(false, false), (false, true), (true, false), (true, true)] {
        let (end, impatient) = (CancellationToken::new(), Arc::<Impatient>::default());
        let spec = if far_server {
            let url = serve(Arc::clone(&impatient), &end).await;
            Spec::planned("s", "http", Plan::Connect(endpoint(Endpoint::Http(Remote::bare(url)))))
        } else {
            Spec::embedded("s", Arc::clone(&impatient))
        };
        let identity = Identity { name: "bay".into(), version: "0".into() };
        let bay = Bay::open(&identity, vec![Spec { revision: held, ..spec }]).unwrap();
        bay.settled().await;
        let us = Introduction {
            capabilities: Raw::of(&json!({"roots": {}})),
            ..Introduction::anonymous(Revision::LATEST_LEGACY)
        };
        let approach = Approach { revision: held, ..Approach::new(us) };
        let client = if far_client {
            let url = serve(Arc::new(bay.clone()), &end).await;
            client::connect(client::Target::new(url.uri().clone()), approach).await.unwrap()
        } else {
            connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap()
        };
        let call = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__t"}))));
        let mut running = client.call(call).await.unwrap();
        let Step::Ask(asks) = timeout(SOON, running.step()).await.expect("it asks").unwrap() else { panic!() };
        let key = asks.iter().next().unwrap().0.to_owned();
        impatient.0.notify_one();
        let step = timeout(SOON, running.step()).await.expect("it takes that back").unwrap();
        assert_eq!(step, Step::Withdrawn(key), "server over HTTP: {far_server}, client: {far_client}");
        let Step::Done(Ok(result)) = timeout(SOON, running.step()).await.unwrap().unwrap() else { panic!() };
        assert!(format!("{result:?}").contains("enough"));
        bay.close().await;
        end.cancel();
    }
}
