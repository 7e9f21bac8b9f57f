//! How a session begins and ends.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::json;
use tokio::time::timeout;
use toolbay_gateway::{
    Bay,
    limits::{Devices, Limits},
    servers::{Plan, Spec},
    sessions::{ClientUid, NoSession, SessionKey},
};
use toolbay_protocol::{Method, Raw, greeting::Device, peer::Call};
use toolbay_transport::{Connection, Principal, Running};

use crate::house::{LEGACY, MODERN, Notebook, client, note, notes, shared, try_note};

const SOON: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(60);

/// Lets time pass on the test's own clock.
async fn pass(time: Duration) {
    let _ = timeout(time, std::future::pending::<()>()).await;
}

fn with(per_user: usize) -> impl Fn(Spec) -> Spec {
    move |spec| Spec { devices: Devices { idle: IDLE, per_user }, silence: Duration::from_secs(7200), ..spec }
}

fn key(user: &str, device: &str) -> SessionKey {
    let user = if user.is_empty() { Principal::Local } else { Principal::Named(user.into()) };
    SessionKey { user, client: ClientUid::Stated(Device::parse(device).unwrap()), tool: "n".into() }
}

async fn hang(client: &Connection, notebook: &Notebook, begun: usize) -> Running {
    let call = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "n__hangs", "arguments": {}}))));
    let running = client.call(call).await.unwrap();
    let mut hanging = notebook.hanging.subscribe();
    timeout(SOON, hanging.wait_for(|(all, _)| *all == begun)).await.unwrap().unwrap();
    running
}

