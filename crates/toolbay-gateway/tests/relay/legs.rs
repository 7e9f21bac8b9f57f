//! Which connections a server is called over, and what it is told on them.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout},
};
use toolbay_gateway::{
    Bay,
    config::Isolation,
    limits::Limits,
    servers::{Connector, Phase, Plan, Spec, embedded},
};
use toolbay_protocol::{
    Feature, Method, Raw, Revision,
    exchange::{Level, Note, Step, Wishes},
    peer::Call,
    watch::Filter,
};

use crate::seen::{Seen, ask, bay, call, client, who};

const LEGACY: Revision = Revision::LATEST_LEGACY;
const SOON: Duration = Duration::from_secs(10);

fn same(spec: Spec) -> Spec {
    spec
}

/// Lets time pass on the test's own clock.
async fn pass(time: Duration) {
    let _ = timeout(time, std::future::pending::<()>()).await;
}

#[tokio::test]
async fn a_server_is_told_what_its_caller_declared_and_no_more() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, LEGACY, same).await;
    assert_eq!(seen.declared(), ["{}"], "lists need nothing of anybody");
    for revision in [Revision::LATEST, LEGACY, Revision::V2024_11_05] {
        let (plain, _) = client(&bay, revision, "", json!({})).await;
        assert_eq!(who(&plain).await, (json!(0), json!({})), "{revision}");
    }
    let (asked, _) = client(&bay, LEGACY, "", json!({"elicitation": {}, "roots": {"listChanged": true}})).await;
    let told = json!({"roots": {"listChanged": true}, "elicitation": {}});
    assert_eq!(who(&asked).await, (json!(1), told.clone()));
    let (again, _) = client(&bay, LEGACY, "", json!({"elicitation": {}, "roots": {"listChanged": true}})).await;
    assert_eq!(who(&again).await, (json!(1), told), "two sessions of one user that declare the same share");
    let (modern, _) = client(&bay, Revision::LATEST, "", json!({"sampling": {}})).await;
    assert_eq!(who(&modern).await, (json!(2), json!({"sampling": {}})));
    let (old, _) = client(&bay, Revision::V2024_11_05, "", json!({"sampling": {}, "elicitation": {}})).await;
    assert_eq!(who(&old).await, (json!(2), json!({"sampling": {}})), "an old client cannot mean what it does not know");
    assert_eq!(seen.opened(), 3);
    bay.close().await;
    assert_eq!(seen.left.load(Ordering::SeqCst), 3, "none outlives the bay");
}

#[tokio::test]
async fn a_stateless_server_has_one_connection_and_hears_with_each_request_what_its_caller_declared() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, Revision::LATEST, same).await;
    let check = async |revision, capabilities: Value, expected: Value| {
        let (one, _) = client(&bay, revision, "somebody", capabilities).await;
        assert_eq!(who(&one).await, (json!(null), expected), "{revision}");
    };
    let ui =
        json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}, "x": 1});
    check(Revision::LATEST, ui.clone(), ui).await;
    check(LEGACY, json!({"roots": {"listChanged": true}, "tasks": {"list": {}}}), json!({"roots": {}})).await;
    check(Revision::V2025_03_26, json!({"elicitation": {}}), json!({})).await;
    assert_eq!(seen.opened(), 0, "no session at all");
}

#[tokio::test]
async fn no_connection_is_shared_between_users() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, LEGACY, same).await;
    let mut sessions = vec![];
    for principal in ["", "ada", "bob", "ada"] {
        for revision in [LEGACY, Revision::LATEST] {
            let (one, _) = client(&bay, revision, principal, json!({})).await;
            sessions.push(who(&one).await.0);
        }
    }
    assert_eq!(sessions, [0, 0, 1, 1, 2, 2, 1, 1].map(|place| json!(place)));
}

