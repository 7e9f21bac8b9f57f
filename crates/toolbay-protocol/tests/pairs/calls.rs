//! Lists, calls, reads, progress, log lines and errors, across every pair of revisions.

use serde_json::{Value, json};
use toolbay_protocol::{ErrorObject, Feature, Method, Raw, Revision, fault::code, peer::Call};
use toolbay_testkit::{Act, Host, Service, Trio};

use super::{each_pair, tool};

/// Plays one call across the bridge and hands out how it ended.
fn outcome(trio: &mut Trio, service: &mut Service, method: Method, params: Value) -> Result<Raw, ErrorObject> {
    let mut host = Host::default();
    let call = trio.call(Call::new(method, Some(Raw::of(&params))));
    trio.play(&mut host, service);
    assert_eq!(host.outcomes(call).len(), 1);
    host.outcomes(call)[0].clone()
}

// Rule 193.
#[test]
fn everything_listed_and_called_arrives_in_the_callers_revision() {
    each_pair(|caller, callee| {
        let (mut trio, mut service) = (Trio::open(caller, callee).unwrap(), Service::default());
        let mut check = |method: Method, params: Value, key: &str| {
            let result = outcome(&mut trio, &mut service, method.clone(), params).unwrap();
            assert!(result.get(key).is_some(), "{caller} to {callee}: {method} gives {result:?}");
            assert_eq!(result.get("resultType").is_some(), caller.has(Feature::ResultType));
            assert_eq!(result.get("ttlMs").is_some(), caller.has(Feature::CacheHints) && method.is_cacheable());
        };
        check(Method::ToolsList, json!({}), "tools");
        check(Method::PromptsList, json!({}), "prompts");
        check(Method::ResourcesList, json!({"cursor": ""}), "resources");
        check(Method::TemplatesList, json!({}), "resourceTemplates");
        check(Method::ToolsCall, json!({"name": "echo", "arguments": {"n": 1.50}}), "content");
        check(Method::PromptsGet, json!({"name": "echo", "arguments": {"n": "1"}}), "messages");
        check(Method::ResourcesRead, json!({"uri": "mem:echo"}), "contents");
        let complete = json!({"ref": {"type": "ref/prompt", "name": "echo"}, "argument": {"name": "n", "value": "o"}});
        check(Method::Complete, complete, "completion");
        trio.assert_clean(&mut Host::default(), &mut service);
    });
}

// Rules 9, 10, 129, 140 and 141: an error is what the caller's revision calls it.
#[test]
fn errors_are_named_as_the_caller_knows_them() {
    let lost = ErrorObject::new(code::URL_ELICITATION_REQUIRED, "go there first");
    let capability = ErrorObject::new(code::MISSING_CAPABILITY, "you cannot");
    let own = ErrorObject::new(42, "ours").with_data(&json!({"deep": 1.50}));
    each_pair(|caller, callee| {
        let service = Service::default().with("url", vec![Act::Fail(lost.clone())]);
        let service = service.with("capability", vec![Act::Fail(capability.clone())]);
        let (mut trio, mut service) =
            (Trio::open(caller, callee).unwrap(), service.with("own", vec![Act::Fail(own.clone())]));
        let mut check = |method: Method, params: Value, expected: &[i64]| {
            let error = outcome(&mut trio, &mut service, method, params.clone()).unwrap_err();
            assert!(expected.contains(&error.code), "{caller} to {callee}: {params}: {error}");
            error
        };
        let named = |name: &str| json!({"name": name});
        check(Method::ToolsCall, named("no such tool"), &[code::INVALID_PARAMS]);
        check(Method::PromptsGet, named("no such prompt"), &[code::INVALID_PARAMS]);
        // A modern callee's −32602 may mean either, so a legacy caller may be told either.
        let not_found = match (caller.has(Feature::Handshake), callee.has(Feature::Handshake)) {
            (true, true) => &[code::RESOURCE_NOT_FOUND][..],
            (true, false) => &[code::RESOURCE_NOT_FOUND, code::INVALID_PARAMS],
            (false, _) => &[code::INVALID_PARAMS],
        };
        check(Method::ResourcesRead, json!({"uri": "mem:no such"}), not_found);
        let ids = caller.has(Feature::ElicitationIds) && callee.has(Feature::ElicitationIds);
        let url = if ids { code::URL_ELICITATION_REQUIRED } else { code::INVALID_PARAMS };
        check(Method::ToolsCall, named("url"), &[url]);
        let both = caller.has(Feature::Stateless) && callee.has(Feature::Stateless);
        let capability = if both { code::MISSING_CAPABILITY } else { code::INVALID_PARAMS };
        check(Method::ToolsCall, named("capability"), &[capability]);
        let kept = check(Method::ToolsCall, named("own"), &[42]);
        assert_eq!(format!("{:?}", kept.data.unwrap()), r#"{"deep":1.5}"#);
        let failing = outcome(&mut trio, &mut service, Method::ToolsCall, named("fail")).unwrap();
        assert_eq!(failing.get("isError"), Some(Raw::of(&true)));
        trio.assert_clean(&mut Host::default(), &mut service);
    });
}

// Rules 113 and 198.
#[test]
fn progress_reaches_whoever_gave_a_token_and_nobody_else() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        let wanting = trio.call(tool("progress"));
        let silent = trio.call(Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "progress"})))));
        trio.play(&mut host, &mut service);
        service.go_on("progress", &mut trio.back.server);
        trio.play(&mut host, &mut service);
        let wordy = caller.has(Feature::ProgressMessage) && callee.has(Feature::ProgressMessage);
        let told = if wordy { ["progress 1.0 one", "progress 2.0 two"] } else { ["progress 1.0", "progress 2.0"] };
        let story = [told[0], told[1], "done {\"of\":\"progress\"}"];
        assert_eq!(host.story(wanting), story, "{caller} to {callee}");
        assert_eq!(host.story(silent), ["done"], "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}

// Rules 114 and 115.
#[test]
fn log_lines_reach_whoever_wants_them_from_the_level_wanted() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        if caller.has(Feature::Handshake) {
            let level = Call::new(Method::SetLevel, Some(Raw::of(&json!({"level": "info"}))));
            let set = trio.call(level);
            trio.play(&mut host, &mut service);
            assert_eq!(host.outcomes(set).len(), 1);
        }
        let wanting = trio.call(tool("log"));
        trio.play(&mut host, &mut service);
        let story = ["log warning", "log info", "done {\"of\":\"log\"}"];
        assert_eq!(host.story(wanting), story, "{caller} to {callee}");
        let silent = trio.call(Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "log"})))));
        trio.play(&mut host, &mut service);
        let expected =
            if caller.has(Feature::Stateless) { &["done"][..] } else { &["log warning", "log info", "done"] };
        assert_eq!(host.story(silent), expected, "{caller} to {callee}");
        trio.assert_clean(&mut host, &mut service);
    });
}

