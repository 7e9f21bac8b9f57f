use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use serde_json::{Value, json};
use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw, Revision,
    exchange::{Answers, Asks, Outcome, Return, Standing, Step},
    greeting::Introduction,
    peer::Call,
};
use toolbay_transport::{Approach, Connection, connect, duplex::Options};

use crate::{
    Ctx, JsonSchema, Result, Server, Tool,
    serde::Deserialize,
    server::{Elicited, Prompt},
    types::CreateMessageParams,
};

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// What to call you.
    name: String,
}

fn everything(runs: &Arc<AtomicU32>) -> Server {
    let (one, two) = (Arc::clone(runs), Arc::clone(runs));
    Server::new("asker", "1")
        .tool(Tool::new("greet", "", move |cx: Ctx| {
            let runs = Arc::clone(&one);
            async move {
                let done = cx.once("count", || async { Ok::<_, crate::Fail>(runs.fetch_add(1, Ordering::SeqCst)) });
                done.await?;
                let name: Name = cx.ask("name", "Who?").await?;
                let model = cx.sample_text("model", format!("Greet {}", name.name), 10).await?;
                Ok::<_, crate::Fail>(format!("{model} ({})", cx.roots("roots").await?.len()))
            }
        }))
        .tool(Tool::new("both", "", |cx: Ctx| async move {
            let (a, b) = tokio::try_join!(cx.ask::<Name>("a", "A?"), cx.ask::<Name>("b", "B?"))?;
            Ok::<_, crate::Fail>(format!("{}{}", a.name, b.name))
        }))
        .tool(Tool::new("careless", "", move |cx: Ctx| {
            two.fetch_add(1, Ordering::SeqCst);
            async move {
                let name = cx.elicit::<Name>("name", "Who?").await.ok().and_then(Elicited::accepted);
                name.map_or("nobody".to_owned(), |name| name.name)
            }
        }))
        .prompt(Prompt::new("ask", "", |cx: Ctx| async move {
            Ok::<_, crate::Fail>(cx.ask::<Name>("name", "Who?").await?.name)
        }))
}

async fn meet(server: Server, revision: Revision, capabilities: Value) -> Connection {
    let us = Introduction { capabilities: Raw::of(&capabilities), ..Introduction::anonymous(revision) };
    let mut approach = Approach::new(us);
    approach.revision = Some(revision);
    connect::memory(Arc::new(server), Options::default(), approach).await.unwrap()
}

fn all() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

fn answer(method: &Method, round: usize) -> Outcome {
    Ok(Raw::of(&match method {
        // The first answer lacks what the form asks for.
        Method::Elicit if round == 0 => json!({"action": "accept", "content": {"nome": "x"}}),
        Method::Elicit => json!({"action": "accept", "content": {"name": "Ada"}}),
        Method::CreateMessage => {
            json!({"role": "assistant", "content": {"type": "text", "text": "Hi Ada"}, "model": "m"})
        }
        _ => json!({"roots": [{"uri": "file:///a"}]}),
    }))
}

async fn converse(connection: &Connection, name: &str) -> (Outcome, Vec<usize>) {
    let params = Raw::of(&json!({"name": name}));
    let mut running = connection.call(Call::new(Method::ToolsCall, Some(params))).await.unwrap();
    let mut rounds = Vec::new();
    loop {
        match running.step().await.unwrap() {
            Step::Note(_) | Step::Away(_) | Step::Withdrawn(_) => {}
            Step::Done(outcome) => return (outcome, rounds),
            Step::Ask(asks) => {
                let answers =
                    asks.iter().map(|(key, ask)| (key.to_owned(), answer(&ask.method, rounds.len()))).collect();
                rounds.push(asks.len());
                running.answer(answers).await.unwrap();
            }
        }
    }
}

