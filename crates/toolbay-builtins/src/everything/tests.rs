use serde_json::json;
use toolbay::{
    Client,
    client::{ClientError, ResultExt},
};

use super::*;

#[tokio::test]
async fn faults_are_there_only_where_they_are_wanted() {
    let client = Client::connect(server(Faults::Withheld)).await.unwrap();
    assert!(client.tools().all().await.unwrap().iter().all(|tool| tool.name != "boom" && tool.description.is_some()));
    let client = Client::connect(server(Faults::Offered)).await.unwrap();
    assert!(client.call("boom", &()).await.unwrap().failed());
    assert_eq!(client.call("slow", &json!({"ms": 1, "tag": "x"})).await.unwrap().texts(), "x");
    let added = client.call("add_tool", &()).await.unwrap().texts();
    assert!(client.call(&added, &()).await.unwrap().texts().contains(&added));
}

#[tokio::test]
async fn the_second_server_knows_nothing_of_the_first() {
    let client = Client::connect(server(Faults::Withheld)).await.unwrap();
    assert!(matches!(client.call("added_1", &()).await, Err(ClientError::Refused(_))));
    let sum: serde_json::Value = client.call("add", &json!({"left": 1, "right": 2.5})).await.unwrap().json().unwrap();
    assert_eq!(sum, json!({"sum": 3.5}));
}
