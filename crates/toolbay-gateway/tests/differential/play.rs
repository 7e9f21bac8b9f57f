//! The server: one thing of everything, written in its caller's own revision.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use toolbay_protocol::{
    ErrorObject, Feature, Method, Raw, Revision,
    exchange::{Ask, Asks, Note, Outcome},
    fault::code,
    greeting::Profile,
    method::TASKS,
    types::relay::{conform_params, conform_result},
    watch::{Change, Filter},
};
use toolbay_transport::{Caller, Cx, Hub, Reply, Request, Service, Voice, Watch};

use crate::job::{self, Jobs};

#[derive(Default)]
pub(crate) struct Play {
    hub: Hub,
    grown: AtomicUsize,
    hanging: Arc<(AtomicUsize, AtomicUsize)>,
    jobs: Jobs,
    voices: Mutex<Vec<Voice>>,
    roots_changed: AtomicUsize,
}

pub(crate) fn text(params: &Raw, key: &str) -> String {
    params.get(key).as_ref().and_then(Raw::as_text).unwrap_or_default().into_owned()
}

pub(crate) fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": false})
}

const TOOLS: [&str; 22] = [
    "echo",
    "content",
    "fails",
    "sad",
    "steps",
    "logs",
    "elicit",
    "visit",
    "sample",
    "sample_tools",
    "roots",
    "several",
    "rounds",
    "touch",
    "grow",
    "hangs",
    "hung",
    "leaves",
    "declined",
    "says",
    "told",
    "job",
];

impl Play {
    fn list(&self, method: &Method, cursor: &str, core: bool) -> Value {
        let tool = |name: &str| {
            let mut tool = json!({
                "name": name, "title": "T", "description": "d", "inputSchema": {"type": "object", "x-odd": [1.50]},
                "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}, "vendor": {"deep": 1},
                "icons": [{"src": "https://x/y.png"}],
                "_meta": {"ui": {"resourceUri": "ui://app"}, "vendor/x": 1}
            });
            if core && name == "job" {
                tool["execution"] = json!({"taskSupport": "optional"});
            }
            tool
        };
        match method {
            Method::ToolsList if cursor.is_empty() => {
                json!({"tools": TOOLS[..9].iter().map(|name| tool(name)).collect::<Vec<_>>(), "nextCursor": "2"})
            }
            Method::ToolsList => {
                let mut tools: Vec<_> = TOOLS[9..].iter().map(|name| tool(name)).collect();
                tools.extend((0..self.grown.load(Ordering::SeqCst)).map(|place| tool(&format!("more{place}"))));
                json!({"tools": tools})
            }
            Method::PromptsList => {
                let mut prompts = vec![json!({"name": "greet", "arguments": [{"name": "who"}], "vendor": 1})];
                prompts.extend(
                    (0..self.grown.load(Ordering::SeqCst)).map(|place| json!({"name": format!("more{place}")})),
                );
                json!({"prompts": prompts})
            }
            Method::ResourcesList => json!({"resources": [
                {"uri": "test://one", "name": "one", "size": 3}, {"uri": "test://two", "name": "two"},
                {"uri": "test://gone", "name": "gone"},
                {"uri": "ui://app", "name": "app", "mimeType": "text/html;profile=mcp-app"}
            ]}),
            _ => json!({"resourceTemplates": [{"uriTemplate": "test://t/{id}", "name": "t"}]}),
        }
    }

