//! The loop, driven: time, cancelling, what may be in flight together, what appears and goes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use doubles::{Scripted, Shelved, Somebody, answers, check, gives, reading, says, text, tool, wants};
use serde_json::{Value, json};
use toolbay_agent::{
    Agent, Event, Parallel, Settings,
    approve::{AskAll, Decision, Policy, ReadOnly},
    model::{Choice, Wire},
    person::{Elicitation, Verdict},
    toolbox::ToolId,
    trace::{Trace, What},
    transcript::{Message, Part},
    turn::{Ended, Limits},
};

mod doubles;

fn any() -> Value {
    json!({"type": "object"})
}

/// Everything is allowed that these tests call.
fn allowing(tools: &Shelved) -> Arc<AskAll> {
    let policy = AskAll::default();
    tools.tools().iter().for_each(|tool| policy.remember(tool, Decision::Allow).unwrap());
    Arc::new(policy)
}

fn yes() -> Arc<Somebody> {
    Somebody::new(|_| Verdict::Once)
}

#[tokio::test(start_paused = true)]
async fn a_call_has_its_time_and_no_more() {
    let toolbox = Shelved::new(vec![tool("s", "slow", "", any())], |_, _, _| Box::pin(std::future::pending()));
    let model =
        Scripted::new(|number, _| if number == 0 { wants(&[("s__slow", json!({}))]) } else { says("too slow") });
    let mut agent = Agent::new(model, toolbox.clone()).policy(allowing(&toolbox));
    let begun = tokio::time::Instant::now();
    assert_eq!(agent.say("go").await.text, "too slow");
    assert_eq!(begun.elapsed(), Settings::default().call);
    assert!(answers(agent.transcript())[0].contains("no answer within 120 s"));
    assert_eq!(toolbox.flying.load(std::sync::atomic::Ordering::SeqCst), 0, "it is taken back");
}

#[tokio::test(start_paused = true)]
async fn progress_gives_a_call_more_time_but_not_for_ever() {
    for (steps, expected) in [(10, "done"), (1_000, "no answer within 3600 s")] {
        let tools = vec![tool("s", "slow", "", any())];
        let toolbox = Shelved::new(tools, move |tool, _, person| {
            let id = tool.id.clone();
            Box::pin(async move {
                for step in 0..steps {
                    tokio::time::advance(Duration::from_secs(60)).await;
                    person.told(&id, &format!("{step}"));
                    tokio::task::yield_now().await;
                }
                Ok(text("done"))
            })
        });
        let model =
            Scripted::new(|number, _| if number == 0 { wants(&[("s__slow", json!({}))]) } else { says("there") });
        let mut agent = Agent::new(model, toolbox.clone()).policy(allowing(&toolbox));
        agent.say("go").await;
        let answers = answers(agent.transcript());
        assert!(answers[0].contains(expected), "{answers:?}");
    }
}

/// A person who takes ten minutes for a form.
struct Slow;

impl toolbay_agent::person::Person for Slow {
    fn approve<'a>(&'a self, _: toolbay_agent::person::Approval<'a>) -> futures_util::future::BoxFuture<'a, Verdict> {
        Box::pin(std::future::pending())
    }

    fn elicit(&self, _: Elicitation) -> futures_util::future::BoxFuture<'_, toolbay_agent::person::Answered> {
        Box::pin(async {
            tokio::time::advance(Duration::from_secs(600)).await;
            toolbay_agent::person::Answered::Decline
        })
    }

    fn sample<'a>(
        &'a self,
        _: toolbay_agent::person::Sampling<'a>,
    ) -> futures_util::future::BoxFuture<'a, Result<Value, String>> {
        Box::pin(async { Err("no".into()) })
    }

    fn roots(&self) -> futures_util::future::BoxFuture<'_, Vec<Value>> {
        Box::pin(async { vec![] })
    }

    fn told(&self, _: &ToolId, _: &str) {}
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_person_is_not_that_of_a_call() {
    let toolbox = Shelved::new(vec![tool("s", "asks", "", any())], |_, _, person| {
        Box::pin(async move {
            let url = "https://example.com/".to_owned();
            person.elicit(Elicitation::Url { server: "s".into(), message: "m".into(), url }).await;
            Ok(text("done"))
        })
    });
    let model = Scripted::new(|number, _| if number == 0 { wants(&[("s__asks", json!({}))]) } else { says("ok") });
    let mut agent = Agent::new(model, toolbox.clone()).policy(allowing(&toolbox)).person(Arc::new(Slow));
    agent.say("go").await;
    assert_eq!(answers(agent.transcript()), ["done"]);
    let elicited = agent.steps().into_iter().find_map(|step| match &step.what {
        What::Elicited { kind, answer, .. } => Some((*kind, *answer)),
        _ => None,
    });
    assert_eq!(elicited, Some(("url", "declined")));
}

