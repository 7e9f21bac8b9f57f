use serde_json::{Value, json};
use toolbay_testkit::model::{Dialect, Ending, ModelServer, Say, Turn};

use super::{Delivery, Options, connect::reach, key::Key, remote::Remote};
use crate::{
    model::{Ask, Choice, Defined, Heard, Model as _, ModelError, Reply, Stop, Usage, Why, Wire},
    transcript::{Answer, Content, Message, Outcome, Part, Piece, Transcript, Written},
};

const PAIRS: [(Wire, Dialect, &str); 5] = [
    (Wire::Anthropic, Dialect::Anthropic, "anthropic:claude-x"),
    (Wire::OpenAiChat, Dialect::OpenAiChat, "openai-chat:gpt-x"),
    (Wire::OpenAiResponses, Dialect::OpenAiResponses, "openai-responses:gpt-x"),
    (Wire::Gemini, Dialect::Gemini, "gemini:gemini-x"),
    (Wire::Ollama, Dialect::Ollama, "ollama:qwen-x"),
];

fn model(server: &ModelServer, dialect: Dialect, named: &str, delivery: Delivery) -> Remote {
    let key = Key::new("sk-secret-of-mine");
    let options = Options { base_url: Some(server.base_url(dialect)), key, delivery, retries: 2, ..Options::default() };
    reach(named, options, &|_| None).unwrap()
}

fn tools() -> Vec<Defined> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    ["weather", "clock"]
        .map(|name| Defined { name: name.into(), description: "…".into(), schema: schema.clone() })
        .into()
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Asks; what was heard is written down.
fn ask(model: &Remote, transcript: &Transcript, choice: Choice) -> (Result<Reply, ModelError>, Vec<String>) {
    let tools = tools();
    let mut heard = vec![];
    let reply = wait(model.ask(Ask { transcript, tools: &tools, choice, limit: Some(500) }, &mut |what| {
        heard.push(match what {
            Heard::Text(text) => format!("text {text}"),
            Heard::Thought(text) => format!("thought {text}"),
            Heard::Intent(name) => format!("intent {name}"),
            Heard::Again(after) => format!("again {}", after.as_secs()),
        });
    }));
    (reply, heard)
}

fn begun() -> Transcript {
    Transcript { system: "Be brief.".into(), messages: vec![Message::User(vec![Part::text("How is it in Oslo?")])] }
}

fn answers(reply: &Reply) -> Message {
    let image = Content::Image { media: "image/png".into(), data: "iVBORw0KGgo=".into() };
    let answer = |(at, intent): (usize, &crate::transcript::Intent)| Answer {
        id: intent.id.clone(),
        name: intent.name.clone(),
        parts: vec![Part::text("rain").from("met", "weather"), Part { what: image.clone(), origin: None }],
        outcome: if at == 0 { Outcome::Success } else { Outcome::Failure },
    };
    Message::Tools(reply.said.intents().enumerate().map(answer).collect())
}

#[test]
fn a_conversation_of_three_rounds_is_the_same_on_every_wire_whole_or_in_pieces() {
    for (wire, dialect, named) in PAIRS {
        for delivery in [Delivery::Stream, Delivery::Whole] {
            let server = ModelServer::scripted([
                Turn::intents([("weather", json!({"city": "Osló"})), ("clock", json!({}))])
                    .saying("Let me see.")
                    .thinking("Hm?"),
                Turn::intent("weather", json!({"city": "Bergen"})),
                Turn::text("It rains."),
            ]);
            let model = model(&server, dialect, named, delivery);
            let mut transcript = begun();
            let (first, heard) = ask(&model, &transcript, Choice::Auto);
            let first = first.unwrap();
            assert_eq!((first.stop.clone(), first.said.text()), (Stop::Tools, "Let me see.".into()), "{wire}");
            let cached = if wire == Wire::Ollama { 0 } else { 40 };
            assert_eq!(first.usage, Usage { input: 100, cached, output: 20 }, "{wire}");
            let intents: Vec<_> = first.said.intents().collect();
            assert_eq!(intents[0].arguments, Written::Object(json!({"city": "Osló"}).as_object().unwrap().clone()));
            assert_eq!((&*intents[1].name, &intents[1].arguments), ("clock", &Written::Object(Default::default())));
            assert_ne!(intents[0].id, intents[1].id);
            let told = |kind: &str| heard.iter().filter_map(|line| line.strip_prefix(kind)).collect::<String>();
            assert_eq!((told("text "), told("intent ")), ("Let me see.".into(), "weatherclock".into()), "{wire}");
            if !(wire == Wire::OpenAiResponses && delivery == Delivery::Whole) {
                assert_eq!(told("thought "), "Hm?", "{wire} {delivery:?}");
            }

            transcript.messages.extend([Message::Model(first.said.clone()), answers(&first)]);
            let second = ask(&model, &transcript, Choice::Required).0.unwrap_or_else(|error| panic!("{wire}: {error}"));
            let ids: Vec<_> = second.said.intents().map(|intent| &intent.id).collect();
            assert!(!intents.iter().any(|intent| ids.contains(&&intent.id)), "{wire}: an id is given twice");
            transcript.messages.extend([Message::Model(second.said.clone()), answers(&second)]);
            transcript.messages.push(Message::User(vec![Part::text("Well?")]));
            let last = ask(&model, &transcript, Choice::None).0.unwrap_or_else(|error| panic!("{wire}: {error}"));
            assert_eq!((last.stop, last.said.text()), (Stop::End, "It rains.".into()), "{wire}");
            assert_eq!(server.complaints(), [""; 0], "{wire}");

            let questions = server.questions();
            assert!(questions.iter().all(|question| question.streamed == (delivery == Delivery::Stream)));
            let shown = if wire == Wire::Ollama { 0 } else { 2 };
            assert_eq!(questions[2].tools.len(), shown, "{wire}: what is kept of definitions stays valid");
            let sent = questions[2].body.to_string();
            assert!(sent.contains(" from=\\\"met\\\" what=\\\"weather\\\">\\nrain\\n</data-"), "{wire}: {sent}");
            assert!(!sent.contains("sk-secret"), "{wire}");
        }
    }
}