async fn until(what: impl Fn() -> bool) {
    let waited = async {
        while !what() {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, waited).await.expect("it comes to that");
}

fn open(bay: &Bay) -> Vec<String> {
    let name = |client: &ClientUid| match client {
        ClientUid::Stated(device) => device.as_str().to_owned(),
        ClientUid::Session(_) => "session".into(),
        ClientUid::Alone => "alone".into(),
    };
    bay.device_sessions().iter().map(|session| name(&session.key.client)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_uses_ends_and_one_in_use_does_not() {
    for revision in [LEGACY, MODERN] {
        let (bay, notebook) = shared(with(9)).await;
        let (busy, done) =
            (client(&bay, revision, "", Some("busy")).await, client(&bay, revision, "", Some("done")).await);
        assert_eq!(note(&done, "a").await, "a");
        let running = hang(&busy, &notebook, 1).await;
        pass(IDLE / 2).await;
        assert_eq!(note(&done, "b").await, "a b", "each use begins its time anew");
        pass(IDLE - Duration::from_secs(1)).await;
        assert_eq!(open(&bay), ["done", "busy"]);
        pass(Duration::from_secs(2)).await;
        assert_eq!(open(&bay), ["busy"], "a call in flight needs it");
        assert_eq!(note(&done, "c").await, "c", "what was before is forgotten");
        drop(running);
        pass(IDLE * 3).await;
        assert_eq!(open(&bay), [""; 0]);
        assert_eq!(notebook.left.load(Ordering::SeqCst), 3, "so are their sessions at the server");
        bay.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_device_that_was_idle_for_longest_makes_room_and_one_in_use_does_not() {
    let (bay, notebook) = shared(with(2)).await;
    let mut devices = vec![];
    for device in ["a", "b", "c"] {
        devices.push(client(&bay, LEGACY, "ada", Some(device)).await);
    }
    let other = client(&bay, LEGACY, "bob", Some("a")).await;
    assert_eq!(note(&other, "bob").await, "bob");
    assert_eq!(note(&devices[0], "a").await, "a");
    pass(Duration::from_secs(1)).await;
    assert_eq!(note(&devices[1], "b").await, "b");
    pass(Duration::from_secs(1)).await;
    assert_eq!(note(&devices[0], "a").await, "a a");
    assert_eq!(note(&devices[2], "c").await, "c", "b makes room");
    assert_eq!(open(&bay), ["a", "a", "c"]);
    assert_eq!(notes(&other).await, "bob", "nobody else's does");
    let running = (hang(&devices[0], &notebook, 1).await, hang(&devices[2], &notebook, 2).await);
    let error = try_note(&devices[1], None, json!({})).await.unwrap_err();
    assert!(error.message.contains("limit `devicesPerUser`"), "{error}");
    let error = bay.set_session(&key("ada", "d"), json!(1)).unwrap_err();
    assert_eq!(error, NoSession::Full(2));
    drop(running);
    timeout(SOON, notebook.hanging.subscribe().wait_for(|(_, ended)| *ended == 2)).await.unwrap().unwrap();
    until(|| bay.set_session(&key("ada", "d"), json!(1)).is_ok()).await;
}

#[tokio::test]
async fn a_device_says_goodbye_with_the_last_session_that_used_it() {
    let (bay, notebook) = shared(with(9)).await;
    let [first, second] = [client(&bay, LEGACY, "", Some("x")).await, client(&bay, LEGACY, "", Some("x")).await];
    let nameless = client(&bay, LEGACY, "", None).await;
    let both = client(&bay, LEGACY, "", Some("y")).await;
    let modern = client(&bay, MODERN, "", Some("y")).await;
    for one in [&first, &second, &nameless, &both, &modern] {
        note(one, "a").await;
    }
    assert_eq!(open(&bay), ["x", "session", "y"]);
    first.close().await;
    nameless.close().await;
    both.close().await;
    until(|| open(&bay) == ["x", "y"]).await;
    assert_eq!(notes(&second).await, "a a");
    second.close().await;
    until(|| open(&bay) == ["y"]).await;
    assert_eq!(notes(&modern).await, "a a", "requests that stand alone say no goodbye");
    until(|| notebook.left.load(Ordering::SeqCst) == 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_is_known_by_its_key_and_cleared_when_its_calls_have_ended() {
    let (bay, notebook) = shared(with(9)).await;
    let (one, key) = (client(&bay, LEGACY, "ada", Some("laptop")).await, key("ada", "laptop"));
    assert!(bay.get_session(&key).is_none());
    let set = bay.set_session(&key, json!({"label": "Ada's laptop"})).unwrap();
    assert!(!set.connected);
    assert_eq!(note(&one, "a").await, "a");
    let known = bay.get_session(&key).unwrap();
    assert!(known.connected && known.number == set.number && known.data == Some(json!({"label": "Ada's laptop"})));
    let opened = notebook.opened.load(Ordering::SeqCst);

    let mut running = hang(&one, &notebook, 1).await;
    assert_eq!(bay.clear_session(&key).unwrap().number, known.number);
    assert!(bay.get_session(&key).is_none() && bay.clear_session(&key).is_none());
    assert_eq!(note(&one, "b").await, "b", "what comes after it begins anew");
    pass(Duration::from_secs(10)).await;
    assert_eq!(notebook.left.load(Ordering::SeqCst), 0, "the call in flight goes on");
    assert_eq!(notebook.opened.load(Ordering::SeqCst), opened + 1);
    assert!(bay.get_session(&key).unwrap().data.is_none());
    pass(Limits::default().drain).await;
    let failed = running.step().await;
    assert!(format!("{failed:?}").contains("lost"), "after a while it is told that it cannot: {failed:?}");
    assert_eq!(notebook.left.load(Ordering::SeqCst), 1);
    assert_eq!(notes(&one).await, "b");
    bay.close().await;
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused() {
    let (bay, _) = shared(with(9)).await;
    let unknown = SessionKey { tool: "nobody".into(), ..key("", "a") };
    assert!(matches!(bay.set_session(&unknown, json!(1)), Err(NoSession::Unknown(_))));
    assert!(matches!(bay.set_session(&key("", "a"), json!("x".repeat(70_000))), Err(NoSession::TooLarge(_))));
    let (bay, _) = shared(|spec| Spec { isolation: Default::default(), ..spec }).await;
    assert!(matches!(bay.set_session(&key("", "a"), json!(1)), Err(NoSession::Shared(_))));
}

#[tokio::test]
async fn a_server_that_is_disabled_or_taken_out_forgets_its_devices() {
    for disables in [true, false] {
        let (bay, notebook) = shared(with(9)).await;
        let one = client(&bay, LEGACY, "", Some("laptop")).await;
        assert_eq!(note(&one, "a").await, "a");
        let spec = with(9)(Spec::embedded("n", Arc::clone(&notebook)));
        let off = Spec { plan: Plan::Disabled, written: None, ..spec };
        // Servers of our own are changed by being taken out.
        bay.reload(vec![], Limits::default());
        if disables {
            bay.reload(vec![off], Limits::default());
            assert!(matches!(bay.set_session(&key("", "laptop"), json!(1)), Err(NoSession::Unknown(_))));
        }
        until(|| bay.device_sessions().is_empty()).await;
        until(|| notebook.left.load(Ordering::SeqCst) == 2).await;
        assert!(try_note(&one, None, json!({})).await.is_err());
        bay.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_does_not_rest_while_a_device_has_a_session() {
    let rest = Duration::from_secs(10);
    let (bay, _) = shared(|spec| Spec { rest, ..with(9)(spec) }).await;
    let one = client(&bay, LEGACY, "", Some("laptop")).await;
    assert_eq!(note(&one, "a").await, "a");
    pass(rest * 3).await;
    assert_eq!(note(&one, "b").await, "a b");
    pass(IDLE + rest * 3).await;
    assert!(matches!(bay.status()[0].phase, toolbay_gateway::servers::Phase::Resting { .. }), "{:?}", bay.status());
    assert_eq!(note(&one, "c").await, "c", "and it is started again");
}