fn text(outcome: &Outcome) -> String {
    let result: Value = outcome.as_ref().unwrap().read().unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_same_code_asks_callers_that_stay_and_callers_that_return() {
    for revision in [Revision::V2025_06_18, Revision::LATEST_LEGACY, Revision::LATEST] {
        let runs = Arc::default();
        let connection = meet(everything(&runs), revision, all()).await;
        let (outcome, rounds) = converse(&connection, "greet").await;
        // rule 100: the answer that did not fit was asked for again
        assert_eq!((text(&outcome).as_str(), rounds), ("Hi Ada (1)", vec![1, 1, 1, 1]), "{revision}");
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{revision}: once is once");
    }
}

#[tokio::test]
async fn questions_awaited_together_are_put_together() {
    let connection = meet(everything(&Arc::default()), Revision::LATEST, all()).await;
    let (outcome, rounds) = converse(&connection, "both").await;
    assert_eq!((text(&outcome).as_str(), rounds), ("AdaAda", vec![2, 2]));
}

#[tokio::test]
async fn a_handler_that_swallows_the_question_still_asks_it() {
    let connection = meet(everything(&Arc::default()), Revision::LATEST, all()).await;
    let (outcome, rounds) = converse(&connection, "careless").await;
    assert_eq!((text(&outcome).as_str(), rounds.len()), ("Ada", 2));
}

#[tokio::test]
async fn who_cannot_be_asked_is_not() {
    // rules 23 and 97
    let modern = meet(everything(&Arc::default()), Revision::LATEST, json!({"elicitation": {"url": {}}})).await;
    let error = converse(&modern, "greet").await.0.unwrap_err();
    assert_eq!(error.code, -32021);
    let needed: Value = error.data.unwrap().read().unwrap();
    assert_eq!(needed, json!({"requiredCapabilities": {"elicitation": {"form": {}}}}));
    let legacy = meet(everything(&Arc::default()), Revision::LATEST_LEGACY, json!({})).await;
    assert!(text(&converse(&legacy, "greet").await.0).contains("does not support elicitation/create"));
}

/// The first round of `greet`: what is asked, and the state.
async fn first_round(connection: &Connection) -> (Asks, Raw) {
    let params = Raw::of(&json!({"name": "greet"}));
    let mut running = connection.call(Call::new(Method::ToolsCall, Some(params))).await.unwrap();
    let Step::Ask(asks) = running.step().await.unwrap() else { panic!("it asks first") };
    let Standing::Over(Some(state)) = asks.standing().clone() else { panic!("it is given a state") };
    (asks, state)
}

async fn come_back(
    connection: &Connection,
    params: Value,
    answers: Option<Answers>,
    state: Raw,
) -> Result<Step, ErrorObject> {
    let returning = Return { answers, state: Some(state) };
    let call = Call { returning, ..Call::new(Method::ToolsCall, Some(Raw::of(&params))) };
    let mut running = connection.call(call).await.unwrap();
    match running.step().await.unwrap() {
        Step::Done(Err(error)) => Err(error),
        step => Ok(step),
    }
}

#[tokio::test]
async fn only_our_own_state_is_taken_and_only_for_its_request() {
    // rules 98 and 99
    let connection = meet(everything(&Arc::default()), Revision::LATEST, all()).await;
    let (_, state) = first_round(&connection).await;
    let good = || Some(Answers::one("name", answer(&Method::Elicit, 1)));
    let greet = json!({"name": "greet"});
    for (params, state) in [
        (greet.clone(), Raw::of("nonsense")),
        (json!({"name": "both"}), state.clone()),
        (json!({"name": "greet", "arguments": {"x": 1}}), state.clone()),
    ] {
        assert_eq!(come_back(&connection, params, good(), state).await.unwrap_err().code, -32602);
    }
    // rule 100: what was not asked is ignored, what is missing is asked for again
    let stray = Some(Answers::one("stray", answer(&Method::Elicit, 1)));
    let again = come_back(&connection, greet.clone(), stray, state.clone()).await.unwrap();
    assert!(matches!(again, Step::Ask(asks) if asks.get("name").is_some()));
    let on = come_back(&connection, greet, good(), state).await.unwrap();
    assert!(matches!(on, Step::Ask(asks) if asks.get("model").is_some()));
}

#[tokio::test]
async fn prompts_ask_too() {
    let connection = meet(everything(&Arc::default()), Revision::LATEST, all()).await;
    let call = Call::new(Method::PromptsGet, Some(Raw::of(&json!({"name": "ask"}))));
    let mut running = connection.call(call).await.unwrap();
    assert!(matches!(running.step().await.unwrap(), Step::Ask(_)));
    assert!(Revision::LATEST.has(Feature::ResultType));
    drop(CreateMessageParams::new([], 1));
}

#[tokio::test]
async fn rule_165_what_a_client_calls_roots_is_looked_at() {
    let server = Server::new("s", "1")
        .tool(Tool::new("roots", "", |cx: Ctx| async move { Ok::<_, crate::Fail>(cx.roots("r").await?.len()) }));
    for revision in [Revision::V2024_11_05, Revision::LATEST_LEGACY, Revision::LATEST] {
        let connection = meet(server.clone(), revision, json!({"roots": {}})).await;
        for (uri, good) in [("file:///a", true), ("https://a.test/x", false), ("file:///a/../../b", false)] {
            let call = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "roots"}))));
            let mut running = connection.call(call).await.unwrap();
            let result: Value = loop {
                match running.step().await.unwrap() {
                    Step::Note(_) | Step::Away(_) | Step::Withdrawn(_) => {}
                    Step::Done(outcome) => break outcome.unwrap().read().unwrap(),
                    Step::Ask(asks) => {
                        let roots: Outcome = Ok(Raw::of(&json!({"roots": [{"uri": "file:///ok"}, {"uri": uri}]})));
                        let answers = asks.iter().map(|(key, _)| (key.to_owned(), roots.clone())).collect();
                        running.answer(answers).await.unwrap();
                    }
                }
            };
            assert_eq!(result["isError"] != json!(true), good, "{revision}: {uri}: {result}");
        }
    }
}
