//! One poisonous tool among ten: it is named, and its nine siblings pass as they were written.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{net::TcpListener, time::timeout};
use tokio_util::sync::CancellationToken;
use toolbay_gateway::{
    Bay, Identity,
    catalog::Listed,
    config::{Endpoint, Remote, Url},
    servers::{Phase, Plan, Spec, endpoint},
};
use toolbay_protocol::{ErrorObject, Method, Raw, Revision, exchange::Outcome, greeting::Profile, watch::Filter};
use toolbay_transport::{Caller, Cx, Hub, Request, Service, Watch, http::server};

const SOON: Duration = Duration::from_secs(20);

/// A server with these tools.
struct Ten(Vec<Raw>, Hub);

impl Service for Ten {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "ten", "version": "1"})),
            capabilities: Raw::of(&json!({"tools": {}})),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        match request.method {
            Method::ToolsList => {
                let mut result = toolbay_protocol::raw::Object::with_capacity(1024);
                result.put("tools", &Raw::array(&self.0));
                Ok(result.finish())
            }
            _ => Err(ErrorObject::internal("nothing but a list")),
        }
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.1.watch(filter))
    }
}

/// What becomes of the poison.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    LeftOut,
    MadeSafe,
}

use Fate::{LeftOut, MadeSafe};

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned().into(), Default::default()).unwrap()
}

fn tool(name: &str, schema: Value) -> Raw {
    Raw::of(&json!({"name": name, "inputSchema": schema}))
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({"type": "string"}), |inner, _| json!({"properties": {"a": inner}}))
}

/// The poison, the name it is reported under, what is said of it, and what becomes of it.
fn poisons() -> Vec<(Raw, &'static str, &'static str, Fate)> {
    let long = "n".repeat(300);
    vec![
        (tool("loop", json!({"type": "object", "$ref": "#"})), "loop", "without end", LeftOut),
        (tool("odd", json!({"type": "object", "properties": {"x": {"type": "strnig"}}})), "odd", "strnig", LeftOut),
        (
            tool("huge", json!({"type": "object", "description": "x".repeat(2 << 20)})),
            "huge",
            "definitionBytes",
            LeftOut,
        ),
        (
            raw(r#"{"name":"half","description":"\ud83d","inputSchema":{"type":"object"}}"#),
            "half",
            "surrogate",
            MadeSafe,
        ),
        (raw(r#"{"name":"h\udfff","inputSchema":{"type":"object"}}"#), "udfff", "surrogate", LeftOut),
        (tool(&long, json!({"type": "object"})), "nnnn", "128 characters", MadeSafe),
        (tool("flat", json!(["no", "object"])), "flat", "no object", LeftOut),
        (Raw::of(&json!({"name": "bare"})), "bare", "no input schema", LeftOut),
        (tool("untyped", json!({"properties": {}})), "untyped", "no type", MadeSafe),
        (tool("text", json!({"type": "string"})), "text", "object", LeftOut),
        (tool("t3", json!({"type": "object"})), "t3", "already", LeftOut),
        (
            tool("far", json!({"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/s.json"}}})),
            "far",
            "nothing is fetched",
            LeftOut,
        ),
        (tool("deep", json!({"type": "object", "properties": {"x": nested(60)}})), "deep", "limit `depth`", LeftOut),
        (tool("abyss", json!({"type": "object", "properties": {"x": nested(400)}})), "abyss", "limit `depth`", LeftOut),
        (
            Raw::of(&json!({"name": "wrong", "description": 7, "inputSchema": {"type": "object"}})),
            "wrong",
            "cannot be read",
            LeftOut,
        ),
        (raw(r#"{"name":"twice","name":"other","inputSchema":{"type":"object"}}"#), "twice", "a key twice", LeftOut),
        (Raw::of(&json!({"inputSchema": {"type": "object"}})), "item 5", "no string", LeftOut),
        (Raw::of(&json!(7)), "item 5", "no string", LeftOut),
    ]
}

/// Siblings with what must not be touched: references, numbers as they were written, unknown members.
fn sibling(place: usize) -> Raw {
    raw(&format!(
        r##"{{"name":"t{place}","x-own":1.50,"inputSchema":{{"type":"object","$defs":{{"a":{{"type":"string"}}}},"properties":{{"a":{{"$ref":"#/$defs/a"}},"tree":{{"type":"array","items":{{"$ref":"#"}}}}}}}}}}"##
    ))
}

#[tokio::test]
async fn one_poisonous_tool_is_named_and_leaves_nine() {
    for (poison, name, says, fate) in poisons() {
        let mut tools: Vec<_> = (0..9).map(sibling).collect();
        tools.insert(4, poison);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, end) = (listener.local_addr().unwrap(), CancellationToken::new());
        let ten = server::Endpoint::new(Arc::new(Ten(tools, Hub::new())), server::Options::default());
        let served = tokio::spawn(server::serve(listener, ten, end.clone()));
        let url = Url::parse(&format!("http://{address}/mcp")).unwrap();
        let spec = Spec {
            revision: Some(Revision::LATEST),
            ..Spec::planned("ten", "http", Plan::Connect(endpoint(Endpoint::Http(Remote::bare(url)))))
        };
        let bay = Bay::open(&Identity { name: "bay".into(), version: "0".into() }, vec![spec]).unwrap();
        timeout(SOON, bay.settled()).await.unwrap();
        assert!(matches!(bay.status()[0].phase, Phase::Ready { .. }), "{name}: {:?}", bay.status());
        let catalog = bay.catalog();
        for place in 0..9 {
            let found = catalog.find(Listed::Tools, &format!("ten__t{place}")).expect(name);
            assert_eq!(found.definition, sibling(place), "{name}");
        }
        let expected = if fate == LeftOut { 9 } else { 10 };
        let reports: Vec<_> = bay.reports().into_iter().map(|report| report.what).collect();
        assert_eq!(catalog.count(Listed::Tools), expected, "{name}: {reports:?}");
        assert!(reports.len() == 1 && reports[0].contains(name) && reports[0].contains(says), "{name}: {reports:?}");
        let shown = catalog.result(Listed::Tools, Revision::LATEST);
        assert!(shown.read::<Value>().is_ok(), "{name}: nobody can read the list");
        bay.close().await;
        end.cancel();
        served.await.unwrap().unwrap();
    }
}
