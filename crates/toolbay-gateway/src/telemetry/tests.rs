use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Outcome, Return},
    frame::{Part, Parts},
    greeting::{Introduction, Profile},
    peer::Call,
    watch::Filter,
};
use toolbay_transport::{Approach, Caller, Cx, Headers, Hub, Principal, Request, Service, Watch, connect, duplex};

use super::{
    context::Context,
    durations::{BOUNDS, Durations, Kind},
    labels::{Failed, Labels, Network},
    otlp,
    span::{Side, Span, Status},
};
use crate::{
    Bay, Identity, StateKey,
    audit::End,
    config::Start,
    limits::Limits,
    servers::Spec,
    telemetry::{Encoding, Settings, Telemetry},
};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const QUIET: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

fn telemetry(set: &[(&str, &str)]) -> Telemetry {
    let here = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let look = |name: &str| {
        let found = set.iter().chain([&here]).find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let (settings, remarks) = Settings::read(&look, "0");
    assert!(remarks.is_empty(), "{remarks:?}");
    Telemetry::new(settings.unwrap())
}

fn request(params: &Value, headers: &[(&'static str, &str)]) -> Request {
    let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    let introduction = Arc::new(Introduction::anonymous(Revision::LATEST));
    let params = Raw::of(params);
    Request {
        method: Method::ToolsCall,
        parts: Parts::of(&params).unwrap(),
        params,
        caller: Arc::new(Caller { introduction, principal: Principal::Local, session: None, device: None }),
        returning: Return::default(),
        headers: Headers::of(headers),
    }
}

fn passed_on(request: &Request) -> Option<Context> {
    Context::of_meta(request)
}

#[test]
fn a_request_goes_on_as_part_of_its_callers_trace() {
    let telemetry = telemetry(&[]);
    let parent = Context::parse(PARENT).unwrap();
    let in_meta = request(&json!({"_meta": {"tracestate": "v=1", "a": 1, "traceparent": PARENT}, "name": "x"}), &[]);
    let short = request(&json!({"_meta": {}, "name": "x"}), &[("traceparent", PARENT), ("tracestate", "v=1")]);
    let in_headers = request(&json!({"name": "x"}), &[("traceparent", PARENT), ("tracestate", "v=1")]);
    for mut request in [in_meta, in_headers, short] {
        let _trace = telemetry.begin(&mut request);
        let on = passed_on(&request).unwrap();
        assert_eq!(request.part(Part::Name), request.params.get("name"), "it is found where it stands now");
        assert!(on.trace == parent.trace && on.span != parent.span && on.is_sampled());
        assert_eq!(on.state.as_deref(), Some("v=1"));
    }
    // What the message says counts more than what its transport says.
    let mut both =
        request(&json!({"_meta": {"traceparent": PARENT}}), &[("traceparent", &PARENT.replace("4bf9", "aaaa"))]);
    let _trace = telemetry.begin(&mut both);
    assert_eq!(passed_on(&both).unwrap().trace, parent.trace);
    let mut alone = request(&json!({"name": "x"}), &[]);
    let _trace = telemetry.begin(&mut alone);
    assert!(passed_on(&alone).unwrap().is_sampled(), "a trace begins here");
}

#[test]
fn a_trace_that_its_caller_keeps_out_is_passed_on_as_it_was_written() {
    let params = json!({"name": "x", "_meta": {"traceparent": QUIET, "tracestate": "v=1"}});
    for set in [&[][..], &[("OTEL_TRACES_SAMPLER", "always_off")], &[("OTEL_TRACES_EXPORTER", "none")]] {
        let mut kept_out = request(&params, &[]);
        let _trace = telemetry(set).begin(&mut kept_out);
        assert_eq!(kept_out.params, Raw::of(&params), "{set:?}");
    }
    let mut ours = request(&json!({"name": "x"}), &[]);
    let _trace = telemetry(&[("OTEL_TRACES_SAMPLER", "always_off")]).begin(&mut ours);
    assert!(!passed_on(&ours).unwrap().is_sampled(), "nobody after us begins to record it");
}

/// A server of an older revision with one tool.
struct Older;

impl Service for Older {
    fn profile(&self) -> Arc<Profile> {
        let (server, capabilities) = (json!({"name": "older", "version": "1"}), json!({"tools": {}}));
        Arc::new(Profile { server: Raw::of(&server), capabilities: Raw::of(&capabilities), instructions: None })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        Ok(Raw::of(&match request.method {
            Method::ToolsList => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
            _ => json!({"content": []}),
        }))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(Hub::new().watch(filter))
    }
}

#[tokio::test(start_paused = true)]
async fn the_span_of_a_call_that_wakes_its_server_names_what_that_server_speaks() {
    let telemetry = telemetry(&[]);
    let spec =
        Spec { revision: Some(Revision::V2025_06_18), start: Start::OnDemand, ..Spec::embedded("s", Arc::new(Older)) };
    let (identity, key) = (Identity { name: "bay".into(), version: "0".into() }, StateKey::random().unwrap());
    let bay = Bay::open_observed(&identity, vec![spec], &key, Limits::default(), Some(&telemetry)).unwrap();
    let approach = Approach::new(Introduction::anonymous(Revision::LATEST));
    let client = connect::memory(Arc::new(bay.clone()), duplex::Options::default(), approach).await.unwrap();
    let call = Call::new(Method::ToolsCall, Some(Raw::of(&json!({"name": "s__t"}))));
    assert!(client.request(call).await.unwrap().is_ok());
    let revisions = |side| -> Vec<_> {
        let all = telemetry.0.durations.read(side);
        all.into_iter()
            .filter_map(|(kind, _)| match kind {
                Kind::One(labels) if labels.method == Method::ToolsCall => Some(labels.revision),
                _ => None,
            })
            .collect()
    };
    assert_eq!(
        (revisions(Side::Server), revisions(Side::Client)),
        (vec![Revision::LATEST], vec![Revision::V2025_06_18])
    );
    bay.close().await;
}

#[test]
fn a_span_that_finds_no_room_is_dropped_and_counted_while_numbers_go_on() {
    let telemetry = telemetry(&[("OTEL_BSP_MAX_QUEUE_SIZE", "2")]);
    for _ in 0..5 {
        let mut request = request(&json!({"name": "x"}), &[]);
        let mut trace = telemetry.begin(&mut request);
        trace.comes_to(&Err(ErrorObject::internal("no")));
        trace.close(&End::Failed(-32603), Duration::from_millis(3));
    }
    assert_eq!((telemetry.told().sent, telemetry.told().dropped), (0, 3));
    let counted = telemetry.0.durations.read(Side::Server);
    assert!(counted.len() == 1 && counted[0].1.count == 5, "{counted:?}");
    assert_eq!(telemetry.0.dropped.load(Relaxed), 3);
}

#[test]
fn kinds_of_operations_beyond_the_limit_are_counted_together() {
    let durations = Durations::default();
    for tool in 0..2500 {
        let labels = Labels {
            method: Method::ToolsCall,
            target: Some(format!("tool {tool}").into()),
            revision: Revision::LATEST,
            network: Network::Pipe,
            server: None,
            address: None,
            failure: None,
        };
        durations.count(Side::Server, labels, Duration::from_millis(tool + 1));
    }
    let all = durations.read(Side::Server);
    assert_eq!(all.len(), 2001);
    assert_eq!(all.iter().map(|(_, spread)| spread.count).sum::<u64>(), 2500);
    let (kind, others) = all.last().unwrap();
    assert!(*kind == Kind::Others && others.count == 500);
    assert_eq!(others.buckets.iter().sum::<u64>(), 500);
    assert_eq!(others.buckets[BOUNDS.iter().position(|bound| *bound == 5.0).unwrap()], 500);
}

/// A message as it was read: each field's number and what stands in it.
#[derive(Debug, PartialEq)]
enum Read {
    Number(u64),
    Bytes(Vec<u8>),
}

fn read(mut text: &[u8]) -> BTreeMap<u64, Vec<Read>> {
    fn varint(text: &mut &[u8]) -> u64 {
        let mut number = 0;
        for place in 0.. {
            let byte = text[0];
            *text = &text[1..];
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                break;
            }
        }
        number
    }
    fn take<'t>(text: &mut &'t [u8], length: usize) -> &'t [u8] {
        let (taken, rest) = text.split_at(length);
        *text = rest;
        taken
    }
    let mut fields: BTreeMap<u64, Vec<Read>> = BTreeMap::new();
    while !text.is_empty() {
        let key = varint(&mut text);
        let value = match key & 7 {
            0 => Read::Number(varint(&mut text)),
            1 => Read::Number(u64::from_le_bytes(take(&mut text, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut text) as usize;
                Read::Bytes(take(&mut text, length).to_vec())
            }
            5 => Read::Number(u32::from_le_bytes(take(&mut text, 4).try_into().unwrap()).into()),
            other => panic!("no such sort: {other}"),
        };
        fields.entry(key >> 3).or_default().push(value);
    }
    fields
}

fn within(text: &[u8], path: &[u64]) -> Read {
    let mut text = text.to_vec();
    let (last, path) = path.split_last().unwrap();
    for number in path {
        let Some(Read::Bytes(next)) = read(&text).remove(number).map(|mut all| all.remove(0)) else {
            panic!("no message in {number}")
        };
        text = next;
    }
    read(&text).remove(last).map(|mut all| all.remove(0)).unwrap_or_else(|| panic!("nothing in {last}"))
}

fn span() -> Span {
    Span {
        context: Context { state: Some("v=1".into()), ..Context::parse(PARENT).unwrap() },
        parent: Some(super::context::SpanId([7; 8])),
        link: Context::parse(QUIET).map(Box::new),
        side: Side::Client,
        begun: SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000),
        took: Duration::from_millis(300),
        labels: Labels {
            method: Method::ToolsCall,
            target: Some("x".into()),
            revision: Revision::LATEST,
            network: Network::None,
            server: None,
            address: Some(("host".into(), 8080)),
            failure: Some(Failed::Code(-32603)),
        },
        more: vec![("mcp.session.id", "s".into())],
        outcome: None,
        status: Status::Failed("no".into()),
    }
}

