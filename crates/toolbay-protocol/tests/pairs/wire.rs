//! What lies on the wires is what the official schemas allow, undeclared keys forbidden.

use std::collections::HashMap;

use toolbay_protocol::{
    ErrorObject, Feature, Frame, Id, Method, Raw, Revision,
    greeting::envelope,
    peer::Call,
    watch::{Filter, legacy},
};
use toolbay_testkit::{Host, Pair, Service, Trio};

use super::{each_pair, schema::Spec, tool};

/// Checks lines, each against what its method means in the revision that it is written in.
struct Judge {
    spec: Spec,
    validators: HashMap<(Revision, String), Option<jsonschema::Validator>>,
    judged: usize,
}

impl Judge {
    fn check(&mut self, revision: Revision, path: String, value: &Raw) {
        let of = self.spec.revisions.iter().find(|of| of.revision == revision).expect("all revisions are there");
        let validator = self.validators.entry((revision, path.clone())).or_insert_with(|| of.validator(&path));
        let validator = validator.as_ref().unwrap_or_else(|| panic!("{revision} does not define {path}"));
        let value = value.read().expect("a value is JSON");
        self.judged += 1;
        if let Some(flaw) = validator.iter_errors(&value).next() {
            panic!("{path} in {revision}: {flaw} at {} of {value}", flaw.instance_path());
        }
    }

    fn pair(&mut self, pair: &Pair) {
        let frames = |log: &[String]| -> Vec<Frame> {
            log.iter().map(|line| Frame::parse(&line.clone().into()).expect("both sides write frames")).collect()
        };
        let (up, down) = (frames(pair.up.log()), frames(pair.down.log()));
        self.one_way(pair.revision(), &up, &down);
        self.one_way(pair.revision(), &down, &up);
    }

    fn one_way(&mut self, spoken: Revision, lines: &[Frame], answers: &[Frame]) {
        let mut asked: HashMap<Id, (Revision, Method)> = HashMap::new();
        for frame in lines {
            match frame {
                Frame::Request { id, method, params, .. } => {
                    let modern = envelope::is_modern(params.as_ref());
                    let revision = if modern { Revision::LATEST } else { spoken };
                    // The opening itself offers the newest, before anything is agreed.
                    if *method != Method::Initialize {
                        let params = params.clone().unwrap_or(Raw::EMPTY);
                        self.check(revision, format!("{}Request/params", name(method)), &params);
                    }
                    asked.insert(id.clone(), (revision, method.clone()));
                }
                Frame::Notification { method, params: Some(params) } => {
                    self.check(spoken, format!("{}Notification/params", name(method)), params);
                }
                Frame::Error { error, .. } => {
                    let error = ErrorObject::read(error);
                    assert!(!error.message.is_empty() && error.message != "peer sent a malformed error");
                }
                Frame::Notification { params: None, .. } | Frame::Result { .. } => {}
            }
        }
        for frame in answers {
            let Frame::Result { id, result } = frame else { continue };
            let Some((revision, method)) = asked.get(id) else { panic!("an answer to nothing: {frame:?}") };
            let waits = result.get("resultType").and_then(|kind| kind.as_text().map(|kind| kind == "input_required"));
            let path = match method {
                _ if waits == Some(true) => "InputRequired".to_owned(),
                Method::Ping | Method::SetLevel | Method::Subscribe | Method::Unsubscribe => "Empty".to_owned(),
                method => name(method).to_owned(),
            };
            self.check(*revision, format!("{path}Result"), result);
        }
    }
}

/// What the schemas call a method.
fn name(method: &Method) -> &'static str {
    match method {
        Method::Initialize => "Initialize",
        Method::Initialized => "Initialized",
        Method::Discover => "Discover",
        Method::Ping => "Ping",
        Method::ToolsList => "ListTools",
        Method::ToolsCall => "CallTool",
        Method::ResourcesList => "ListResources",
        Method::TemplatesList => "ListResourceTemplates",
        Method::ResourcesRead => "ReadResource",
        Method::PromptsList => "ListPrompts",
        Method::PromptsGet => "GetPrompt",
        Method::Complete => "Complete",
        Method::SetLevel => "SetLevel",
        Method::Subscribe => "Subscribe",
        Method::Unsubscribe => "Unsubscribe",
        Method::Listen => "SubscriptionsListen",
        Method::CreateMessage => "CreateMessage",
        Method::RootsList => "ListRoots",
        Method::Elicit => "Elicit",
        Method::Cancelled => "Cancelled",
        Method::Progress => "Progress",
        Method::Message => "LoggingMessage",
        Method::ToolsChanged => "ToolListChanged",
        Method::PromptsChanged => "PromptListChanged",
        Method::ResourcesChanged => "ResourceListChanged",
        Method::ResourceUpdated => "ResourceUpdated",
        Method::RootsChanged => "RootsListChanged",
        Method::Acknowledged => "SubscriptionsAcknowledged",
        other => panic!("{other} was never expected here"),
    }
}

/// One of everything.
fn converse(trio: &mut Trio, caller: Revision) {
    let (mut host, mut service) = (Host::default(), Service::default());
    for method in [Method::ToolsList, Method::PromptsList, Method::ResourcesList, Method::TemplatesList] {
        trio.call(Call::new(method, None));
    }
    let subscribe = match caller.has(Feature::Stateless) {
        true => {
            Call::new(Method::Listen, Some(Filter { uris: ["mem:a".to_owned()].into(), ..Filter::lists() }.write()))
        }
        false => Call::new(Method::Subscribe, Some(legacy::about("mem:a"))),
    };
    let subscribed = trio.call(subscribe);
    if caller.has(Feature::Handshake) {
        trio.call(Call::new(Method::SetLevel, Some(Raw::of(&serde_json::json!({"level": "debug"})))));
        trio.call(Call::new(Method::Ping, None));
        trio.call(Call::new(Method::Unsubscribe, Some(legacy::about("mem:b"))));
    }
    for name in
        ["echo", "progress", "log", "ask", "sample", "ask_both", "ask_twice", "come_back", "fail", "lost", "none"]
    {
        trio.call(tool(name));
        trio.play(&mut host, &mut service);
    }
    trio.call(Call::new(Method::ResourcesRead, Some(legacy::about("mem:sample"))));
    trio.call(Call::new(Method::PromptsGet, Some(Raw::of(&serde_json::json!({"name": "echo"})))));
    service.go_on("progress", &mut trio.back.server);
    for change in [toolbay_protocol::watch::Change::Tools, toolbay_protocol::watch::Change::Updated("mem:a".into())] {
        service.change(&change, &mut trio.back.server);
    }
    let slow = trio.call(tool("slow"));
    trio.play(&mut host, &mut service);
    trio.front.client.cancel(slow, "enough");
    if caller.has(Feature::Stateless) {
        trio.front.client.cancel(subscribed, "enough");
    }
    trio.assert_clean(&mut host, &mut service);
}

#[test]
fn every_line_between_any_two_is_valid_in_its_revision() {
    let Some(spec) = Spec::load() else { return };
    let mut judge = Judge { spec, validators: HashMap::new(), judged: 0 };
    each_pair(|caller, callee| {
        let mut trio = Trio::open(caller, callee).expect("they meet");
        converse(&mut trio, caller);
        judge.pair(&trio.front);
        judge.pair(&trio.back);
    });
    assert!(judge.judged > 2000, "{} lines", judge.judged);
}
