use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use serde_json::json;

use super::*;
use crate::{
    ErrorObject, Feature, Frame, Id, Method, Raw, Revision,
    exchange::{Answers, Ask, Asks, Note, Step, Wishes},
    frame::Rejected,
    greeting::{Introduction, Profile},
    scan::Limits,
    watch::{Filter, modern},
};

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned().into(), Limits::DEFAULT).unwrap()
}

fn parse(text: &str) -> Result<Frame, Rejected> {
    Frame::parse(&Bytes::copy_from_slice(text.as_bytes()))
}

fn who(revision: Revision) -> Arc<Introduction> {
    let capabilities = raw(r#"{"elicitation":{},"sampling":{},"roots":{}}"#);
    Arc::new(Introduction { capabilities, ..Introduction::anonymous(revision) })
}

fn server() -> Server {
    let capabilities = json!({
        "tools": {"listChanged": true}, "prompts": {}, "resources": {"subscribe": true}, "logging": {}, "completions": {}
    });
    let server = raw(r#"{"name":"s","version":"1"}"#);
    Server::new(Arc::new(Profile { server, capabilities: Raw::of(&capabilities), instructions: None }))
}

/// A server that a client of `revision` has opened; one of the modern era needs no opening.
fn open(revision: Revision) -> Server {
    let mut server = server();
    if revision.has(Feature::Handshake) {
        let offer = json!({"protocolVersion": revision.as_str(), "capabilities": {"elicitation": {}, "roots": {}}});
        server.receive(Ok(request(0, "initialize", &offer.to_string())));
        server.receive(parse(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#));
        while server.transmit().is_some() || server.event().is_some() {}
    }
    server
}

fn request(id: i64, method: &str, params: &str) -> Frame {
    Frame::request(Id::Number(id), Method::parse(method), Some(raw(params)))
}

/// A request as a client of `revision` writes it.
fn dressed(revision: Revision, id: i64, method: &str, params: &str) -> Frame {
    Call::new(Method::parse(method), Some(raw(params))).exchange(who(revision), Id::Number(id)).open()
}

/// A frame in a few words: what it is, its id, its method or code.
fn short(frame: &Frame) -> String {
    let id = |id: &Option<Id>| id.as_ref().map_or("-".to_owned(), Id::to_string);
    match frame {
        Frame::Request { id, method, .. } => format!("{id} {method}?"),
        Frame::Notification { method, .. } => format!("{method}!"),
        Frame::Result { id, .. } => format!("{id} ok"),
        Frame::Error { id: of, error } => format!("{} {}", id(of), ErrorObject::read(error).code),
    }
}

fn sent(mut next: impl FnMut() -> Option<Frame>) -> String {
    let all: Vec<_> = std::iter::from_fn(|| next().map(|frame| short(&frame))).collect();
    all.join(", ")
}

fn called(server: &mut Server) -> Called {
    match server.event() {
        Some(ServerEvent::Called(called)) => called,
        other => panic!("no call: {other:?}"),
    }
}

fn feed(server: &mut Server, line: &[u8]) -> String {
    match Frame::parse_batch(&Bytes::copy_from_slice(line), Limits::DEFAULT) {
        Some(batch) => server.receive_batch(batch),
        None => server.receive(Frame::parse(&Bytes::copy_from_slice(line))),
    }
    sent(|| server.transmit())
}

// protocol.md §4.4; rules 2, 6, 7, 12, 13, 14, 37, 110, 111.
#[test]
fn every_bad_line_has_its_answer() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}{}}}"#,
        "{\"a\":".repeat(200),
        "1".to_owned() + &"}".repeat(200)
    );
    let parse_errors: [&[u8]; 8] = [
        b"",
        b"not json",
        br#"{"jsonrpc":"2.0","id":1,"method":"ping""#,
        br#"{"jsonrpc":"2.0","id":1,"method":"pi"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
        b"\xff\xfe",
        br#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#,
        br#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#,
    ];
    for line in parse_errors {
        for revision in Revision::ALL {
            assert_eq!(feed(&mut open(revision), line), "- -32700", "{}", String::from_utf8_lossy(line));
        }
    }
    for revision in Revision::ALL {
        // Its id was read before the depth was too much.
        assert_eq!(feed(&mut open(revision), deep.as_bytes()), "1 -32700");
    }
    let anywhere = [
        (r#"7"#, "- -32600"),
        (r#"null"#, "- -32600"),
        (r#"{}"#, "- -32600"),
        (r#"{"jsonrpc":"2.0","id":5}"#, "5 -32600"),
        (r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, "5 -32600"),
        (r#"{"id":5,"method":"ping"}"#, "5 -32600"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "- -32600"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "- -32600"),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, "- -32600"),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, "- -32600"),
        (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, "- -32600"),
        (r#"{"jsonrpc":"2.0","id":5,"method":7}"#, "5 -32600"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}"#, "5 -32600"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":"x"}"#, "5 -32600"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","result":{}}"#, "5 -32600"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/list"}"#, "5 -32700"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","Method":"tools/list"}"#, "5 -32700"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"no/such"}"#, "5 -32601"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"Tools/List"}"#, "5 -32601"),
        // Notifications, answers and cancels are never answered.
        (r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{}}"#, ""),
        (r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"x"}}"#, ""),
        (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}"#, ""),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#, ""),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#, ""),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#, ""),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}"#, ""),
        (r#"{"jsonrpc":"2.0","id":77,"result":{}}"#, ""),
        (r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}"#, ""),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#, ""),
        (r#"{"jsonrpc":"2.0","error":7}"#, ""),
    ];
    for (line, expected) in anywhere {
        let legacy = Revision::ALL.into_iter().filter(|revision| revision.has(Feature::Handshake));
        for revision in legacy {
            assert_eq!(feed(&mut open(revision), line.as_bytes()), expected, "{revision}: {line}");
        }
        // Without an envelope and without an opening nobody knows what a method would mean.
        let modern = if expected == "5 -32601" { "5 -32600" } else { expected };
        assert_eq!(feed(&mut server(), line.as_bytes()), modern, "unopened: {line}");
    }
}

// Rules 13, 14.
#[test]
fn batches_live_in_one_revision_and_never_open_it() {
    let ping = r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#;
    for revision in Revision::ALL {
        let check = |line: &str, in_batches: &str| {
            let expected = if revision.has(Feature::Batch) { in_batches } else { "- -32600" };
            assert_eq!(feed(&mut open(revision), line.as_bytes()), expected, "{revision}: {line}");
        };
        check("[]", "- -32600");
        check(&format!("[{ping}]"), "5 ok");
        check(
            &format!(
                r#"[{ping},7,{{"jsonrpc":"2.0","method":"notifications/x"}},{{"jsonrpc":"2.0","id":6,"method":"no/such"}}]"#
            ),
            "5 ok, - -32600, 6 -32601",
        );
        check(
            r#"[{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}]"#,
            "5 -32600",
        );
    }
    let initialize = r#"[{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}]"#;
    assert_eq!(feed(&mut server(), initialize.as_bytes()), "- -32600");
}

// Rules 39, 40, 43; §4.4 "request before initialize", "second initialize".
#[test]
fn a_session_is_opened_once_and_first() {
    let check = |server: &mut Server, id: i64, method: &str, params: &str, expected: &str| {
        server.receive(Ok(request(id, method, params)));
        assert_eq!(sent(|| server.transmit()), expected, "{method} {params}");
    };
    let mut server = server();
    check(&mut server, 1, "tools/list", "{}", "1 -32600");
    check(&mut server, 2, "ping", "{}", "2 ok");
    check(&mut server, 3, "initialize", "{}", "3 -32602");
    check(&mut server, 4, "initialize", r#"{"protocolVersion":7}"#, "4 -32602");
    check(&mut server, 5, "initialize", r#"{"protocolVersion":"1999-01-01"}"#, "5 ok");
    assert_eq!(server.session().unwrap().revision, Revision::LATEST_LEGACY);
    check(&mut server, 6, "initialize", r#"{"protocolVersion":"2024-11-05"}"#, "6 -32600");
    check(&mut server, 7, "server/discover", "{}", "7 -32601");
    check(&mut server, 8, "subscriptions/listen", "{}", "8 -32601");
    check(&mut server, 9, "roots/list", "{}", "9 -32601");
    check(&mut server, 10, "notifications/initialized", "{}", "10 -32601");
    check(&mut server, 11, "logging/setLevel", r#"{"level":"loud"}"#, "11 -32602");
    check(&mut server, 12, "tools/call", r#"{"name":"x","name":"y"}"#, "12 -32700");
    check(&mut server, 13, "tools/call", r#"{"name":"x","arguments":{"a":1,"A":2}}"#, "13 -32700");
    assert_eq!(server.pending(), 0);
}

// Rules 20, 21, 24, 27, 28, 36, 37.
#[test]
fn a_modern_request_stands_alone() {
    let envelope = |version: &str| {
        json!({"_meta": {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}}).to_string()
    };
    let good = envelope("2026-07-28");
    let bare = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let null =
        r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":null,"io.modelcontextprotocol/clientCapabilities":{}}}"#;
    let twice = good.replacen("{\"_meta\":{", "{\"_meta\":{\"IO.modelcontextprotocol/protocolVersion\":\"x\",", 1);
    for mut server in [server(), open(Revision::V2025_03_26)] {
        let mut check = |method: &str, params: &str, expected: &str| {
            server.receive(Ok(request(5, method, params)));
            assert_eq!(sent(|| server.transmit()), expected, "{method} {params}");
        };
        check("server/discover", &good, "5 ok");
        check("server/discover", &envelope("v999.0.0"), "5 -32022");
        check("tools/list", &envelope("2025-11-25"), "5 -32022");
        check("tools/list", bare, "5 -32602");
        check("tools/list", null, "5 -32602");
        check("tools/list", &twice, "5 -32700");
        for gone in
            ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "roots/list"]
        {
            check(gone, &good, "5 -32601");
        }
        check("tasks/list", &good, "5 -32601");
        check("no/such", &good, "5 -32601");
        check("tools/list", &good, "");
    }
}

#[test]
fn what_was_not_advertised_is_not_served() {
    let profile = Profile { server: Raw::EMPTY, capabilities: Raw::EMPTY, instructions: None };
    for method in
        ["tools/list", "tools/call", "prompts/get", "resources/read", "resources/subscribe", "logging/setLevel"]
    {
        for revision in Revision::ALL {
            let mut server = open(revision);
            server.present(Arc::new(profile.clone()));
            server.receive(Ok(dressed(revision, 5, method, r#"{"level":"info"}"#)));
            assert_eq!(sent(|| server.transmit()), "5 -32601", "{revision} {method}");
        }
    }
}

// Rules 3, 5 and 111; §4.4 "id equal to an in-flight one".
#[test]
fn a_second_request_under_an_open_id_is_refused_and_the_first_goes_on() {
    for revision in Revision::ALL {
        let mut server = open(revision);
        let again = dressed(revision, 5, "tools/call", r#"{"name":"second"}"#);
        server.receive(Ok(dressed(revision, 5, "tools/call", r#"{"name":"first"}"#)));
        server.receive(Ok(again.clone()));
        let first = called(&mut server);
        assert_eq!((server.event(), sent(|| server.transmit())), (None, "5 -32600".into()));
        server.done(first.key, Ok(Raw::EMPTY));
        server.done(first.key, Ok(Raw::EMPTY));
        server.note(first.key, Note::new(Method::Message, raw(r#"{"level":"error"}"#)));
        assert_eq!((server.pending(), sent(|| server.transmit())), (0, "5 ok".into()));
        let Frame::Request { method, params, .. } = again else { panic!() };
        server.receive(Ok(Frame::request(Id::Text("5".into()), method, params)));
        let key = called(&mut server).key;
        server.done(key, Ok(Raw::EMPTY));
        assert_eq!(sent(|| server.transmit()), "\"5\" ok", "a string stays a string");
    }
}

#[test]
fn too_many_requests_at_once_are_refused() {
    let mut server = open(Revision::LATEST_LEGACY);
    for id in 1..=1025 {
        server.receive(Ok(request(id, "tools/list", "{}")));
    }
    assert_eq!((server.pending(), sent(|| server.transmit())), (1024, "1025 -32600".into()));
}

#[test]
fn a_cancelled_request_is_answered_by_nobody() {
    for revision in Revision::ALL {
        let mut server = open(revision);
        server.receive(Ok(dressed(revision, 5, "tools/call", r#"{"name":"x"}"#)));
        let key = called(&mut server).key;
        server.ask(key, &Asks::one("r", Ask { method: Method::RootsList, params: None }), None);
        let asked = sent(|| server.transmit());
        server.receive(parse(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#));
        // A modern request was over when it asked; it will come back under another id, or it will not.
        let (event, end) = match revision.has(Feature::Handshake) {
            true => (Some(ServerEvent::Cancelled(key)), "notifications/cancelled!"),
            false => (None, ""),
        };
        assert_eq!((server.event(), server.pending()), (event, 0), "{revision}");
        assert_eq!(asked, if revision.has(Feature::Handshake) { "1 roots/list?" } else { "5 ok" });
        server.done(key, Ok(Raw::EMPTY));
        server.note(key, Note::progress(1.0, None, None));
        server.ask(key, &Asks::one("r", Ask { method: Method::RootsList, params: None }), None);
        assert_eq!(sent(|| server.transmit()), end, "{revision}: the question is taken back, nothing else is said");
        server.receive(parse(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#));
        assert!(matches!(server.event(), Some(ServerEvent::Stray(_))), "{revision}: a late answer");
        assert!(server.is_idle());
    }
}

#[test]
fn a_request_that_ends_takes_its_open_questions_back() {
    let mut server = open(Revision::LATEST_LEGACY);
    server.receive(Ok(request(5, "tools/call", r#"{"name":"x"}"#)));
    let key = called(&mut server).key;
    server.ask(key, &Asks::one("r", Ask { method: Method::RootsList, params: None }), None);
    server.done(key, Ok(Raw::EMPTY));
    assert_eq!(sent(|| server.transmit()), "1 roots/list?, notifications/cancelled!, 5 ok");
    assert!(server.is_idle());
}

// §4.4 "response with both result and error, or neither: fail that request locally".
#[test]
fn a_broken_answer_fails_its_question_and_is_not_answered() {
    let broken = [
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
    ];
    for line in broken {
        let mut server = open(Revision::LATEST_LEGACY);
        server.receive(Ok(request(5, "tools/call", r#"{"name":"x"}"#)));
        let key = called(&mut server).key;
        let round = server.ask(key, &Asks::one("r", Ask { method: Method::RootsList, params: None }), None).unwrap();
        sent(|| server.transmit());
        assert_eq!(feed(&mut server, line.as_bytes()), "", "{line}");
        match server.event() {
            Some(ServerEvent::Answered(of, in_round, answers)) => {
                assert!(of == key && in_round == round && answers.get("r").unwrap().is_err(), "{line}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }
}

// Rule 43, 149 and §5.6: what a client did not declare is never put to it.
#[test]
fn undeclared_questions_are_refused_on_the_spot() {
    let mut server = open(Revision::LATEST_LEGACY);
    server.receive(Ok(request(5, "tools/call", r#"{"name":"x"}"#)));
    let key = called(&mut server).key;
    let sampling = Ask { method: Method::CreateMessage, params: Some(Raw::EMPTY) };
    let both: Asks = [("r".into(), Ask { method: Method::RootsList, params: None }), ("s".into(), sampling.clone())]
        .into_iter()
        .collect();
    let first = server.ask(key, &both, None).unwrap();
    assert_eq!(sent(|| server.transmit()), "1 roots/list?");
    assert_eq!(server.event(), None, "one of the two is open");
    server.receive(parse(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#));
    let Some(ServerEvent::Answered(_, round, answers)) = server.event() else { panic!() };
    assert!(round == first && answers.get("r").unwrap().is_ok() && answers.get("s").unwrap().is_err());
    let alone = server.ask(key, &Asks::one("s", sampling), None).unwrap();
    let Some(ServerEvent::Answered(_, round, answers)) = server.event() else { panic!() };
    assert!(round == alone && answers.get("s").unwrap().is_err());
    let none = server.ask(key, &Asks::default(), None).unwrap();
    assert_eq!(server.event(), Some(ServerEvent::Answered(key, none, Answers::default())), "nothing to wait for");
    server.done(key, Ok(Raw::EMPTY));
    assert_eq!(sent(|| server.transmit()), "5 ok");
}

// Rule 107: on stdio the result comes first, then the notification.
#[test]
fn the_end_of_a_subscription_is_said_twice_on_a_duplex_link() {
    let mut server = server();
    server.receive(Ok(dressed(Revision::LATEST, 5, "subscriptions/listen", r#"{"notifications":{}}"#)));
    let Called { key, id, .. } = called(&mut server);
    server.done(key, Ok(modern::end(&id)));
    assert_eq!(sent(|| server.transmit()), "5 ok, notifications/cancelled!");
    server.receive(Ok(dressed(Revision::LATEST, 6, "subscriptions/listen", r#"{"notifications":{}}"#)));
    let refused = called(&mut server).key;
    server.done(refused, Err(ErrorObject::invalid_params("no")));
    assert_eq!(sent(|| server.transmit()), "6 -32602");
}

struct Desk {
    client: Client,
    now: Instant,
}

impl Desk {
    fn new(revision: Revision) -> Self {
        Self { client: Client::new(who(revision)), now: Instant::now() }
    }

    fn call(&mut self, key: u64, method: Method) -> CallId {
        let call = Call { wishes: Wishes::progress(), ..Call::new(method, Some(raw(r#"{"name":"x"}"#))) };
        self.client.call(CallId(key), call, self.now);
        CallId(key)
    }

    fn hear(&mut self, line: &str) -> Vec<ClientEvent> {
        self.client.receive(parse(line), self.now);
        self.events()
    }

    fn events(&mut self) -> Vec<ClientEvent> {
        std::iter::from_fn(|| self.client.event()).collect()
    }

    fn sent(&mut self) -> String {
        sent(|| self.client.transmit())
    }

    fn later(&mut self, seconds: u64) -> Vec<ClientEvent> {
        self.now += Duration::from_secs(seconds);
        self.client.expire(self.now);
        self.events()
    }
}

fn only_stray(events: &[ClientEvent]) -> bool {
    matches!(events, [ClientEvent::Stray(_)])
}

// §4.4 seen from the client; rules 5, 9, 111.
#[test]
fn a_client_survives_every_bad_line() {
    for revision in Revision::ALL {
        let mut desk = Desk::new(revision);
        let key = desk.call(1, Method::ToolsCall);
        desk.sent();
        for line in [
            "not json",
            "7",
            r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}"#,
        ] {
            assert!(only_stray(&desk.hear(line)), "{revision}: {line}");
        }
        let unknown = desk.hear(r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{}}"#);
        assert!(matches!(unknown[..], [ClientEvent::Note(_)]));
        assert_eq!((desk.sent(), desk.client.pending()), (String::new(), 1));
        let broken = desk.hear(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#);
        assert!(matches!(&broken[..], [ClientEvent::Step(of, Step::Done(Err(_)))] if *of == key), "{broken:?}");
        assert!(only_stray(&desk.hear(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)));
        assert_eq!(desk.client.pending(), 0);
    }
}

// Rules 15, 16 and 44.
#[test]
fn a_server_that_asks_is_answered_in_its_era_alone() {
    let questions = [
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, "7 ok"),
        (r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#, "7 -32601"),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#, "7 -32601"),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tasks/get"}"#, "7 -32601"),
    ];
    for revision in Revision::ALL {
        for calls in [0, 1] {
            for (line, answer) in questions {
                let mut desk = Desk::new(revision);
                if calls == 1 {
                    desk.call(1, Method::ToolsCall);
                }
                desk.sent();
                let events = desk.hear(line);
                let legacy = revision.has(Feature::Handshake);
                assert_eq!(desk.sent(), if legacy { answer } else { "" }, "{revision}: {line}");
                assert!(events.is_empty() || only_stray(&events), "{revision}: {line}");
            }
        }
        let mut desk = Desk::new(revision);
        desk.call(1, Method::ToolsCall);
        desk.sent();
        desk.hear(r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}"#);
        let expected = match (revision.has(Feature::Handshake), revision.has(Feature::Elicitation)) {
            (true, false) => "7 -32601",
            (_, true) | (false, _) => "",
        };
        assert_eq!(desk.sent(), expected, "{revision}");
    }
}

#[test]
fn a_question_under_an_open_id_is_refused_and_the_first_goes_on() {
    let mut desk = Desk::new(Revision::LATEST_LEGACY);
    let key = desk.call(1, Method::ToolsCall);
    desk.sent();
    let question = r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#;
    let [ClientEvent::Step(_, Step::Ask(asks))] = &desk.hear(question)[..] else { panic!() };
    assert!(only_stray(&desk.hear(question)));
    assert_eq!(desk.sent(), "7 -32600");
    let answers = Answers::refuse(asks, &ErrorObject::internal("no"));
    desk.client.answer(key, answers.clone(), desk.now);
    desk.client.answer(key, answers, desk.now);
    assert_eq!(desk.sent(), "7 -32603", "answered once");
    assert_eq!(desk.hear(question).len(), 1, "the id is free again");
}

#[test]
fn too_many_questions_at_once_are_refused() {
    let mut desk = Desk::new(Revision::LATEST_LEGACY);
    for id in 0..65 {
        desk.hear(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#));
    }
    assert_eq!(desk.sent(), "64 -32600");
}

// Rule 111, with the server as the one who cancels.
#[test]
fn a_question_that_was_taken_back_is_not_answered() {
    for calls in [0, 1] {
        let mut desk = Desk::new(Revision::LATEST_LEGACY);
        if calls == 1 {
            desk.call(1, Method::ToolsCall);
        }
        desk.sent();
        let asked = desk.hear(r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#);
        desk.hear(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
        match &asked[..] {
            [ClientEvent::Step(key, Step::Ask(asks))] => {
                desk.client.answer(*key, Answers::refuse(asks, &ErrorObject::internal("no")), desk.now);
            }
            [ClientEvent::Asked(id, _)] => desk.client.reply(id.clone(), Ok(Raw::EMPTY)),
            other => panic!("{other:?}"),
        }
        assert_eq!((desk.sent(), desk.client.pending()), (String::new(), calls));
    }
}

#[test]
fn a_question_passes_over_a_call_that_waits_for_an_answer_already() {
    let mut desk = Desk::new(Revision::LATEST_LEGACY);
    let (first, second) = (desk.call(1, Method::ToolsCall), desk.call(2, Method::ToolsCall));
    let asked = |events: Vec<ClientEvent>| match &events[..] {
        [ClientEvent::Step(key, Step::Ask(_))] => *key,
        other => panic!("{other:?}"),
    };
    for (id, whose) in [(7, first), (8, second), (9, first)] {
        let question = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#);
        assert_eq!(asked(desk.hear(&question)), whose, "question {id}");
    }
}

// Rule 5.
#[test]
fn a_question_that_comes_again_is_answered_once() {
    let mut desk = Desk::new(Revision::LATEST_LEGACY);
    let question = r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#;
    let first = desk.hear(question);
    desk.hear(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    desk.call(1, Method::ToolsCall);
    desk.sent();
    let again = desk.hear(question);
    let ([ClientEvent::Asked(id, _)], [ClientEvent::Step(key, Step::Ask(asks))]) = (&first[..], &again[..]) else {
        panic!("{first:?}, {again:?}");
    };
    desk.client.reply(id.clone(), Ok(Raw::EMPTY));
    desk.client.answer(*key, Answers::refuse(asks, &ErrorObject::internal("no")), desk.now);
    assert_eq!(desk.sent(), "7 -32603");
}

// Rule 112.
#[test]
fn silence_ends_a_call_progress_renews_it_and_the_total_holds_anyway() {
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    for revision in Revision::ALL {
        let mut desk = Desk::new(revision);
        let patience = Patience { silence: Duration::from_secs(60), total: Some(Duration::from_secs(100)) };
        let call = Call { wishes: Wishes::progress(), patience, ..Call::new(Method::ToolsCall, None) };
        desk.client.call(CallId(1), call, desk.now);
        desk.sent();
        assert!(desk.later(59).is_empty());
        desk.hear(progress);
        assert!(desk.later(40).is_empty(), "99 s");
        desk.hear(progress);
        assert_eq!(desk.later(1), [ClientEvent::Overdue(CallId(1))], "100 s");
        assert_eq!((desk.sent(), desk.client.timeout()), ("notifications/cancelled!".into(), None));
        let endless = Patience { silence: Duration::MAX, total: Some(Duration::MAX) };
        desk.client.call(CallId(2), Call { patience: endless, ..Call::new(Method::ToolsCall, None) }, desk.now);
        assert!(desk.later(1_000_000).is_empty());
    }
}

#[test]
fn a_line_of_log_is_no_sign_of_life_and_not_for_listeners() {
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    for revision in Revision::ALL {
        let mut desk = Desk::new(revision);
        let first = if revision.has(Feature::Stateless) { Method::Listen } else { Method::ToolsList };
        desk.call(1, first);
        assert!(desk.later(30).is_empty());
        let heard = desk.hear(log);
        assert_eq!(matches!(heard[..], [ClientEvent::Note(_)]), revision.has(Feature::Stateless), "{heard:?}");
        assert_eq!(desk.later(30), [ClientEvent::Overdue(CallId(1))], "{revision}");
    }
}

#[test]
fn the_clock_waits_while_anybody_is_asked() {
    let ask = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#);
    let mut desk = Desk::new(Revision::LATEST_LEGACY);
    let key = desk.call(1, Method::ToolsCall);
    let mut sent = desk.sent();
    let first = desk.hear(&ask(7));
    desk.hear(&ask(8));
    let [ClientEvent::Step(_, Step::Ask(asks))] = &first[..] else { panic!() };
    desk.client.answer(key, Answers::refuse(asks, &ErrorObject::internal("no")), desk.now);
    desk.hear(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#);
    assert!(desk.later(500).is_empty(), "the second question is still with somebody");
    assert_eq!(desk.later(100), [ClientEvent::Overdue(key)]);
    sent = format!("{sent}, {}", desk.sent());
    assert_eq!(sent, "1 tools/call?, 7 -32603, 8 -1, notifications/cancelled!");
}

// spec: basic/patterns/cancellation, only what is in flight, and never the opening.
#[test]
fn nothing_is_taken_back_that_is_not_in_flight() {
    for method in [Method::Initialize, Method::Discover] {
        let mut desk = Desk::new(Revision::LATEST);
        desk.call(1, method);
        desk.sent();
        assert_eq!(desk.later(60), [ClientEvent::Overdue(CallId(1))]);
        assert_eq!(desk.sent(), "");
        assert!(only_stray(&desk.hear(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)), "late");
    }
    let mut desk = Desk::new(Revision::LATEST);
    let key = desk.call(1, Method::ToolsCall);
    desk.sent();
    let asks = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}"#;
    assert_eq!(desk.hear(asks).len(), 1);
    assert!(only_stray(&desk.hear(asks)), "the same answer again");
    assert!(only_stray(&desk.hear(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)));
    desk.client.cancel(key, "the caller left");
    assert_eq!((desk.sent(), desk.client.pending()), (String::new(), 0));
    desk.client.answer(key, Answers::default(), desk.now);
    assert_eq!(desk.sent(), "", "late");
    assert!(desk.client.is_idle());
}

#[test]
fn a_retry_has_a_new_id_and_token_and_the_old_ones_are_nobodys() {
    let mut desk = Desk::new(Revision::LATEST);
    let key = desk.call(1, Method::ToolsCall);
    desk.hear(r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}"#);
    desk.client.answer(key, Answers::default(), desk.now);
    let retry = std::iter::from_fn(|| desk.client.transmit()).last().unwrap();
    let Frame::Request { id, params: Some(params), .. } = &retry else { panic!("{retry:?}") };
    assert_ne!(*id, Id::Number(1));
    assert_eq!(params.get("_meta").unwrap().get("progressToken"), Some(id.to_raw()));
    let old = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    assert!(only_stray(&desk.hear(old)));
    desk.client.receive(Ok(Frame::Result { id: id.clone(), result: Raw::EMPTY }), desk.now);
    assert!(matches!(desk.events()[..], [ClientEvent::Step(_, Step::Done(Ok(_)))]));
    assert!(desk.client.is_idle());
}

// Rules 52, 107 and 109.
#[test]
fn subscriptions_are_told_apart_and_end_either_way() {
    let mut desk = Desk::new(Revision::LATEST);
    let (first, second) = (CallId(1), CallId(2));
    for key in [first, second] {
        desk.client.call(key, Call::new(Method::Listen, Some(Filter::lists().write())), desk.now);
    }
    let other = desk.call(3, Method::ToolsCall);
    let tagged = |id: i64| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
        )
    };
    for (id, key) in [(1, first), (2, second)] {
        assert!(matches!(&desk.hear(&tagged(id))[..], [ClientEvent::Step(of, Step::Note(_))] if *of == key));
    }
    assert!(only_stray(&desk.hear(&tagged(3))), "a call is no subscription");
    assert!(only_stray(&desk.hear(&tagged(9))));
    assert!(matches!(
        desk.hear(&tagged(1).replace(r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}"#, "{}"))[..],
        [ClientEvent::Note(_)]
    ));
    let end =
        |id: i64| format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
    assert!(only_stray(&desk.hear(&end(3))), "a server takes back no call of ours");
    let lost = desk.hear(&end(1));
    assert!(matches!(&lost[..], [ClientEvent::Step(of, Step::Done(Err(_)))] if *of == first), "{lost:?}");
    desk.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete"}}"#);
    assert!(only_stray(&desk.hear(&end(2))), "said already");
    assert!(only_stray(&desk.hear(&tagged(2))));
    desk.client.cancel(other, "enough");
    assert!(desk.client.is_idle());
}

/// Whatever order two calls, their questions and their ends come in, the tables are empty afterwards.
#[test]
fn nothing_is_left_behind_in_the_tables() {
    for revision in Revision::ALL {
        for order in 0..24_u32 {
            let (mut desk, mut server) = (Desk::new(revision), open(revision));
            let keys = [desk.call(1, Method::ToolsCall), desk.call(2, Method::ToolsCall)];
            while let Some(frame) = desk.client.transmit() {
                server.receive(Ok(frame));
            }
            let served = [called(&mut server).key, called(&mut server).key];
            for turn in [order % 4, order / 4 % 3, order / 12] {
                let (which, asks) =
                    (turn as usize % 2, Asks::one("r", Ask { method: Method::RootsList, params: None }));
                match turn {
                    0 | 1 => drop(server.ask(served[which], &asks, None)),
                    2 => server.done(served[which], Ok(Raw::EMPTY)),
                    _ => desk.client.cancel(keys[which], "enough"),
                }
                while let Some(frame) = server.transmit() {
                    desk.client.receive(Ok(frame), desk.now);
                }
                while let Some(frame) = desk.client.transmit() {
                    server.receive(Ok(frame));
                }
            }
            served.into_iter().for_each(|key| server.done(key, Ok(Raw::EMPTY)));
            while let Some(frame) = server.transmit() {
                desk.client.receive(Ok(frame), desk.now);
            }
            desk.later(10_000);
            assert!(desk.client.is_idle(), "{revision} {order}");
            assert!(server.is_idle(), "{revision} {order}");
        }
    }
}

#[test]
fn a_question_goes_to_the_oldest_call_whose_caller_answers_such_questions() {
    let mut desk = Desk::new(Revision::LATEST_LEGACY);
    let behalf = |capabilities: serde_json::Value| {
        Some(Arc::new(Introduction {
            capabilities: Raw::of(&capabilities),
            ..Introduction::anonymous(Revision::LATEST_LEGACY)
        }))
    };
    let callers = [serde_json::json!({}), serde_json::json!({"roots": {}}), serde_json::json!({"elicitation": {}})];
    for (key, capabilities) in (1..).zip(callers) {
        let call = Call { behalf: behalf(capabilities), ..Call::new(Method::ToolsCall, None) };
        desk.client.call(CallId(key), call, desk.now);
    }
    let asked = |events: Vec<ClientEvent>| match &events[..] {
        [ClientEvent::Step(key, Step::Ask(_))] => Some(key.0),
        [ClientEvent::Asked(..)] => None,
        other => panic!("{other:?}"),
    };
    let ask = |id: u64, method: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{}}}}"#);
    assert_eq!(asked(desk.hear(&ask(1, "elicitation/create"))), Some(3));
    assert_eq!(asked(desk.hear(&ask(2, "roots/list"))), Some(2));
    assert_eq!(asked(desk.hear(&ask(3, "sampling/createMessage"))), None);
}

#[test]
fn a_question_of_a_task_goes_to_whoever_waits_for_that() {
    let mut desk = Desk::new(Revision::LATEST_LEGACY);
    let wait = |id: &str| Call::new(Method::TasksResult, Some(Raw::of(&serde_json::json!({"taskId": id}))));
    for (key, call) in (1..).zip([wait("a"), wait("b"), Call::new(Method::ToolsCall, None)]) {
        desk.client.call(CallId(key), call, desk.now);
    }
    let mut asked = |id: u64, task: Option<&str>| {
        let meta = task.map(|task| serde_json::json!({"io.modelcontextprotocol/related-task": {"taskId": task}}));
        let params = serde_json::json!({"_meta": meta.unwrap_or(serde_json::json!({}))});
        let question = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list","params":{params}}}"#);
        match &desk.hear(&question)[..] {
            [ClientEvent::Step(key, Step::Ask(_))] => key.0,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((asked(1, Some("b")), asked(2, Some("a")), asked(3, None), asked(4, Some("c"))), (2, 1, 3, 3));
}

// §5.6: a legacy disconnect is no cancellation, so a call may go on for nobody.
#[test]
fn a_question_passes_over_a_call_whose_caller_hung_up() {
    let mut desk = Desk::new(Revision::LATEST_LEGACY);
    let presences = [Presence::new(), Presence::new()];
    for (key, presence) in (1..).zip(presences.clone()) {
        let call = Call { presence, ..Call::new(Method::ToolsCall, None) };
        desk.client.call(CallId(key), call, desk.now);
    }
    let mut asked = |id: u64| {
        let question = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#);
        match &desk.hear(&question)[..] {
            [ClientEvent::Step(key, Step::Ask(_))] => key.0,
            other => panic!("{other:?}"),
        }
    };
    presences[0].leave();
    assert_eq!((asked(7), asked(8)), (2, 2), "even where that one was asked already");
    presences[1].leave();
    assert_eq!(asked(9), 1, "where nobody is there, it waits for whoever comes back first");
    presences[1].come_back();
    assert_eq!(asked(10), 2);
}

#[test]
fn a_call_that_was_not_sent_yet_is_taken_back_without_a_word() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let (mut client, now) = (Client::new(who(revision)), Instant::now());
        let call = || Call::new(Method::ToolsCall, Some(raw(r#"{"name":"t"}"#)));
        client.call(CallId(1), call(), now);
        client.transmit().unwrap();
        for key in 2..1000 {
            client.call(CallId(key), call(), now);
            if key < 999 {
                client.cancel(CallId(key), "in time");
            }
        }
        assert_eq!((client.pending(), client.waiting().messages), (2, 1));
        client.expire(now + Duration::from_secs(61));
        assert_eq!(sent(|| client.transmit()), "notifications/cancelled!", "one was sent, so one is taken back");
        assert_eq!((client.waiting(), client.is_idle()), (Waiting::default(), true));
    }
}

#[test]
fn what_waits_to_be_sent_is_counted() {
    let mut client = Client::new(who(Revision::LATEST_LEGACY));
    client.tell(Note { method: Method::RootsChanged, params: Some(raw(r#"{"a":"bcdefgh"}"#)) });
    let told = client.waiting();
    assert_eq!((told.messages, told.bytes, told.replies), (1, 64 + 15, 64 + 15));
    client.call(CallId(1), Call::new(Method::Ping, None), Instant::now());
    let waiting = client.waiting();
    assert!(waiting.messages == 2 && waiting.bytes > told.bytes && waiting.replies == told.replies, "{waiting:?}");
}

#[test]
fn a_client_has_no_more_than_it_is_allowed_and_hears_which_limit_that_is() {
    let allowance = Allowance { requests: 1, subscriptions: 2, introduction_bytes: 30 };
    let mut server = server().allowing(allowance);
    let mut heard = |params: &serde_json::Value| {
        server.receive(Ok(request(0, "initialize", &params.to_string())));
        match server.transmit() {
            Some(Frame::Error { error, .. }) => ErrorObject::read(&error).message,
            other => short(&other.unwrap()),
        }
    };
    let client = json!({"name": "a long name", "version": "1"});
    let offer = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    assert!(heard(&offer).contains("more than 30 bytes of itself (limit `introduction_bytes`)"));
    assert_eq!(heard(&json!({"protocolVersion": "2025-11-25", "capabilities": {}})), "0 ok");
    let call = |id| Ok(request(id, "tools/call", r#"{"name":"t"}"#));
    server.receive(call(1));
    server.receive(call(2));
    let Some(Frame::Error { error, .. }) = server.transmit() else { panic!("the second is refused") };
    let error = ErrorObject::read(&error).message;
    assert!(error.contains("more than 1 requests in flight (limit `session_requests`)"), "{error}");
    assert!(allowance.one_more_subscription(1).is_ok());
    assert!(allowance.one_more_subscription(2).unwrap_err().message.contains("limit `subscriptions`"));
}

#[test]
fn a_batch_that_is_too_long_is_refused_as_a_whole() {
    let batch = |count: usize| {
        Bytes::from(format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; count].join(",")))
    };
    let limits = Limits { batch: 3, ..Limits::DEFAULT };
    assert_eq!(Frame::parse_batch(&batch(3), limits).unwrap().len(), 3);
    let refused = Frame::parse_batch(&batch(4), limits).unwrap();
    let [Err(Rejected { id: None, fault })] = &refused[..] else { panic!("{refused:?}") };
    assert!(fault.to_string().contains("at most 3 messages (limit `batch`)"), "{fault}");
}

#[test]
fn the_limit_of_open_questions_is_named_as_it_was_set() {
    let mut client = Client::new(who(Revision::LATEST_LEGACY)).with_questions(2);
    for id in 1..=3 {
        client.receive(Ok(request(id, "roots/list", "{}")), Instant::now());
    }
    let Some(Frame::Error { error, .. }) = client.transmit() else { panic!("the third is refused") };
    assert!(ErrorObject::read(&error).message.contains("more than 2 questions at once (limit `questions_in_flight`)"));
}