    async fn tool(&self, request: &Request, cx: &Cx) -> Result<Value, ErrorObject> {
        let arguments = request.params.get("arguments").unwrap_or(Raw::EMPTY);
        match text(&request.params, "name").as_str() {
            "echo" => {
                let meta = request.params.get("_meta").unwrap_or(Raw::EMPTY);
                let kept = ["traceparent", "tracestate", "baggage", "vendor/y"].map(|key| (key, meta.get(key)));
                let kept: serde_json::Map<_, _> =
                    kept.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.read().ok()?))).collect();
                let structured = json!({"arguments": arguments.as_str(), "meta": kept});
                let mut result = said(&structured.to_string());
                result["structuredContent"] = structured;
                result["odd"] = json!({"deep": [1.5, null]});
                result["_meta"] = json!({"vendor/z": {"a": 1}});
                Ok(result)
            }
            "content" => Ok(json!({"content": [
                {"type": "text", "text": "é\u{1F600}", "annotations": {"audience": ["user"], "priority": 0.5}},
                {"type": "image", "data": "AAAA", "mimeType": "image/png", "_meta": {"v/1": 1}},
                {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "test://one", "text": "1", "mimeType": "text/plain"}},
                {"type": "resource_link", "uri": "test://one", "name": "one", "title": "One"}
            ]})),
            "fails" => Err(ErrorObject::new(-77, "it fails").with_data(&json!({"deep": [1]}))),
            "sad" => Ok(json!({"content": [{"type": "text", "text": "no"}], "isError": true})),
            "steps" => {
                for step in 1..=3 {
                    let _ = cx.note(Note::progress(f64::from(step), Some(3.0), Some("on the way"))).await;
                }
                Ok(said("stepped"))
            }
            "logs" => {
                for level in ["debug", "warning", "error"] {
                    let params = json!({"level": level, "logger": "play", "data": {"n": 1}});
                    let _ = cx.note(Note::new(Method::Message, Raw::of(&params))).await;
                }
                Ok(said("logged"))
            }
            "leaves" => {
                let _ = cx.note(Note::progress(1.0, None, None)).await;
                cx.hang_up(Duration::from_millis(10));
                let _ = cx.note(Note::progress(2.0, None, None)).await;
                Ok(said("left"))
            }
            // Of what belongs to no request a session alone is told.
            "says" if request.caller.introduction.revision.has(Feature::Stateless) => Ok(said("nothing")),
            "says" => {
                let (method, params) = match arguments.get("complete").is_some() {
                    true => (Method::ElicitationComplete, json!({"elicitationId": "e-1"})),
                    false => (Method::Message, json!({"level": "error", "logger": "outside", "data": {"n": 1.50}})),
                };
                let voices = self.voices.lock().unwrap();
                voices.iter().for_each(|voice| voice.say(Note::new(method.clone(), Raw::of(&params))));
                Ok(said("said"))
            }
            "told" if request.caller.introduction.revision.has(Feature::Stateless) => Ok(said("never")),
            "told" => Ok(said(&self.roots_changed.load(Ordering::SeqCst).to_string())),
            "touch" => {
                let one = arguments.get("uri").as_ref().and_then(Raw::as_text).map(Into::into);
                self.hub.publish(&Change::Updated(one.unwrap_or("test://one".into())));
                Ok(said("touched"))
            }
            "grow" => {
                self.grown.fetch_add(1, Ordering::SeqCst);
                [Change::Tools, Change::Prompts, Change::Resources].iter().for_each(|change| self.hub.publish(change));
                Ok(said("grown"))
            }
            "hangs" => {
                let _held = Held::new(&self.hanging);
                std::future::pending().await
            }
            "hung" => {
                let (begun, ended) = &*self.hanging;
                Ok(said(&format!("{} {}", begun.load(Ordering::SeqCst), ended.load(Ordering::SeqCst))))
            }
            asking => self.asking(asking, request, cx).await,
        }
    }

    async fn asking(&self, tool: &str, request: &Request, cx: &Cx) -> Result<Value, ErrorObject> {
        let rounds: &[&[&str]] = match tool {
            "elicit" => &[&["form"]],
            "declined" => &[&["no"]],
            "visit" => &[&["page"]],
            "sample" => &[&["model"]],
            "sample_tools" => &[&["model_tools"]],
            "roots" => &[&["roots"]],
            "several" => &[&["form", "model"]],
            "rounds" => &[&["form"], &["model"]],
            other => return Err(ErrorObject::invalid_params(format!("unknown tool {other}"))),
        };
        let state = request.returning.state.as_ref().and_then(Raw::as_text).unwrap_or_default();
        let mut done: Vec<String> = state.split('|').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        if let Some(answers) = &request.returning.answers {
            done.push(shown(answers.iter()));
        }
        while let Some(round) = rounds.get(done.len()) {
            let asks = round.iter().map(|key| ((*key).to_owned(), question(key, request))).collect::<Asks>();
            match cx.ask(asks, Some(Raw::of(&done.join("|")))).await {
                Ok(Reply::Answers(answers)) => done.push(shown(answers.iter())),
                Ok(Reply::WillReturn) | Err(_) => return Ok(json!({})),
            }
        }
        Ok(said(&done.join(" then ")))
    }
}

