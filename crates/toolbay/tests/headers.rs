//! The headers of a call, where there are any.
#![allow(clippy::unwrap_used, reason = "these are tests, helpers included")]

use toolbay::{prelude::*, protocol::Revision, transport::http::client::Target};

/// Says for which desk it was called, and shows everything that can be printed of the call.
#[tool]
async fn desk(cx: &Ctx) -> String {
    let headers = cx.headers();
    let desk = headers.and_then(|headers| headers.get("x-desk")?.to_str().ok());
    let token =
        headers.is_some_and(|headers| headers.get("authorization").is_some_and(|token| token == "Bearer s3cret"));
    format!("{} {token} {cx:?} {headers:?}", desk.unwrap_or("none"))
}

#[tokio::test]
async fn a_function_sees_the_headers_of_its_call_and_prints_no_secret() {
    let (bound, address) = tokio::sync::oneshot::channel();
    let server = Server::new("desks", "1").tool(desk::tool());
    let transport = http("127.0.0.1:0").on_bound(|address| bound.send(address).unwrap());
    let serving = tokio::spawn(server.clone().serve(transport));
    let mut target = Target::new(format!("http://{}/mcp", address.await.unwrap()).parse().unwrap());
    target.headers.insert("x-desk", "7".parse().unwrap());
    target.headers.insert("authorization", "Bearer s3cret".parse().unwrap());
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18, Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = Client::builder("c", "1").revision(revision).connect(target.clone()).await.unwrap();
        let said = client.call("desk", &()).await.unwrap().texts();
        assert!(
            said.starts_with("7 true ") && said.contains("x-desk") && !said.contains("s3cret"),
            "{revision}: {said}"
        );
        client.close().await;
    }
    serving.abort();
    let said = Client::connect(server).await.unwrap().call("desk", &()).await.unwrap().texts();
    assert!(said.starts_with("none false "), "{said}");
}