#[test]
fn the_same_beginning_of_a_conversation_makes_the_same_bytes() {
    let marks = |text: &str| text.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    for (wire, dialect, named) in PAIRS {
        let server = ModelServer::scripted([Turn::intent("weather", json!({})), Turn::text("Rain.")]);
        let model = model(&server, dialect, named, Delivery::Stream);
        let mut transcript = begun();
        let reply = ask(&model, &transcript, Choice::Auto).0.unwrap();
        transcript.messages.extend([Message::Model(reply.said.clone()), answers(&reply)]);
        ask(&model, &transcript, Choice::Auto).0.unwrap();
        let [first, second] = &server.questions()[..] else { panic!("two questions") };
        for name in ["tools", "system", "systemInstruction", "instructions"] {
            assert_eq!(first.body[name], second.body[name], "{wire}");
        }
        let said = ["messages", "contents", "input"].into_iter().find(|name| first.body.get(name).is_some()).unwrap();
        let text = |body: &Value| marks(&body[said].to_string());
        assert!(text(&second.body).starts_with(text(&first.body).trim_end_matches(']')), "{wire}");
    }
}

fn ends(ending: Ending, expected: impl Fn(Wire) -> Stop) {
    for (wire, dialect, named) in PAIRS {
        for delivery in [Delivery::Stream, Delivery::Whole] {
            let server = ModelServer::scripted([Turn::text("Well").ending(ending.clone())]);
            let reply = ask(&model(&server, dialect, named, delivery), &begun(), Choice::Auto).0.unwrap();
            assert_eq!(reply.stop, expected(wire), "{wire} {delivery:?}");
        }
    }
}

#[test]
fn every_way_to_end_has_its_word() {
    ends(Ending::Length, |_| Stop::Length);
    ends(Ending::Refused, |wire| if wire == Wire::Ollama { Stop::End } else { Stop::Refused });
    ends(Ending::Paused, |wire| if wire == Wire::Anthropic { Stop::Paused } else { Stop::End });
    ends(Ending::Strange, |wire| Stop::Other(if wire == Wire::Gemini { "OTHER" } else { "tired" }.into()));
}

#[test]
fn a_reply_without_its_end_is_an_error_and_is_not_asked_for_again_once_heard() {
    for (wire, dialect, named) in PAIRS {
        for ending in [Ending::Cut, Ending::Early] {
            let server = ModelServer::scripted([Turn::text("Well, then").ending(ending.clone())]);
            let model = model(&server, dialect, named, Delivery::Stream);
            let (reply, heard) = ask(&model, &begun(), Choice::Auto);
            let error = reply.unwrap_err();
            assert_eq!(error.why, Why::Reply, "{wire} {ending:?}: {error}");
            assert!(error.what.contains("too early"), "{wire} {ending:?}: {error}");
            assert!(heard[0].starts_with("text"), "{wire}");
            assert_eq!(server.questions().len(), 1, "{wire}");
        }
    }
}

