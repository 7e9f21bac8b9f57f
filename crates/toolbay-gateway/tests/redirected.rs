//! What was done, and has its result elsewhere, is read there and not done again.

use bytes::Bytes;
use serde_json::json;
use toolbay_testkit::services::{Reply, Web};
use toolbay_transport::http::client::{Errands, Target};

#[tokio::test]
async fn a_call_whose_result_lies_elsewhere_is_made_once() {
    let web = Web::serve(|asked| match (asked.verb.as_str(), asked.target.as_str()) {
        ("POST", "/call") => Reply::redirect(303, "/result/1"),
        ("GET", "/result/1") => Reply::json(200, json!({"result": "done"})),
        _ => Reply::json(405, "{}"),
    });
    let errands = Errands::to(&Target::new(web.url("/call").parse().unwrap())).unwrap();
    let answer = errands.post(Bytes::from_static(b"{}")).await.unwrap();
    assert_eq!((answer.status.as_u16(), &answer.body[..]), (200, &br#"{"result":"done"}"#[..]));
    let asked: Vec<_> = web.asked().into_iter().map(|asked| (asked.verb, asked.body)).collect();
    assert_eq!(asked, [("POST".to_owned(), "{}".to_owned()), ("GET".to_owned(), String::new())]);
}