#[test]
fn a_span_is_written_by_number_and_by_name() {
    let (of, spans) = ([("service.name".to_owned(), "bay".to_owned())], [span()]);
    let text = otlp::spans(Encoding::Protobuf, &of, &spans);
    let at = |path: &[u64]| within(&text, &[&[1, 2, 2], path].concat());
    assert_eq!(at(&[1]), Read::Bytes(Context::parse(PARENT).unwrap().trace.0.to_vec()));
    assert_eq!(at(&[4]), Read::Bytes(vec![7; 8]));
    assert_eq!(at(&[5]), Read::Bytes(b"tools/call x".to_vec()));
    assert_eq!((at(&[6]), at(&[7])), (Read::Number(3), Read::Number(1_790_000_000_000_000_000)));
    assert_eq!(at(&[8]), Read::Number(1_790_000_000_300_000_000));
    assert_eq!(
        (at(&[9, 1]), at(&[9, 2, 1])),
        (Read::Bytes(b"mcp.method.name".to_vec()), Read::Bytes(b"tools/call".to_vec()))
    );
    assert_eq!((at(&[13, 6]), at(&[16])), (Read::Number(0x300), Read::Number(0x101)));
    assert_eq!((at(&[15, 2]), at(&[15, 3])), (Read::Bytes(b"no".to_vec()), Read::Number(2)));
    assert_eq!(within(&text, &[1, 1, 1, 2, 1]), Read::Bytes(b"bay".to_vec()));

    let read: Value = serde_json::from_slice(&otlp::spans(Encoding::Json, &of, &spans)).unwrap();
    let span = &read["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!((&span["kind"], &span["startTimeUnixNano"]), (&json!(3), &json!("1790000000000000000")));
    let attributes = span["attributes"].as_array().unwrap();
    for attribute in [
        json!({"key": "server.port", "value": {"intValue": "8080"}}),
        json!({"key": "error.type", "value": {"stringValue": "-32603"}}),
        json!({"key": "mcp.session.id", "value": {"stringValue": "s"}}),
    ] {
        assert!(attributes.contains(&attribute), "{attribute}: {attributes:?}");
    }
    assert_eq!(span["status"], json!({"message": "no", "code": 2}));
    assert_eq!(span["links"][0]["flags"], 0x300);
}