#[tokio::test]
async fn a_session_may_have_a_connection_of_its_own_that_ends_with_it() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, LEGACY, |spec| Spec { isolation: Isolation::PerSession, ..spec }).await;
    let (first, _) = client(&bay, LEGACY, "", json!({})).await;
    let (second, _) = client(&bay, LEGACY, "", json!({})).await;
    let (modern, _) = client(&bay, Revision::LATEST, "", json!({})).await;
    assert_eq!((who(&first).await.0, who(&second).await.0), (json!(1), json!(2)));
    assert_eq!((who(&first).await.0, who(&modern).await.0), (json!(1), json!(0)));
    first.close().await;
    let gone = async {
        while seen.left.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, gone).await.expect("its connection ends");
    assert_eq!(who(&second).await.0, json!(2));
}

#[tokio::test]
async fn a_shared_server_has_one_connection_and_can_ask_nobody() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, LEGACY, |spec| Spec { isolation: Isolation::Shared, ..spec }).await;
    for principal in ["ada", "bob"] {
        let (one, _) = client(&bay, LEGACY, principal, json!({"sampling": {}})).await;
        assert_eq!(who(&one).await, (json!(0), json!({})));
        let said = call(&one, "samples").await.unwrap().to_string();
        assert!(said.contains("Err"), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_nobody_needs_is_closed_and_one_in_use_is_not() {
    let seen = Arc::<Seen>::default();
    let idle = Duration::from_secs(30);
    let bay = bay(&seen, LEGACY, |spec| Spec { idle, silence: Duration::from_secs(3600), ..spec }).await;
    let (busy, _) = client(&bay, LEGACY, "", json!({"roots": {}})).await;
    let (watching, _) = client(&bay, LEGACY, "", json!({"sampling": {}})).await;
    let (done, _) = client(&bay, LEGACY, "", json!({"elicitation": {}})).await;
    let subscribed = watching.subscribe(Filter::resource("test://r")).await.unwrap();
    let hangs = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__hangs"}))));
    let running = busy.call(hangs).await.unwrap();
    seen.hanging.subscribe().wait_for(|(begun, _)| *begun == 1).await.unwrap();
    assert!(call(&done, "who").await.is_ok());
    assert_eq!(seen.opened(), 4);
    pass(idle * 3).await;
    assert_eq!(seen.left.load(Ordering::SeqCst), 1, "only the one that is done");
    assert!(call(&done, "who").await.is_ok(), "it is opened again when it is needed");
    assert_eq!(seen.opened(), 5);
    drop((running, subscribed));
    pass(idle * 3).await;
    assert_eq!(seen.left.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn too_many_connections_are_refused_and_the_limit_is_named() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, LEGACY, |spec| Spec { connections: 1, ..spec }).await;
    let (busy, _) = client(&bay, LEGACY, "ada", json!({})).await;
    let (late, _) = client(&bay, LEGACY, "bob", json!({})).await;
    let hangs = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__hangs"}))));
    let running = busy.call(hangs).await.unwrap();
    seen.hanging.subscribe().wait_for(|(begun, _)| *begun == 1).await.unwrap();
    let error = call(&late, "who").await.unwrap_err();
    assert!(error.message.contains("limit `connections`"), "{error}");
    drop(running);
    seen.hanging.subscribe().wait_for(|(_, ended)| *ended == 1).await.unwrap();
    let makes_room = async {
        while call(&late, "who").await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, makes_room).await.expect("one that nobody uses makes room");
}

/// The levels of the lines that a call of `logs` brought.
async fn logged(one: &toolbay_transport::Connection, level: Option<&str>) -> Vec<String> {
    let wishes = Wishes { progress: None, log_level: level.map(Into::into) };
    let call = Call { wishes, ..Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__logs"})))) };
    let mut running = one.call(call).await.unwrap();
    let mut lines = vec![];
    loop {
        match running.step().await.unwrap() {
            Step::Note(note) => lines.push(crate::script::text(&note.params.unwrap(), "data")),
            Step::Done(outcome) => {
                outcome.unwrap();
                return lines;
            }
            Step::Away(_) | Step::Withdrawn(_) | Step::Ask(_) => panic!("nothing is asked"),
        }
    }
}

#[tokio::test]
async fn each_hears_the_lines_that_it_wants() {
    for up in Revision::ALL {
        for down in [LEGACY, Revision::V2024_11_05] {
            let bay = bay(&Arc::default(), up, same).await;
            let (one, _) = client(&bay, down, "", json!({})).await;
            let default: &[&str] = if up.has(Feature::Stateless) { &[] } else { &["debug", "info", "error"] };
            assert_eq!(logged(&one, None).await, default, "{down} {up}");
            ask(&one, Method::SetLevel, json!({"level": "error"})).await.unwrap();
            assert_eq!(logged(&one, None).await, ["error"], "{down} {up}");
            ask(&one, Method::SetLevel, json!({"level": "info"})).await.unwrap();
            assert_eq!(logged(&one, None).await, ["info", "error"], "{down} {up}");
            one.close().await;
        }
        let bay = bay(&Arc::default(), up, same).await;
        let (modern, _) = client(&bay, Revision::LATEST, "", json!({})).await;
        assert_eq!(logged(&modern, None).await, [""; 0], "{up}");
        assert_eq!(logged(&modern, Some("debug")).await, ["debug", "info", "error"], "{up}");
        assert_eq!(logged(&modern, Some("warning")).await, ["error"], "{up}");
    }
}

#[tokio::test]
async fn a_server_is_asked_for_the_most_verbose_level_that_those_want_who_share_it() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, LEGACY, same).await;
    let (first, _) = client(&bay, LEGACY, "", json!({})).await;
    let (second, _) = client(&bay, LEGACY, "", json!({})).await;
    let (other, _) = client(&bay, LEGACY, "ada", json!({})).await;
    let set = async |one, level: &str| ask(one, Method::SetLevel, json!({"level": level})).await.unwrap();
    set(&first, "error").await;
    set(&second, "debug").await;
    set(&second, "critical").await;
    set(&other, "alert").await;
    assert_eq!(*seen.levels.lock().unwrap(), ["info", "debug", "error"], "who said nothing is content with `info`");
    assert!(call(&other, "who").await.is_ok());
    assert_eq!(seen.levels.lock().unwrap().last().unwrap(), "alert", "a connection begins with what is wanted of it");
    assert!(Level::parse("alert").is_some_and(|level| level.as_str() == "alert"));
}

#[tokio::test]
async fn what_belongs_to_no_call_reaches_the_sessions_that_share_its_connection() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, LEGACY, same).await;
    let (mine, heard) = client(&bay, LEGACY, "", json!({"roots": {}})).await;
    let (quiet, quietly) = client(&bay, LEGACY, "", json!({"roots": {}})).await;
    let (other, elsewhere) = client(&bay, LEGACY, "ada", json!({"roots": {}})).await;
    for one in [&mine, &quiet, &other] {
        who(one).await;
    }
    ask(&quiet, Method::SetLevel, json!({"level": "error"})).await.unwrap();
    ask(&mine, Method::SetLevel, json!({"level": "debug"})).await.unwrap();
    seen.say_in(1, "info", "for the first");
    seen.say_in(1, "error", "for both");
    let mut lines = heard.0.subscribe();
    timeout(SOON, lines.wait_for(|lines| lines.len() == 2)).await.expect("it hears both").unwrap();
    let mut lines = quietly.0.subscribe();
    timeout(SOON, lines.wait_for(|lines| *lines == ["for both"])).await.expect("it hears one").unwrap();
    seen.say_in(2, "error", "for ada");
    let mut lines = elsewhere.0.subscribe();
    timeout(SOON, lines.wait_for(|lines| *lines == ["for ada"])).await.expect("it hears its own").unwrap();
    assert_eq!(heard.0.borrow().len(), 2);
}

