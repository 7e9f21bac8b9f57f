//! "Analyse the alerts of the last three days": three rounds over three servers, and what can go wrong on the way.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use doubles::{Scripted, Shelved, Somebody, answers, check, reading, says, text, tool, wants};
use serde_json::{Value, json};
use toolbay_agent::{
    Agent, Event,
    approve::ReadOnly,
    model::Ask,
    person::{Answered, Elicitation, Verdict},
    planner::{Blame, Failure},
    trace::What,
    transcript::{Message, Part},
    turn::Ended,
};

mod doubles;

const LINE: &str = "2026-11-29T04:11:00Z db-7 checkout p99=4210ms\n";

fn toolbox(bytes: usize) -> Arc<Shelved> {
    let days = json!({
        "type": "object", "properties": {"days": {"type": "integer", "minimum": 1}}, "required": ["days"],
    });
    let any = json!({"type": "object"});
    let tools = vec![
        reading(&tool("alerts", "list", "Alerts of the last days", days.clone())),
        reading(&tool("metrics", "query", "Metrics of a host", any.clone())),
        reading(&tool("metrics", "export", "All metrics", any.clone())),
        reading(&tool("commits", "log", "Commits of the last days", days)),
        tool("commits", "revert", "Reverts a commit", any.clone()),
        tool("report", "write", "Writes a report", any),
    ];
    Shelved::new(tools, move |tool, arguments, person| {
        let id = tool.id.to_string();
        Box::pin(async move {
            match id.as_str() {
                "alerts/list" => Ok(text("db-7: latency since the 29th")),
                "metrics/query" => {
                    // In the middle of its call the server asks the person.
                    let question = Elicitation::Form {
                        server: "metrics".into(),
                        message: "Which region?".into(),
                        schema: json!({"type": "object"}),
                    };
                    match person.elicit(question).await {
                        Answered::Accept(Some(filled)) => {
                            assert!(filled["region"].as_str().unwrap().starts_with("eu-west"));
                            Ok(json!({"content": [], "structuredContent": {"p99": 4210, "host": arguments["host"]}}))
                        }
                        other => panic!("{other:?}"),
                    }
                }
                "metrics/export" => Ok(text(LINE.repeat(bytes / LINE.len()))),
                "commits/log" => Err(Failure { blame: Blame::Server, what: "the connection was closed".into() }),
                "report/write" => Ok(text("written")),
                other => panic!("{other} must not be called"),
            }
        })
    })
}

fn script(number: usize, ask: &Ask<'_>) -> toolbay_agent::model::Reply {
    match number {
        0 => wants(&[("alerts__list", json!({"days": 3}))]),
        1 => wants(&[
            ("metrics__query", json!({"host": "db-7"})),
            ("metrics__export", json!({})),
            ("commits__log", json!({"days": 3})),
            ("commits__log", json!({"days": "three"})),
            ("commits__blame", json!({})),
        ]),
        2 => wants(&[
            ("read_result", json!({"handle": "r1", "find": "DB-7"})),
            ("commits__revert", json!({"commit": "abc"})),
            ("report__write", json!({"text": "db-7 is slow"})),
        ]),
        _ => {
            assert_eq!(ask.transcript.messages.len(), 7);
            says("db-7 is slow since the 29th; the commits could not be read.")
        }
    }
}

fn person() -> Arc<Somebody> {
    Somebody::new(|approval| match approval.tool.id.name.as_str() {
        "revert" => Verdict::No(Some("not on a Sunday".into())),
        "write" => Verdict::Edited([("text".to_owned(), json!("db-7 is slow. — K."))].into_iter().collect()),
        other => panic!("nobody needs to agree to {other}"),
    })
}