// Rules 17 and 18.
#[test]
fn what_nobody_here_knows_is_carried_as_it_was_written() {
    each_pair(|caller, callee| {
        let (mut trio, mut service) = (Trio::open(caller, callee).unwrap(), Service::default());
        let meta =
            json!({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "com.example/x": [1e300]});
        let params = json!({"name": "echo", "arguments": {"n": 12_345_678_901_234_567_890_u64}, "_meta": meta});
        let result = outcome(&mut trio, &mut service, Method::ToolsCall, params).unwrap();
        assert!(format!("{result:?}").contains("12345678901234567890"), "{result:?}");
        let arrived = trio.back.up.log().last().unwrap();
        assert!(
            arrived.contains("00-0af7651916cd43dd8448eb211c80319c") && arrived.contains("com.example/x"),
            "{arrived}"
        );
        assert_eq!(
            arrived.matches("protocolVersion").count(),
            usize::from(callee.has(Feature::Stateless)),
            "{arrived}"
        );
    });
}

#[test]
fn calls_at_once_are_never_mixed_up() {
    each_pair(|caller, callee| {
        let (mut trio, mut host, mut service) =
            (Trio::open(caller, callee).unwrap(), Host::default(), Service::default());
        let calls: Vec<_> = (0..20)
            .map(|n| {
                let params = json!({"name": if n % 3 == 0 { "slow" } else { "echo" }, "arguments": {"n": n}});
                trio.call(Call::new(Method::ToolsCall, Some(Raw::of(&params))))
            })
            .collect();
        trio.play(&mut host, &mut service);
        service.go_on("slow", &mut trio.back.server);
        trio.play(&mut host, &mut service);
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(host.story(call), [format!("done {{\"n\":{n}}}")], "{caller} to {callee}");
        }
        trio.assert_clean(&mut host, &mut service);
    });
}

#[test]
fn a_method_of_another_revision_is_refused_before_the_callee_hears_of_it() {
    for revision in Revision::ALL {
        let (mut trio, mut service) = (Trio::open(revision, Revision::LATEST_LEGACY).unwrap(), Service::default());
        let foreign = if revision.has(Feature::Stateless) { Method::Ping } else { Method::Discover };
        let error = outcome(&mut trio, &mut service, foreign, json!({})).unwrap_err();
        assert_eq!(error.code, code::METHOD_NOT_FOUND);
        assert!(service.served().is_empty());
    }
}