#[tokio::test]
async fn changed_roots_are_told_to_the_servers_that_know_of_roots() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, LEGACY, same).await;
    let (one, _) = client(&bay, LEGACY, "", json!({"roots": {"listChanged": true}})).await;
    let (other, _) = client(&bay, LEGACY, "", json!({"roots": {}})).await;
    who(&one).await;
    who(&other).await;
    one.tell(Note { method: Method::RootsChanged, params: None }).await.unwrap();
    who(&one).await;
    let told = async {
        while seen.roots_changed.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, told).await.expect("it is told");
    assert_eq!(seen.roots_changed.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn each_caller_sees_what_its_own_connection_offers() {
    let seen = Arc::new(Seen { special: true, ..Seen::default() });
    let bay = bay(&seen, LEGACY, same).await;
    let (plain, _) = client(&bay, LEGACY, "", json!({})).await;
    let (able, _) = client(&bay, LEGACY, "", json!({"sampling": {}})).await;
    let (ada, _) = client(&bay, Revision::LATEST, "ada", json!({"sampling": {}})).await;
    let count = async |one| {
        let list = ask(one, Method::ToolsList, json!({})).await.unwrap();
        list["tools"].as_array().unwrap().len()
    };
    for one in [&able, &ada] {
        who(one).await;
        let listed = async {
            while count(one).await < 8 {
                tokio::task::yield_now().await;
            }
        };
        timeout(SOON, listed).await.expect("its own list is shown");
        assert!(call(one, "special").await.is_ok());
    }
    let told: Vec<_> = bay.reports().into_iter().filter(|report| report.what.contains("rotten")).collect();
    assert_eq!(told.len(), 1, "what is wrong with it on a connection of a caller's own is told, once: {told:?}");
    assert_eq!(count(&plain).await, 7);
    assert!(call(&plain, "special").await.unwrap_err().message.contains("unknown tool"), "hidden is refused");
}

#[tokio::test]
async fn a_callers_first_list_and_first_call_know_what_is_offered_to_it() {
    for revision in [LEGACY, Revision::LATEST] {
        let seen = Arc::new(Seen { special: true, ..Seen::default() });
        let bay = bay(&seen, LEGACY, same).await;
        for user in ["", "ada"] {
            let (lists, _) = client(&bay, revision, user, json!({"sampling": {}})).await;
            let tools = ask(&lists, Method::ToolsList, json!({})).await.unwrap();
            assert_eq!(tools["tools"].as_array().unwrap().len(), 8, "{revision} {user:?}");
        }
        let (calls, _) = client(&bay, revision, "bea", json!({"sampling": {}})).await;
        assert!(call(&calls, "special").await.is_ok(), "{revision}");
        let (plain, _) = client(&bay, revision, "eve", json!({"roots": {}})).await;
        assert!(call(&plain, "special").await.unwrap_err().message.contains("unknown tool"), "hidden is refused");
    }
}

#[tokio::test]
async fn no_connection_is_opened_to_list_what_is_known_to_be_the_same_for_all() {
    let seen = Arc::<Seen>::default();
    let bay = bay(&seen, LEGACY, same).await;
    for user in ["", "ada", "bea"] {
        let (one, _) = client(&bay, LEGACY, user, json!({"sampling": {}})).await;
        ask(&one, Method::ToolsList, json!({})).await.unwrap();
        assert_eq!(seen.opened(), 2, "{user:?}");
    }
    let (plain, _) = client(&bay, LEGACY, "", json!({})).await;
    ask(&plain, Method::ToolsList, json!({})).await.unwrap();
    assert_eq!(seen.opened(), 2, "who declares nothing is offered what is offered to all");
}

#[tokio::test(start_paused = true)]
async fn what_a_connection_offered_is_still_there_when_it_was_closed() {
    let seen = Arc::new(Seen { special: true, ..Seen::default() });
    let idle = Duration::from_secs(30);
    let bay = bay(&seen, LEGACY, |spec| Spec { idle, ..spec }).await;
    let (able, _) = client(&bay, LEGACY, "", json!({"sampling": {}})).await;
    who(&able).await;
    pass(Duration::from_secs(1)).await;
    assert!(call(&able, "special").await.is_ok());
    pass(idle * 3).await;
    assert_eq!((seen.opened(), seen.left.load(Ordering::SeqCst)), (2, 1));
    let tools = ask(&able, Method::ToolsList, json!({})).await.unwrap();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 8);
    assert!(call(&able, "special").await.is_ok(), "it is opened again");
    assert_eq!(seen.opened(), 3);
}