#[tokio::test(start_paused = true)]
async fn a_person_who_decides_nothing_has_said_no() {
    let toolbox = Shelved::new(vec![tool("s", "x", "", any())], |_, _, _| gives(text("x")));
    let model = Scripted::new(|number, _| if number == 0 { wants(&[("s__x", json!({}))]) } else { says("ok") });
    let mut agent = Agent::new(model, toolbox.clone()).person(Arc::new(Slow));
    agent.say("go").await;
    assert_eq!(answers(agent.transcript()), ["Not called: nobody decided on it in time"]);
    assert!(toolbox.calls().is_empty());
}

#[tokio::test]
async fn only_what_is_believed_to_change_nothing_is_in_flight_together() {
    let tools = ["a", "b"].iter().flat_map(|server| {
        (0..5).map(|number| reading(&tool(server, &format!("read{number}"), "", any()))).collect::<Vec<_>>()
    });
    let tools: Vec<_> = tools.collect();
    for (parallel, server, most) in [
        (Parallel::ReadOnly, "a", 3),
        (Parallel::ReadOnly, "b", 1),
        (Parallel::Never, "a", 1),
        (Parallel::Always, "b", 3),
    ] {
        let toolbox = Shelved::new(tools.clone(), |_, _, _| {
            Box::pin(async {
                tokio::task::yield_now().await;
                Ok(text("x"))
            })
        });
        let names: Vec<_> = (0..5).map(|number| format!("{server}__read{number}")).collect();
        let model = Scripted::new(move |number, _| match number {
            0 => wants(&names.iter().map(|name| (name.as_str(), json!({}))).collect::<Vec<_>>()),
            _ => says("ok"),
        });
        let settings = Settings { parallel, side_by_side: 3, ..Settings::default() };
        let policy = ReadOnly::of(["a"]);
        tools.iter().for_each(|tool| policy.remember(tool, Decision::Allow).unwrap());
        let mut agent = Agent::new(model, toolbox.clone()).policy(Arc::new(policy)).settings(settings);
        agent.say("go").await;
        assert_eq!(toolbox.most.load(std::sync::atomic::Ordering::SeqCst), most, "{parallel:?} on {server}");
        check(agent.transcript());
    }
}

#[tokio::test]
async fn cancelling_takes_back_what_is_in_flight_and_leaves_a_conversation_that_goes_on() {
    let toolbox = Shelved::new(
        vec![reading(&tool("s", "quick", "", any())), reading(&tool("s", "stuck", "", any()))],
        |tool, _, _| match tool.id.name.as_str() {
            "quick" => gives(text("quick")),
            _ => Box::pin(std::future::pending()),
        },
    );
    let model = Scripted::new(|number, _| match number {
        0 => wants(&[("s__stuck", json!({})), ("s__quick", json!({}))]),
        _ => says("still here"),
    });
    let mut agent = Agent::new(model, toolbox.clone()).policy(Arc::new(ReadOnly::of(["s"])));
    let canceller = agent.canceller();
    // Between turns it does nothing.
    canceller.cancel();
    let mut events = |event: Event<'_>| {
        if let Event::Step(step) = event
            && let What::Ended { .. } = step.what
        {
            canceller.cancel();
        }
    };
    let end = agent.hear(vec![Part::text("go")], &mut events).await;
    assert_eq!(end.why, Ended::Cancelled);
    check(agent.transcript());
    let told = answers(agent.transcript());
    assert!(told[0].starts_with("Cancelled") && told[1] == "quick", "{told:?}");
    assert_eq!(toolbox.flying.load(std::sync::atomic::Ordering::SeqCst), 0);
    let ended = agent.steps().iter().filter(|step| matches!(step.what, What::Ended { .. })).count();
    assert_eq!(ended, 2, "what was taken back has ended too");
    assert_eq!(agent.say("are you there?").await.text, "still here");
}

