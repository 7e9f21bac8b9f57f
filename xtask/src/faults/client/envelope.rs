//! Servers of the newest revision, where each request carries its envelope and each result its type.

use super::scenes::{Scene, Script, delivered, delivered_or_limited, fails_at_once};

/// Every scene of this room.
pub(super) const SCENES: &[Scene] = &[
    Scene::new(
        "envelope-plain",
        "a plain answer is delivered",
        Script::Words(|id| vec![known(id, COMPLETE)]),
        delivered,
    )
    .envelope(),
    Scene::new(
        "envelope-nulls",
        "`isError: null` and a null in `_meta` are as if absent",
        Script::Words(nulls),
        delivered,
    )
    .envelope(),
    Scene::new(
        "envelope-no-result-type",
        "a result without its type is delivered, or an error at once",
        Script::Words(|id| vec![known(id, "")]),
        delivered_or_limited,
    )
    .envelope(),
    Scene::new(
        "envelope-unknown-result-type",
        "a result of an unknown type is an error at once",
        Script::Words(|id| vec![known(id, r#","resultType":"riddle""#)]),
        fails_at_once,
    )
    .envelope(),
    Scene::new(
        "envelope-unknown-question",
        "a question of an unknown kind is an error at once",
        Script::Words(question),
        fails_at_once,
    )
    .envelope(),
    Scene::new(
        "envelope-request",
        "a request of the server is dropped, and the answer delivered",
        Script::Words(request),
        delivered,
    )
    .envelope(),
    Scene::new(
        "envelope-unknown-content",
        "a content block of an unknown kind costs nothing else",
        Script::Words(content),
        delivered,
    )
    .envelope(),
    Scene::new(
        "http-envelope-stream-ends",
        "an event stream that ends without the answer is an error at once: nothing can be resumed",
        Script::Web(|visit, _| visit.events("id: 1\nretry: 100\ndata:\n\n")),
        fails_at_once,
    )
    .envelope(),
    Scene::new(
        "http-envelope-404",
        "404 without a message is an error at once",
        Script::Web(|visit, _| visit.json("404 Not Found", "text/plain", "no")),
        fails_at_once,
    )
    .envelope(),
    Scene::new(
        "http-envelope-version",
        "−32022 for the call is an error at once, not a loop",
        Script::Web(version),
        fails_at_once,
    )
    .envelope(),
];

const COMPLETE: &str = r#","resultType":"complete""#;

fn known(id: &str, more: &str) -> String {
    super::words::result(id, r#"{"type":"text","text":"known text"}"#, more)
}

fn nulls(id: &str) -> Vec<String> {
    vec![known(id, r#","resultType":"complete","isError":null,"structuredContent":null,"_meta":{"x":null}"#)]
}

fn question(id: &str) -> Vec<String> {
    let asks = r#"{"q":{"method":"nobody/knows","params":{}}}"#;
    vec![format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","inputRequests":{asks}}}}}"#)]
}

fn request(id: &str) -> Vec<String> {
    vec![r#"{"jsonrpc":"2.0","id":777,"method":"ping"}"#.to_owned(), known(id, COMPLETE)]
}

fn content(id: &str) -> Vec<String> {
    let blocks = r#"{"type":"hologram","beam":[1,2]},{"type":"text","text":"known text"}"#;
    vec![super::words::result(id, blocks, COMPLETE)]
}

fn version(visit: &mut super::visit::Visit, id: &str) {
    let data = r#"{"supported":["2026-07-28"],"requested":"2026-07-28"}"#;
    let error = format!(r#"{{"code":-32022,"message":"unsupported","data":{data}}}"#);
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
    visit.json("400 Bad Request", "application/json", &body);
}