/// Waits until the only server rests.
async fn rests(bay: &Bay) {
    let mut moves = bay.moves();
    while !matches!(bay.status()[0].phase, Phase::Resting { .. }) {
        timeout(Duration::from_secs(3600), moves.changed()).await.expect("it rests").unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_callers_own_connection_offered_is_offered_on_while_its_server_rests() {
    let seen = Arc::new(Seen { special: true, ..Seen::default() });
    let bay = bay(&seen, LEGACY, |spec| Spec { rest: Duration::from_secs(30), ..spec }).await;
    let (able, _) = client(&bay, LEGACY, "", json!({"sampling": {}})).await;
    let (plain, _) = client(&bay, LEGACY, "", json!({})).await;
    let count = async |one| ask(one, Method::ToolsList, json!({})).await.unwrap()["tools"].as_array().unwrap().len();
    assert_eq!((count(&able).await, count(&plain).await), (8, 7));
    rests(&bay).await;
    assert_eq!((count(&able).await, count(&plain).await), (8, 7));
    assert_eq!(seen.opened(), 2, "nothing was started for it");
    assert!(call(&able, "special").await.is_ok(), "it is opened again, and offers that");
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_list_opens_at_a_server_that_rests_comes_to_rest_again() {
    let seen = Arc::new(Seen { special: true, ..Seen::default() });
    let bay = bay(&seen, LEGACY, |spec| Spec { rest: Duration::from_secs(30), ..spec }).await;
    rests(&bay).await;
    let (able, _) = client(&bay, LEGACY, "", json!({"sampling": {}})).await;
    let tools = ask(&able, Method::ToolsList, json!({})).await.unwrap();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 8);
    pass(Duration::from_secs(120)).await;
    rests(&bay).await;
    assert_eq!(seen.opened(), seen.left.load(Ordering::SeqCst), "nothing is left running");
    bay.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_of_a_callers_own_that_hangs_is_waited_for_once() {
    let seen = Arc::new(Seen { special: true, ..Seen::default() });
    let let_go = Arc::new(Semaphore::new(0));
    let hangs: Connector = {
        let (seen, let_go) = (Arc::clone(&seen), Arc::clone(&let_go));
        Arc::new(move |approach| {
            let (seen, let_go) = (Arc::clone(&seen), Arc::clone(&let_go));
            Box::pin(async move {
                // The first is the server's own.
                if seen.opened() > 0 {
                    let _ = let_go.acquire().await;
                }
                embedded(seen)(approach).await
            })
        })
    };
    let startup = Duration::from_secs(3600);
    let bay = bay(&seen, LEGACY, |spec| Spec { plan: Plan::Connect(Arc::clone(&hangs)), startup, ..spec }).await;
    let (able, _) = client(&bay, LEGACY, "", json!({"sampling": {}})).await;
    let list = async || {
        let begun = Instant::now();
        let tools = ask(&able, Method::ToolsList, json!({})).await.unwrap();
        (tools["tools"].as_array().unwrap().len(), begun.elapsed().as_secs())
    };
    assert_eq!(list().await, (7, Limits::default().settle.as_secs()));
    assert_eq!(list().await, (7, 0));
    assert_eq!(list().await, (7, 0));
    let_go.add_permits(1);
    let up = async {
        while list().await != (8, 0) {
            pass(Duration::from_millis(1)).await;
        }
    };
    timeout(SOON, up).await.expect("it is up, and listed");
    bay.close().await;
}
