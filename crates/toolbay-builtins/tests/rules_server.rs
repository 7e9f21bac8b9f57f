//! Rules of the protocol that no scenario of the official suite covers, for servers: a client of ours asks, in process.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{num::NonZeroUsize, time::Duration};

use serde_json::{Value, json};
use toolbay::{
    Client, Ctx, ErrorObject, Prompt, Raw, Server, Tool,
    client::{ClientError, ResultExt},
    protocol::{Method, Revision},
    server::{Completing, Elicited, Suggestions},
    types::{
        CacheScope, CreateMessageParams, CreateMessageResult, Dict, ElicitResult, Reference, SamplingMessage,
        Tool as ToolOfWire,
    },
};
use toolbay_builtins::everything::{Faults, server};

async fn meet(revision: Revision) -> Client {
    Client::builder("c", "1").revision(revision).connect(server(Faults::Withheld)).await.unwrap()
}

fn code<T>(outcome: Result<T, ClientError>) -> i64 {
    match outcome {
        Err(ClientError::Refused(error)) => error.code,
        Err(other) => panic!("{other}"),
        Ok(_) => 0,
    }
}

async fn raw(client: &Client, method: Method, params: Value) -> Result<Value, ClientError> {
    client.request(method, Raw::of(&params)).await.map(|raw| raw.read().unwrap())
}

// Rules 26, 29, 126 and 127: whoever asks, and however often, lists are the same, in the same order.
#[tokio::test]
async fn lists_depend_neither_on_the_connection_nor_on_what_a_client_calls_itself() {
    let shared = server(Faults::Withheld);
    let mut lists = Vec::new();
    for (name, version) in [("one", "1"), ("two", "2"), ("two", "2")] {
        let client = Client::builder(name, version).connect(shared.clone()).await.unwrap();
        let tools: Vec<ToolOfWire> = client.tools().all().await.unwrap();
        let prompts = client.prompts().all().await.unwrap();
        let resources = client.resources().all().await.unwrap();
        lists.push((tools, prompts, resources));
    }
    assert!(lists[0] == lists[1] && lists[1] == lists[2]);
    assert!(
        lists[0]
            .0
            .iter()
            .all(|tool| tool.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)))
    );
}

// Rules 117 and 118.
#[tokio::test]
async fn every_page_says_the_same_of_its_cache() {
    let tool = |name: &str| Tool::new(name, "", || async {});
    let server = Server::new("s", "1")
        .tool(tool("a"))
        .tool(tool("b"))
        .tool(tool("c"))
        .page_size(NonZeroUsize::new(1).unwrap())
        .cache_lists(Duration::from_secs(5), CacheScope::Private);
    let client = Client::connect(server).await.unwrap();
    let (mut params, mut pages) = (json!({}), 0);
    loop {
        let page = raw(&client, Method::ToolsList, params).await.unwrap();
        assert_eq!((&page["ttlMs"], &page["cacheScope"]), (&json!(5000), &json!("private")));
        pages += 1;
        let Some(next) = page.get("nextCursor") else { break };
        params = json!({"cursor": next});
    }
    assert_eq!(pages, 3);
    // Rule 122.
    for cursor in [json!("none of yours"), json!(""), json!(7)] {
        assert_eq!(code(raw(&client, Method::ToolsList, json!({"cursor": cursor})).await), -32602);
    }
}

#[derive(serde::Deserialize, toolbay::JsonSchema)]
#[schemars(crate = "toolbay::schemars")]
struct Place {
    many: String,
    city: String,
    country: String,
}

// Rules 123 and 124.
#[tokio::test]
async fn completions_are_few_and_know_what_else_was_filled_in() {
    let prompt =
        Prompt::new("p", "", |place: Place| async move { format!("{} {} {}", place.many, place.city, place.country) })
            .complete("many", |_, _| async { (0..250).map(|n| n.to_string()).collect::<Vec<_>>() })
            .complete("city", |typed: Completing, _| async move {
                let country = typed.arguments.get("country").cloned().unwrap_or_default();
                Suggestions::from(vec![format!("{}-{country}", typed.value)])
            });
    let client = Client::connect(Server::new("s", "1").prompt(prompt)).await.unwrap();
    let many = client.complete(Reference::prompt("p"), "many", "", Dict::new()).await.unwrap();
    assert_eq!((many.values.len(), many.has_more), (100, Some(true)));
    assert_eq!(many.total.unwrap().as_f64(), 250.0);
    let country: Dict<String> = [("country", "no".to_owned())].into_iter().collect();
    let city = client.complete(Reference::prompt("p"), "city", "os", country).await.unwrap();
    assert_eq!(city.values, ["os-no"]);
    assert_eq!(client.complete(Reference::prompt("p"), "none", "", Dict::new()).await.unwrap().values.len(), 0);
    for unknown in [Reference::prompt("q"), Reference::resource("x://{y}")] {
        assert_eq!(code(client.complete(unknown, "a", "", Dict::new()).await), -32602);
    }
    assert_eq!(code(raw(&client, Method::Complete, json!({"ref": {"type": "ref/odd"}, "argument": 1})).await), -32602);
}