#[tokio::test]
async fn a_dropped_turn_leaves_a_conversation_that_goes_on() {
    let toolbox = Shelved::new(vec![tool("s", "stuck", "", any())], |_, _, _| Box::pin(std::future::pending()));
    let model = Scripted::new(|number, _| if number == 0 { wants(&[("s__stuck", json!({}))]) } else { says("back") });
    let mut agent = Agent::new(model, toolbox.clone()).policy(allowing(&toolbox));
    let begun = Arc::new(tokio::sync::Notify::new());
    let heard = Arc::clone(&begun);
    let mut events = move |event: Event<'_>| {
        if let Event::Step(step) = event
            && let What::Called { .. } = step.what
        {
            heard.notify_one();
        }
    };
    tokio::select! {
        end = agent.hear(vec![Part::text("go")], &mut events) => panic!("{end:?}"),
        () = begun.notified() => {}
    }
    check(agent.transcript());
    assert_eq!(agent.transcript().messages.len(), 3);
    let last = agent.steps().last().map(|step| step.to_value()["why"].clone());
    assert_eq!(last, Some(json!("cancelled")));
    assert_eq!(agent.say("again").await.text, "back");
}

#[tokio::test]
async fn what_appears_in_the_middle_is_called_and_what_goes_is_told() {
    let toolbox = Shelved::new(vec![tool("b", "old", "", any())], |tool, _, _| gives(text(tool.id.to_string())));
    let shelf = Arc::clone(&toolbox);
    let model = Scripted::new(move |number, _| match number {
        0 => {
            // Another server appears, whose name sorts before the first one's.
            shelf.put(vec![tool("a", "new", "", any()), tool("b", "old", "", any())], vec![]);
            wants(&[("b__old", json!({}))])
        }
        1 => {
            shelf.put(vec![tool("a", "new", "", any())], vec![("b".into(), "it crashed".into())]);
            wants(&[("a__new", json!({}))])
        }
        2 => wants(&[("b__old", json!({}))]),
        _ => says("ok"),
    });
    let mut agent = Agent::new(model.clone(), toolbox.clone()).person(yes());
    agent.say("go").await;
    let told = answers(agent.transcript());
    assert_eq!(told[..2], ["b/old", "a/new"]);
    assert!(told[2].contains("not there any more: it crashed"), "{}", told[2]);
    let shown: Vec<_> = model.asked().into_iter().map(|asked| asked.tools).collect();
    assert_eq!(shown[0], ["read_result", "b__old"]);
    assert_eq!(shown[1], ["read_result", "b__old", "a__new"], "what is new comes last");
    assert_eq!(shown[3], shown[1], "what was shown stays where it was");
    assert_eq!(agent.down(), [("b".to_owned(), "it crashed".to_owned())]);
}

#[tokio::test]
async fn an_edit_that_does_not_fit_is_asked_again() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let toolbox = Shelved::new(vec![tool("s", "x", "", schema)], |_, arguments, _| {
        gives(json!({"structuredContent": arguments}))
    });
    let model = Scripted::new(|number, _| if number == 0 { wants(&[("s__x", json!({"n": 1}))]) } else { says("ok") });
    let times = Mutex::new(0);
    let person = Somebody::new(move |_| {
        let mut times = times.lock().unwrap();
        *times += 1;
        let n = if *times == 1 { json!("two") } else { json!(2) };
        Verdict::Edited([("n".to_owned(), n)].into_iter().collect())
    });
    let mut agent = Agent::new(model, toolbox).person(person.clone());
    agent.say("go").await;
    assert_eq!(answers(agent.transcript()), [r#"{"n":2}"#]);
    let approvals = person.approvals.lock().unwrap();
    assert_eq!(approvals.len(), 2);
    assert!(approvals[1].1.contains("does not fit") && approvals[1].1.contains("integer"), "{approvals:?}");
}

#[tokio::test]
async fn always_is_asked_once() {
    let toolbox = Shelved::new(vec![tool("s", "x", "", any()), tool("t", "x", "", any())], |_, _, _| gives(text("x")));
    let model = Scripted::new(|number, _| match number {
        0 => wants(&[("s__x", json!({})), ("s__x", json!({"again": true})), ("t__x", json!({}))]),
        _ => says("ok"),
    });
    let person = Somebody::new(|_| Verdict::Always);
    let mut agent = Agent::new(model, toolbox).person(person.clone());
    agent.say("go").await;
    let asked: Vec<_> = person.approvals.lock().unwrap().iter().map(|(tool, _)| tool.clone()).collect();
    assert_eq!(asked, ["s/x", "t/x"], "for one server, not for another");
}

#[tokio::test]
async fn without_a_person_nothing_is_called() {
    let toolbox = Shelved::new(vec![tool("s", "x", "", any())], |_, _, _| gives(text("x")));
    let model = Scripted::new(|number, _| if number == 0 { wants(&[("s__x", json!({}))]) } else { says("ok") });
    let mut agent = Agent::new(model, toolbox.clone());
    agent.say("go").await;
    assert!(toolbox.calls().is_empty());
    assert!(answers(agent.transcript())[0].contains("nobody is there to agree"));
}

#[tokio::test]
async fn a_trace_that_cannot_be_written_stops_calls() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let toolbox = Shelved::new(vec![tool("s", "x", "", any())], |_, _, _| gives(text("x")));
    let model = Scripted::new(|number, _| if number == 0 { wants(&[("s__x", json!({}))]) } else { says("ok") });
    let mut agent = Agent::new(model, toolbox.clone()).policy(allowing(&toolbox)).trace(Trace::file(full).unwrap());
    assert_eq!(agent.say("go").await.text, "ok");
    assert!(toolbox.calls().is_empty());
    assert!(answers(agent.transcript())[0].contains("the trace cannot be written"));
    assert!(agent.trace_broken().is_some());
    let called = agent.steps().iter().any(|step| matches!(step.what, What::Called { .. }));
    assert!(!called && agent.steps().len() > 3, "the rest is known all the same");
}