pub(crate) fn shown<'a>(answers: impl Iterator<Item = (&'a str, &'a Outcome)>) -> String {
    let mut all: Vec<_> = answers
        .map(|(key, answer)| match answer {
            Ok(answer) => format!("{key}: {}", answer.as_str()),
            Err(error) => format!("{key}: {}", error.code),
        })
        .collect();
    all.sort();
    all.join(", ")
}

pub(crate) fn question(key: &str, request: &Request) -> Ask {
    let message = json!([{"role": "user", "content": {"type": "text", "text": "?"}}]);
    let (method, params) = match key {
        "form" => {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string", "default": "x"}}});
            (Method::Elicit, json!({"mode": "form", "message": "who?", "requestedSchema": schema}))
        }
        "no" => {
            let schema = json!({"type": "object", "properties": {}});
            (Method::Elicit, json!({"mode": "form", "message": "no?", "requestedSchema": schema}))
        }
        "page" => (Method::Elicit, json!({"mode": "url", "message": "go", "url": "https://x/y"})),
        "model" => (Method::CreateMessage, json!({"messages": message, "maxTokens": 9, "systemPrompt": "be"})),
        "model_tools" => {
            let tools = json!([{"name": "t", "inputSchema": {"type": "object"}}]);
            (Method::CreateMessage, json!({"messages": message, "maxTokens": 9, "tools": tools}))
        }
        _ => (Method::RootsList, json!({})),
    };
    let revision = request.caller.introduction.revision;
    let params = conform_params(&method, &Raw::of(&params), Revision::LATEST, revision).unwrap();
    Ask { method, params: Some(params) }
}

/// Counts calls that began to hang, and those of them that ended.
struct Held(Arc<(AtomicUsize, AtomicUsize)>);

impl Held {
    fn new(counts: &Arc<(AtomicUsize, AtomicUsize)>) -> Self {
        counts.0.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(counts))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.1.fetch_add(1, Ordering::SeqCst);
    }
}

impl Service for Play {
    fn profile(&self) -> Arc<Profile> {
        let list = json!({"listChanged": true});
        let capabilities = json!({
            "tools": list, "prompts": list, "resources": {"subscribe": true, "listChanged": true},
            "completions": {}, "logging": {}, "extensions": {TASKS: {}, "io.modelcontextprotocol/ui": {}},
            "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
        });
        let server = Raw::of(&json!({"name": "play", "version": "1"}));
        Arc::new(Profile { server, capabilities: Raw::of(&capabilities), instructions: None })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        let revision = request.caller.introduction.revision;
        let result = match &request.method {
            Method::TasksGet | Method::TasksCancel | Method::TasksList | Method::TasksResult | Method::TasksUpdate => {
                return self.jobs.task(&request, &cx).await;
            }
            Method::ToolsCall if text(&request.params, "name") == "job" => return Ok(self.jobs.begin(&request)),
            Method::ToolsCall => self.tool(&request, &cx).await?,
            Method::PromptsGet => json!({"description": "d", "messages": [{"role": "user", "content": {
                "type": "text", "text": format!("{:?}", request.params.get("arguments"))
            }}]}),
            Method::ResourcesRead => match &*text(&request.params, "uri") {
                "test://gone" => return Err(ErrorObject::new(code::RESOURCE_NOT_FOUND, "gone")),
                "ui://app" => json!({"contents": [{
                    "uri": "ui://app", "mimeType": "text/html;profile=mcp-app", "text": "<p>",
                    "_meta": {"ui": {"csp": {"connectDomains": ["https://x"]}, "prefersBorder": true}}
                }]}),
                uri => json!({"contents": [{"uri": uri, "text": "x"}, {"uri": uri, "blob": "AAAA"}]}),
            },
            Method::Complete => json!({"completion": {"values": ["a", "b"], "total": 2, "hasMore": false}}),
            Method::SetLevel => return Ok(Raw::EMPTY),
            list => self.list(list, &text(&request.params, "cursor"), job::core(&request)),
        };
        let from = Revision::LATEST;
        // What is written here is complete, and needs no more words for it.
        let result = if revision == from {
            Raw::of(&result)
        } else {
            conform_result(&request.method, &Raw::of(&result), from, revision)?
        };
        Ok(result)
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        let watch = self.hub.watch(filter);
        self.voices.lock().unwrap().push(watch.voice());
        Ok(watch)
    }

    async fn note(&self, _: &Arc<Caller>, note: Note) {
        if note.method == Method::RootsChanged {
            self.roots_changed.fetch_add(1, Ordering::SeqCst);
        }
    }
}