// Rules 128 and 146.
#[tokio::test]
async fn every_kind_of_content_is_complete() {
    let client = meet(Revision::LATEST).await;
    let content = |name: &'static str| {
        let client = client.clone();
        async move { serde_json::to_value(client.call(name, &()).await.unwrap().content).unwrap() }
    };
    let link = content("resource_link").await;
    assert_eq!(link[0], json!({"type": "resource_link", "uri": "test://static-text", "name": "static-text"}));
    for (tool, kind) in [("test_image_content", "image"), ("test_audio_content", "audio")] {
        let block = content(tool).await;
        assert_eq!(block[0]["type"], kind);
        assert!(block[0]["mimeType"].as_str().unwrap().starts_with(kind));
        let data = block[0]["data"].as_str().unwrap();
        assert!(data.len() % 4 == 0 && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)));
    }
    let embedded = content("test_embedded_resource").await;
    let resource = &embedded[0]["resource"];
    assert!(["uri", "mimeType", "text"].iter().all(|key| resource[key].is_string()), "{resource}");
}

// Rules 129, 130, 131, 140, 143 and 147.
#[tokio::test]
async fn whatever_is_not_there_is_refused_and_what_fails_tells_the_model() {
    for revision in Revision::ALL {
        let client = meet(revision).await;
        assert_eq!(code(client.call("no_such_tool", &()).await), -32602, "{revision}");
        assert_eq!(code(client.prompt("no_such_prompt", &()).await), -32602, "{revision}");
        assert_eq!(
            code(client.prompt("test_prompt_with_arguments", &json!({"arg1": "x"})).await),
            -32602,
            "{revision}"
        );
        let gone = if revision == Revision::LATEST { -32602 } else { -32002 };
        for uri in ["test://nowhere", "no uri at all", "", "test://template/../data/x"] {
            assert_eq!(code(client.read(uri).await), gone, "{revision} {uri}");
        }
        let failed = client.call("test_error_handling", &()).await.unwrap();
        assert!(failed.failed() && failed.texts().contains("intentionally"));
        let misfit = client.call("add", &json!({"left": "one", "right": 2})).await.unwrap();
        assert!(misfit.failed() && misfit.texts().contains("left"), "{revision}: {}", misfit.texts());
    }
}

// Rules 153 and 162.
#[tokio::test]
async fn a_refusal_is_an_answer_that_tools_live_with() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        for (answer, form, url) in [
            (ElicitResult::decline as fn() -> ElicitResult, "action=decline", "would not go"),
            (ElicitResult::cancel, "action=cancel", "did not answer"),
        ] {
            let client = Client::builder("c", "1")
                .revision(revision)
                .on_form(move |_| async move { answer() })
                .on_url(move |_| async move { answer() })
                .on_sample(|_| async {
                    Err::<CreateMessageResult, _>(ErrorObject::new(-1, "the user would rather not"))
                })
                .connect(server(Faults::Withheld))
                .await
                .unwrap();
            let said = client.call("test_elicitation", &json!({"message": "Who?"})).await.unwrap();
            assert!(said.texts().contains(form), "{revision}: {}", said.texts());
            let said = client.call("elicit_url", &()).await.unwrap();
            assert!(said.texts().contains(url), "{revision}: {}", said.texts());
            let said = client.call("test_sampling", &json!({"prompt": "x"})).await;
            assert!(said.is_err() || said.as_ref().unwrap().failed(), "{revision}: {said:?}");
            client.call("echo", &json!({"text": "on"})).await.unwrap();
        }
    }
}

// Rules 97, 150 and 161.
#[tokio::test]
async fn a_model_without_tools_is_lent_none_and_forms_are_flat() {
    #[derive(serde::Deserialize, toolbay::JsonSchema)]
    #[schemars(crate = "toolbay::schemars")]
    #[expect(dead_code, reason = "it is never answered")]
    struct Deep {
        inner: Inner,
    }
    #[derive(serde::Deserialize, toolbay::JsonSchema)]
    #[schemars(crate = "toolbay::schemars")]
    #[expect(dead_code, reason = "it is never answered")]
    struct Inner {
        name: String,
    }
    let server = || {
        Server::new("s", "1")
            .on_error(|_| {})
            .tool(Tool::new("lend", "", |cx: Ctx| async move {
                let mut params = CreateMessageParams::new([SamplingMessage::user("x")], 5);
                params.tools = Some(Vec::new());
                cx.sample("model", params).await.map(|_| ())
            }))
            .tool(Tool::new("deep", "", |cx: Ctx| async move {
                let answer: Elicited<Deep> = cx.elicit("deep", "?").await?;
                toolbay::ok(format!("{}", matches!(answer, Elicited::Declined)))
            }))
    };
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = Client::builder("c", "1")
            .revision(revision)
            .on_sample(|_| async { panic!("it is not asked") })
            .on_form(|_| async { panic!("it is not asked") })
            .connect(server())
            .await
            .unwrap();
        for tool in ["lend", "deep"] {
            let outcome = client.call(tool, &()).await;
            assert!(outcome.as_ref().map_or(true, |result| result.failed()), "{revision} {tool}: {outcome:?}");
        }
    }
}