#[test]
fn an_error_in_the_middle_says_whose_it_is() {
    for (wire, dialect, named) in PAIRS {
        let server = ModelServer::scripted([Turn::text("Well").ending(Ending::Breaks("Overloaded, sorry".into()))]);
        let error = ask(&model(&server, dialect, named, Delivery::Stream), &begun(), Choice::Auto).0.unwrap_err();
        assert_eq!(error.why, Why::Provider, "{wire}: {error}");
        assert!(error.what.contains("Overloaded, sorry"), "{wire}: {error}");
        assert_eq!(server.questions().len(), 1, "{wire}");
    }
}

#[test]
fn an_overloaded_provider_is_asked_again_when_it_says_and_not_for_ever() {
    for (wire, dialect, named) in PAIRS {
        let server =
            ModelServer::scripted([Turn::overloaded().after(0), Turn::fails(429, "slow").after(0), Turn::text("Yes")]);
        let (reply, heard) = ask(&model(&server, dialect, named, Delivery::Stream), &begun(), Choice::Auto);
        assert_eq!(reply.unwrap().said.text(), "Yes", "{wire}");
        assert_eq!(heard[..2], ["again 0", "again 0"], "{wire}");

        let server = ModelServer::answering(|_| Turn::overloaded().after(0));
        let error = ask(&model(&server, dialect, named, Delivery::Stream), &begun(), Choice::Auto).0.unwrap_err();
        assert_eq!((error.why, server.questions().len()), (Why::Provider, 3), "{wire}");
        assert!(error.what.contains("asked 3 times"), "{wire}: {error}");

        let server = ModelServer::answering(|_| Turn::overloaded().after(3600));
        let error = ask(&model(&server, dialect, named, Delivery::Stream), &begun(), Choice::Auto).0.unwrap_err();
        assert_eq!(
            (error.why, server.questions().len()),
            (Why::Provider, 1),
            "{wire}: an hour is for the person to decide"
        );
        assert!(error.what.contains("3600 s"), "{wire}: {error}");
    }
}

#[test]
fn errors_say_whose_fault_it_is_and_never_the_key() {
    for (wire, dialect, named) in PAIRS {
        for (status, message, why) in [
            (401, "Incorrect API key provided: sk-secret-of-mine", Why::Key),
            (400, "messages.0: what is that? sk-secret-of-mine", Why::Question),
            (404, "no such model", Why::Question),
            (400, "prompt is too long: 300000 tokens", Why::TooLong),
            (413, "too large", Why::TooLong),
        ] {
            let server = ModelServer::scripted([Turn::fails(status, message)]);
            let error = ask(&model(&server, dialect, named, Delivery::Stream), &begun(), Choice::Auto).0.unwrap_err();
            assert_eq!(error.why, why, "{wire} {status}: {error}");
            let told = message.replace("sk-secret-of-mine", "***");
            assert!(error.what.contains(&told), "{wire}: {error}");
        }
    }
    let nobody = Options { base_url: Some("http://127.0.0.1:1".into()), retries: 0, ..Options::default() };
    let error = ask(&reach("ollama:x", nobody, &|_| None).unwrap(), &begun(), Choice::Auto).0.unwrap_err();
    assert_eq!(error.why, Why::Unreachable, "{error}");
}

#[test]
fn what_is_no_object_reaches_the_loop_as_it_was_and_goes_back_as_one() {
    for (wire, dialect, named) in PAIRS {
        let garbled = Say::Garbled { name: "weather".into(), arguments: "{\"city\": \"Os".into() };
        let server = ModelServer::scripted([Turn::says([garbled]), Turn::text("Sorry.")]);
        let model = model(&server, dialect, named, Delivery::Stream);
        let mut transcript = begun();
        let reply = ask(&model, &transcript, Choice::Auto).0.unwrap();
        let intent = reply.said.intents().next().unwrap();
        assert_eq!(intent.arguments, Written::Unreadable("{\"city\": \"Os".into()), "{wire}");
        transcript.messages.extend([Message::Model(reply.said.clone()), answers(&reply)]);
        ask(&model, &transcript, Choice::Auto).0.unwrap_or_else(|error| panic!("{wire}: {error}"));
    }
}

#[test]
fn what_one_provider_wants_back_goes_to_no_other() {
    for (_, first, named) in PAIRS {
        let mut transcript = begun();
        let server = ModelServer::scripted([Turn::intent("weather", json!({})).thinking("Hm?")]);
        let reply = ask(&model(&server, first, named, Delivery::Stream), &transcript, Choice::Auto).0.unwrap();
        transcript.messages.extend([Message::Model(reply.said.clone()), answers(&reply)]);
        for (wire, dialect, named) in PAIRS.into_iter().filter(|(_, dialect, _)| *dialect != first) {
            let server = ModelServer::scripted([Turn::text("Rain.")]);
            ask(&model(&server, dialect, named, Delivery::Stream), &transcript, Choice::Auto).0.unwrap();
            let sent = server.questions()[0].body.to_string();
            assert!(!sent.contains("c2VhbGVk") && !sent.contains("Hm?"), "{first:?} to {wire}: {sent}");
        }
    }
}