#[tokio::test]
async fn the_last_question_shows_the_same_tools_and_forbids_them() {
    let toolbox = Shelved::new(vec![tool("s", "x", "", any())], |_, _, _| gives(text("x")));
    let model = Scripted::new(|number, _| match number {
        0..3 => wants(&[("s__x", json!({"n": number}))]),
        _ => says("that is all"),
    });
    let limits = Limits { rounds: 3, ..Limits::default() };
    let settings = Settings { limits, system: "be brief".into(), ..Settings::default() };
    let mut agent = Agent::new(model.clone(), toolbox.clone()).policy(allowing(&toolbox)).settings(settings);
    let end = agent.say("go").await;
    assert_eq!((end.why, end.text.as_str()), (Ended::Rounds, "that is all"));
    let asked = model.asked();
    assert_eq!((asked[3].choice, &asked[3].tools), (Choice::None, &asked[0].tools));
    assert_eq!(asked[0].transcript.system, "be brief");
    assert!(matches!(agent.transcript().messages.last(), Some(Message::Model(_))));
}

#[tokio::test]
async fn with_no_tools_none_are_shown() {
    let toolbox = Shelved::new(vec![], |_, _, _| gives(text("x")));
    let model = Scripted::on(Wire::Ollama, |_, _| says("hello"));
    let mut agent = Agent::new(model.clone(), toolbox);
    assert_eq!(agent.say("hello").await.text, "hello");
    assert!(model.asked()[0].tools.is_empty());
}

#[tokio::test]
async fn an_agent_may_run_on_any_thread() {
    fn sends<T: Send>(what: T) -> T {
        what
    }
    let toolbox = Shelved::new(vec![], |_, _, _| gives(text("x")));
    let mut agent = sends(Agent::new(Scripted::new(|_, _| says("hello")), toolbox));
    assert_eq!(sends(agent.say("hello")).await.text, "hello");
}

#[tokio::test]
async fn what_a_small_model_reads_is_small() {
    let toolbox = Shelved::new(vec![tool("s", "x", "", any())], |_, _, _| gives(text("word ".repeat(2_000))));
    let model = Scripted::new(|number, _| match number {
        0 => wants(&[("s__x", json!({}))]),
        1 => wants(&[("read_result", json!({"handle": "r1"}))]),
        _ => says("ok"),
    });
    let mut agent = Agent::new(model, toolbox.clone()).policy(allowing(&toolbox)).settings(Settings::reading(8_192));
    agent.say("go").await;
    let told = answers(agent.transcript());
    assert!(told.iter().all(|told| told.len() < 2_000), "{told:?}");
    assert!(told[1].contains("Characters 0 to 1638 of 10000"), "{}", told[1]);
}

#[tokio::test]
async fn what_a_rule_forbids_nobody_is_asked_about() {
    let toolbox = Shelved::new(vec![tool("s", "x", "", any())], |_, _, _| gives(text("x")));
    let model = Scripted::new(|number, _| if number == 0 { wants(&[("s__x", json!({}))]) } else { says("ok") });
    let policy = AskAll::default();
    policy.remember(&toolbox.tools()[0], Decision::Deny("never on production".into())).unwrap();
    let person = Somebody::new(|_| panic!("nobody is asked"));
    let mut agent = Agent::new(model, toolbox.clone()).policy(Arc::new(policy)).person(person);
    agent.say("go").await;
    assert!(toolbox.calls().is_empty());
    assert_eq!(answers(agent.transcript()), ["Not called: a rule forbids it: never on production"]);
    let by = agent.steps().into_iter().find_map(|step| match &step.what {
        What::Decided { decision, by, .. } => Some((*decision, *by)),
        _ => None,
    });
    assert_eq!(by, Some(("denied", "rule")));
}