#[tokio::test]
async fn alerts_are_analysed_over_three_servers() {
    let (model, toolbox) = (Scripted::new(script), toolbox(31 << 20));
    let person = person();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let mut agent = Agent::new(model.clone(), toolbox.clone())
        .person(person.clone())
        .policy(Arc::new(ReadOnly::of(["alerts", "metrics", "commits"])))
        .trace_to(&path)
        .unwrap();
    let mut heard = String::new();
    let said = vec![Part::text("Analyse the alerts of the last three days.")];
    let end = agent
        .hear(said, &mut |event| match event {
            Event::Heard(toolbay_agent::model::Heard::Text(text)) => heard += text,
            Event::Heard(_) | Event::Step(_) => {}
        })
        .await;
    assert_eq!((end.why, end.text == heard), (Ended::Answered, true));
    check(agent.transcript());
    for asked in model.asked() {
        check(&asked.transcript);
        assert_eq!(asked.tools, model.asked()[0].tools, "what is shown does not change");
    }
    let told = answers(agent.transcript());
    assert_eq!(told[0], "db-7: latency since the 29th");
    assert_eq!(told[1], r#"{"p99":4210,"host":"db-7"}"#);
    let lines = (31 << 20) / LINE.len();
    assert!(told[2].len() < 3_000 && told[2].contains(&format!("{lines} lines")), "{}", told[2]);
    assert!(told[3].contains("\"commits\" could not be reached") && told[3].contains("connection was closed"));
    assert!(told[4].contains("\"three\" is not of type \"integer\"") && told[4].contains("schema"), "{}", told[4]);
    assert!(told[5].contains("no tool `commits__blame`") && told[5].contains("commits__"), "{}", told[5]);
    assert!(told[6].contains("line 1, character 21"), "{}", told[6]);
    assert_eq!(told[7], "Not called: the person said no: not on a Sunday");
    assert_eq!(told[8], "written");
    let called = ["alerts/list", "metrics/query", "metrics/export", "commits/log", "report/write"];
    assert_eq!(toolbox.calls(), called);
    assert_eq!(toolbox.calls.lock().unwrap()[4].1["text"], "db-7 is slow. — K.");
    let Message::Tools(first) = &agent.transcript().messages[2] else { panic!() };
    assert_eq!(first[0].parts[0].origin.as_ref().unwrap().server, "alerts");
    traced(&agent, &std::fs::read_to_string(&path).unwrap());
}

fn traced(agent: &Agent, lines: &str) {
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let steps = agent.steps();
    assert_eq!(steps.iter().map(|step| step.to_value()).collect::<Vec<_>>(), lines);
    let of = |word: &str| -> Vec<&Value> { lines.iter().filter(|line| line["step"] == word).collect() };
    assert_eq!((of("called").len(), of("ended").len(), of("asked").len(), of("intent").len()), (6, 6, 4, 9));
    assert_eq!((of("decided").len(), of("elicited").len(), of("done").len()), (6, 1, 1));
    assert_eq!(of("done")[0]["why"], "answered");
    let whole = lines.iter().map(Value::to_string).collect::<String>();
    assert!(!whole.contains("hunter2"), "what a person answers is nobody else's");
    assert!(whole.len() < 30_000, "{}", whole.len());
    // Each call stands there before its end, and after its decision.
    for called in of("called") {
        let ended = of("ended").into_iter().find(|ended| ended["id"] == called["id"]).unwrap();
        assert!(called["n"].as_u64() < ended["n"].as_u64());
    }
    let rounds: Vec<_> = of("called").iter().map(|line| line["round"].as_u64().unwrap()).collect();
    assert_eq!(rounds, [1, 2, 2, 2, 3, 3]);
    assert!(steps.iter().any(|step| matches!(&step.what, What::Ended { result, .. } if result.bytes > 1_000)));
}

#[tokio::test]
async fn cancelled_at_any_step_nothing_is_left_open() {
    let mut steps = 0;
    loop {
        let (model, toolbox) = (Scripted::new(script), toolbox(1 << 20));
        let mut agent = Agent::new(model.clone(), toolbox.clone())
            .person(person())
            .policy(Arc::new(ReadOnly::of(["alerts", "metrics", "commits"])));
        let canceller = agent.canceller();
        let mut heard = 0;
        let mut events = |_: Event<'_>| {
            heard += 1;
            if heard == steps {
                canceller.cancel();
            }
        };
        let end = agent.hear(vec![Part::text("go")], &mut events).await;
        check(agent.transcript());
        assert_eq!(toolbox.flying.load(std::sync::atomic::Ordering::SeqCst), 0);
        let of = |word: &str| agent.steps().iter().filter(|step| step.to_value()["step"] == word).count();
        assert_eq!((of("called"), of("done")), (of("ended"), 1), "cancelled at step {steps}");
        // Where it was never cancelled, or after all was done, there is no further step.
        if steps > 0 && end.why == Ended::Answered && heard <= steps {
            break;
        }
        steps += 1;
    }
    assert!(steps > 30, "{steps}");
}