#[test]
fn a_question_is_taken_back_by_dropping_it_and_silence_has_an_end() {
    for (wire, dialect, named) in PAIRS {
        let server =
            ModelServer::scripted([Turn::text("Well, then").ending(Ending::Stalls), Turn::Silent, Turn::text("Yes")]);
        let mut model = model(&server, dialect, named, Delivery::Stream);
        wait(async {
            let transcript = begun();
            let heard = tokio::sync::Notify::new();
            let mut ear = |_: Heard<'_>| heard.notify_one();
            let question = Ask { transcript: &transcript, tools: &[], choice: Choice::Auto, limit: None };
            tokio::select! {
                reply = model.ask(question, &mut ear) => panic!("{wire}: {reply:?}"),
                () = heard.notified() => {}
            }
        });
        model.be_impatient(std::time::Duration::from_millis(30));
        let error = ask(&model, &begun(), Choice::Auto).0.unwrap_err();
        assert_eq!(error.why, Why::Provider, "{wire}: {error}");
        model.be_impatient(std::time::Duration::from_secs(60));
        assert_eq!(ask(&model, &begun(), Choice::Auto).0.unwrap().said.text(), "Yes", "{wire}");
    }
}

#[test]
fn a_reply_beyond_the_bound_is_not_read() {
    for (wire, dialect, named) in PAIRS {
        let server = ModelServer::scripted([Turn::text("ha".repeat(5_000))]);
        let base_url = Some(server.base_url(dialect));
        let options = Options { base_url, reply_bytes: 4_000, delivery: Delivery::Whole, ..Options::default() };
        let error = ask(&reach(named, options, &|_| None).unwrap(), &begun(), Choice::Auto).0.unwrap_err();
        assert!(error.why == Why::Reply && error.what.contains("4000 bytes"), "{wire}: {error}");
    }
}

#[test]
fn more_is_put_into_the_question_and_into_its_objects() {
    let server = ModelServer::scripted([Turn::text("Yes")]);
    let more = json!({"options": {"num_ctx": 8192}, "think": true}).as_object().unwrap().clone();
    let options = Options { base_url: Some(server.base_url(Dialect::Ollama)), more, ..Options::default() };
    ask(&reach("ollama:x", options, &|_| None).unwrap(), &begun(), Choice::Auto).0.unwrap();
    let sent = &server.questions()[0].body;
    assert_eq!((&sent["options"], &sent["think"]), (&json!({"num_predict": 500, "num_ctx": 8192}), &json!(true)));
}

#[cfg(unix)]
#[test]
fn a_key_file_that_others_may_read_is_refused_and_no_text_shows_a_key() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolbay/keys/anthropic");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "sk-in-a-file\n").unwrap();
    let environment = |name: &str| (name == "XDG_CONFIG_HOME").then(|| folder.path().display().to_string());
    let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o640);
    let error = reach("anthropic:x", Options::default(), &environment).unwrap_err();
    assert!(error.why == Why::Key && error.what.contains("chmod 600"), "{error}");
    mode(0o600);
    let model = reach("anthropic:x", Options::default(), &environment).unwrap();
    let options = Options { key: Key::new("sk-in-options"), ..Options::default() };
    assert!(!format!("{model:?} {options:?}").contains("sk-in"), "{model:?} {options:?}");
}

#[test]
fn thoughts_that_are_signed_in_words_go_back_on_them() {
    let part = |text: &str, seal: Option<&str>| {
        let mut part = json!({"text": text});
        if let Some(seal) = seal {
            part["thoughtSignature"] = seal.into();
        }
        part
    };
    let parts = json!([part("a", None), part("b", Some("s1")), part("c", None), part("", Some("s2"))]);
    let document = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
    let mut transcript = begun();
    let question = Ask { transcript: &transcript, tools: &[], choice: Choice::Auto, limit: None };
    let reply = super::reply(Wire::Gemini, question, &document).unwrap();
    assert_eq!(reply.said.text(), "abc");
    assert!(reply.said.pieces.iter().any(|piece| matches!(piece, Piece::Kept(_))));
    transcript.messages.push(Message::Model(reply.said));
    let ask = Ask { transcript: &transcript, tools: &[], choice: Choice::Auto, limit: None };
    let question = super::Question { ask, model: "x", delivery: Delivery::Stream, house: super::House::Own };
    assert_eq!(super::request(Wire::Gemini, &question)["contents"][1]["parts"], parts);
}
