//! A server that lets go of the connection on which its answer is awaited: so does the bay with its own client, and both
//! come back.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::{net::TcpListener, sync::Semaphore, time::timeout};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity,
    config::{Endpoint, Remote, Url},
    servers::{Plan, Spec, endpoint},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Outcome, Step},
    greeting::{Introduction, Profile},
    peer::Call,
    watch::Filter,
};
use toolbay_transport::{
    Approach, Caller, Cx, Hub, Request, Service, Watch,
    http::{client, server},
};

const SOON: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(150);

/// Lets go of the connection, and answers when it may.
struct Letting(Semaphore);

impl Service for Letting {
    fn profile(&self) -> Arc<Profile> {
        let server = Raw::of(&json!({"name": "letting", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&json!({"tools": {}})), instructions: None })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        if request.method == Method::ToolsList {
            return Ok(Raw::of(&json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})));
        }
        cx.hang_up(PAUSE);
        self.0.acquire().await.unwrap().forget();
        Ok(Raw::of(&json!({"content": [{"type": "text", "text": "back again"}]})))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(Hub::new().watch(filter))
    }
}

async fn serve<S: Service>(service: Arc<S>, end: &CancellationToken) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
    let endpoint = server::Endpoint::new(service, server::Options::default());
    tokio::spawn(server::serve(listener, endpoint, end.clone()));
    url
}

#[tokio::test]
async fn a_client_is_let_go_of_as_the_bay_is_and_comes_back_for_the_answer() {
    let (end, letting) = (CancellationToken::new(), Arc::new(Letting(Semaphore::new(0))));
    let url = serve(Arc::clone(&letting), &end).await;
    let plan = Plan::Connect(endpoint(Endpoint::Http(Remote::bare(url))));
    let spec = Spec { revision: Some(Revision::LATEST_LEGACY), ..Spec::planned("s", "http", plan) };
    let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
    bay.settled().await;
    let url = serve(Arc::new(bay.clone()), &end).await;

    let us = Introduction::anonymous(Revision::LATEST_LEGACY);
    let approach = Approach { revision: Some(Revision::LATEST_LEGACY), ..Approach::new(us) };
    let client = client::connect(client::Target::new(url.uri().clone()), approach).await.unwrap();
    let mut running = client.call(Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__t"}))))).await.unwrap();
    let step = timeout(SOON, running.step()).await.expect("it is let go of").unwrap();
    assert_eq!(step, Step::Away(PAUSE));
    letting.0.add_permits(1);
    let step = timeout(SOON, running.step()).await.expect("it comes back").unwrap();
    let Step::Done(Ok(result)) = step else { panic!("{step:?}") };
    assert!(result.as_str().contains("back again"), "{result:?}");
    drop(client);
    bay.close().await;
    end.cancel();
}
