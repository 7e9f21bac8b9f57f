//! Who is told apart from whom.

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    config::{Endpoint, Isolation, Remote},
    servers::{Plan, Spec, endpoint},
    sessions::ClientUid,
};
use toolbay_protocol::{Method, Raw, peer::Call};

use crate::house::{By, LEGACY, MODERN, bay, client, listen, note, notes, over_http, shared, spec, try_note};

#[tokio::test]
async fn two_devices_of_one_user_never_see_each_others_state() {
    let end = CancellationToken::new();
    for (by, up) in [(By::Program, LEGACY), (By::Program, MODERN), (By::Session, LEGACY), (By::Device, MODERN)] {
        for down in [LEGACY, MODERN] {
            let bay = bay(spec(by, up, &end).await).await;
            let url = listen(std::sync::Arc::new(bay.clone()), &end).await;
            let what = format!("{by:?} {up} for {down}");
            let laptop = client(&bay, down, "", Some("laptop")).await;
            let phone = client(&bay, down, "", Some("phone")).await;
            assert_eq!(note(&laptop, "a").await, "a", "{what}");
            assert_eq!(note(&phone, "b").await, "b", "{what}");
            assert_eq!(note(&laptop, "c").await, "a c", "{what}: what it noted itself is there");
            // The same ones, who say so in a header.
            let (far_laptop, far_phone) = (over_http(&url, down, "laptop").await, over_http(&url, down, "phone").await);
            assert_eq!(note(&far_laptop, "d").await, "a c d", "{what}: one device, whichever way it comes");
            assert_eq!(notes(&far_phone).await, "b", "{what}");
            assert_eq!(bay.device_sessions().len(), 2, "{what}");
            bay.close().await;
        }
    }
    end.cancel();
}

#[tokio::test]
async fn a_device_is_believed_among_those_of_its_user_alone() {
    let (bay, _) = shared(|spec| spec).await;
    let mut open = vec![];
    for revision in [LEGACY, MODERN] {
        for user in ["", "ada", "bob"] {
            let one = client(&bay, revision, user, Some("laptop")).await;
            let expected = if revision == LEGACY { user.to_owned() } else { format!("{user} {user}") };
            assert_eq!(note(&one, user).await, expected, "{user:?} {revision}");
            open.push(one);
        }
    }
    assert_eq!(bay.device_sessions().len(), 3);
}

#[tokio::test]
async fn a_session_stands_in_for_a_device_and_requests_that_stand_alone_are_one() {
    let (bay, _) = shared(|spec| spec).await;
    let (first, second) = (client(&bay, LEGACY, "ada", None).await, client(&bay, LEGACY, "ada", None).await);
    assert_eq!((note(&first, "a").await, note(&second, "b").await), ("a".into(), "b".into()));
    let (third, fourth) = (client(&bay, MODERN, "ada", None).await, client(&bay, MODERN, "ada", None).await);
    assert_eq!((note(&third, "c").await, note(&fourth, "d").await), ("c".into(), "c d".into()));
    let other = client(&bay, MODERN, "bob", None).await;
    assert_eq!(note(&other, "e").await, "e");
    let alone = bay.device_sessions().iter().filter(|session| session.key.client == ClientUid::Alone).count();
    assert_eq!((bay.device_sessions().len(), alone), (4, 2));
}

#[tokio::test]
async fn one_request_of_a_session_may_be_another_devices() {
    let (bay, notebook) = shared(|spec| spec).await;
    let one = client(&bay, LEGACY, "", Some("laptop")).await;
    let phone = json!({"io.toolbay/client": "phone", "own": 1});
    assert_eq!(note(&one, "a").await, "a");
    assert_eq!(try_note(&one, Some("b"), phone.clone()).await.unwrap(), "b");
    assert_eq!(*notebook.meta.lock().unwrap(), json!({"own": 1}), "what was said of the device is not passed on");
    assert_eq!(try_note(&one, Some("c"), phone).await.unwrap(), "b c");
    assert_eq!(notes(&one).await, "a");
}

#[tokio::test]
async fn what_is_no_device_is_refused() {
    let (bay, _) = shared(|spec| spec).await;
    let one = client(&bay, LEGACY, "", None).await;
    for wrong in [json!(""), json!(7), json!("x".repeat(129)), json!("a\nb")] {
        let error = try_note(&one, None, json!({"io.toolbay/client": wrong})).await.unwrap_err();
        assert!(error.code == -32602 && error.message.contains("toolbay-client"), "{wrong}: {error}");
    }
    let end = CancellationToken::new();
    let url = listen(std::sync::Arc::new(bay.clone()), &end).await;
    for revision in [LEGACY, MODERN] {
        let far = over_http(&url, revision, "laptop").await;
        let params = json!({"name": "n__note", "arguments": {}, "_meta": {"io.toolbay/client": "phone"}});
        let error = far.request(Call::new(Method::ToolsCall, Some(Raw::of(&params)))).await.unwrap().unwrap_err();
        assert!(error.message.contains("two devices"), "{revision}: {error}");
    }
    assert_eq!(bay.device_sessions().len(), 0);
    end.cancel();
}

#[tokio::test]
async fn no_other_isolation_looks_at_devices() {
    let (bay, _) = shared(|spec| Spec { isolation: Default::default(), ..spec }).await;
    let (laptop, phone) =
        (client(&bay, LEGACY, "", Some("laptop")).await, client(&bay, MODERN, "", Some("phone")).await);
    assert_eq!((note(&laptop, "a").await, note(&phone, "b").await), ("a".into(), "a b".into()));
    let odd = json!({"io.toolbay/client": 7});
    assert_eq!(try_note(&laptop, None, odd).await.unwrap(), "a b");
    assert!(bay.device_sessions().is_empty() && bay.status()[0].devices.is_none());
}

#[tokio::test]
async fn a_bay_behind_a_bay_tells_users_and_devices_apart_that_it_knows_nothing_of() {
    let end = CancellationToken::new();
    for revision in [LEGACY, MODERN] {
        let (inner, _) = shared(|spec| spec).await;
        let url = listen(std::sync::Arc::new(inner.clone()), &end).await;
        let plan = Plan::Connect(endpoint(Endpoint::Http(Remote::bare(url))));
        let spec = Spec { revision: Some(revision), ..Spec::planned("far", "http", plan) };
        let outer = bay(Spec { isolation: Isolation::PerDevice, ..spec }).await;
        for (user, device) in [("ada", Some("laptop")), ("bob", Some("laptop")), ("ada", Some("phone")), ("ada", None)]
        {
            let one = client(&outer, revision, user, device).await;
            let params = Raw::of(&json!({"name": "far__n__note", "arguments": {"text": "x"}}));
            let result = one.request(Call::new(Method::ToolsCall, Some(params))).await.unwrap().unwrap();
            assert!(result.as_str().contains("\"x\""), "{user} {device:?} {revision}: {result:?}");
            // Its session there goes with it.
            one.close().await;
        }
        outer.close().await;
        inner.close().await;
    }
    end.cancel();
}
