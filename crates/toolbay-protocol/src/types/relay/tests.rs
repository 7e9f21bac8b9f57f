use super::*;
use crate::scan::Limits;
use Revision::*;

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned().into(), Limits::DEFAULT).unwrap()
}

type Carry = fn(&Method, &Raw, Revision, Revision) -> Result<Raw, Fault>;

fn check(carry: Carry, method: Method, from: Revision, to: Revision, text: &str, expected: &str) {
    let carried = carry(&method, &raw(text), from, to);
    let shown = carried.map_or_else(|fault| format!("fault: {fault}"), |raw| format!("{raw:?}"));
    assert_eq!(shown, expected, "{method} from {from} to {to}");
}

#[test]
fn the_same_revision_reads_the_same_bytes() {
    let text = r#"{ "content":[ {"type":"hologram","n":1e400} ], "structuredContent": 12345678901234567890123 }"#;
    for revision in Revision::ALL {
        check(conform_result, Method::ToolsCall, revision, revision, text, text);
    }
}

#[test]
fn a_newer_reader_gets_stamps_and_the_rest_as_written() {
    let (text, stamped) = (r#"{"a": 1.50}"#, r#"{"a": 1.50,"resultType":"complete"}"#);
    check(conform_result, Method::ToolsCall, V2025_11_25, V2026_07_28, text, stamped);
    check(conform_result, Method::ToolsCall, V2024_11_05, V2025_11_25, text, text);
    let (text, stamped) =
        (r#"{"ttlMs":9,"tools":[]}"#, r#"{"ttlMs":0,"tools":[],"resultType":"complete","cacheScope":"private"}"#);
    check(conform_result, Method::ToolsList, V2025_06_18, V2026_07_28, text, stamped);
    let text =
        r#"{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"},"x":1}]}"#;
    let shed = r#"{"tools":[{"name":"a","inputSchema":{"type":"object"},"x":1}],"ttlMs":0,"cacheScope":"private","resultType":"complete"}"#;
    check(conform_result, Method::ToolsList, V2025_11_25, V2026_07_28, text, shed);
}

#[test]
fn an_older_reader_loses_no_content_in_silence() {
    let text = r#"{"resultType":"complete","content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav","annotations":{"audience":["user"],"lastModified":"x"}},{"type":"resource_link","uri":"file:///a","name":"a","title":"A","icons":[]}],"structuredContent":[1e400],"x":null,"_meta":{"v":1,"io.modelcontextprotocol/serverInfo":{}}}"#;
    let old = r#"{"content":[{"type":"text","text":"[audio, audio/wav, about 3 bytes: this protocol version cannot carry it here]","annotations":{"audience":["user"]}},{"type":"text","text":"A: file:///a"}],"_meta":{"v":1},"x":null}"#;
    // The links and sounds are no text, so the structured content is written out as one.
    let old = old.replace(r#"file:///a"}]"#, r#"file:///a"},{"type":"text","text":"[1e400]"}]"#);
    check(conform_result, Method::ToolsCall, V2026_07_28, V2024_11_05, text, &old);
    let text = r#"{"resultType":"complete","content":[{"type":"video","url":"u"},{"type":"text","text":"5"}],"structuredContent":5}"#;
    let old = r#"{"content":[{"type":"text","text":"[content of kind \"video\"] {\"type\":\"video\",\"url\":\"u\"}"},{"type":"text","text":"5"}]}"#;
    check(conform_result, Method::ToolsCall, V2026_07_28, V2025_11_25, text, old);
    let text = r#"{"content":[],"structuredContent":{"a":12345678901234567890123}}"#;
    let old = r#"{"content":[{"type":"text","text":"{\"a\":12345678901234567890123}"}]}"#;
    check(conform_result, Method::ToolsCall, V2025_06_18, V2025_03_26, text, old);
}

#[test]
fn plain_texts_are_carried_as_all_results_are() {
    let who = r#""io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}"#;
    let plain = [
        r#"{"content":[]}"#.to_owned(),
        r#"{"content":[{"type":"text","text":"a\n\"é"},{"text":"b","type":"text"}],"isError":false}"#.into(),
        format!(r#"{{"resultType":"complete","_meta":{{{who}}},"content":[{{"type":"text","text":""}}]}}"#),
        format!(r#"{{"content":[{{"type":"text","text":"x"}}],"isError":true,"_meta":{{{who},"mine":[1.50]}}}}"#),
        r#"{"content":[],"_meta":{}}"#.into(),
    ];
    for to in Revision::ALL {
        for text in &plain {
            let carried = plain_result(&Method::ToolsCall, &raw(text), to);
            let value = |raw: Raw| raw.read::<serde_json::Value>().unwrap();
            let bent = bend_result(&Method::ToolsCall, &raw(text), to).unwrap();
            match carried {
                Some(carried) => assert_eq!(value(carried), value(bent), "{text} to {to}"),
                None => assert!(to.has(F::ResultType), "{text} to {to}"),
            }
        }
    }
    for text in [
        r#"{}"#,
        r#"{"content":{}}"#,
        r#"{"content":[{"type":"text"}]}"#,
        r#"{"content":[{"type":"text","text":1}]}"#,
        r#"{"content":[{"type":"text","text":"a","text":"b"}]}"#,
        r#"{"content":[{"type":"text","text":"a","annotations":{}}]}"#,
        r#"{"content":[],"isError":null}"#,
        r#"{"content":[],"isError":true,"isError":false}"#,
        r#"{"content":[],"structuredContent":{}}"#,
    ] {
        assert_eq!(plain_result(&Method::ToolsCall, &raw(text), V2025_06_18), None, "{text}");
    }
}

#[test]
fn an_unfinished_result_is_no_answer() {
    let fault = "fault: the result of tools/call is not its answer yet, which the other side cannot be told";
    let text = r#"{"resultType":"input_required","requestState":"s"}"#;
    check(conform_result, Method::ToolsCall, V2026_07_28, V2025_11_25, text, fault);
    check(conform_result, Method::ToolsCall, V2025_11_25, V2026_07_28, r#"{"task":{}}"#, fault);
    // Nor does a legacy server ask in this way.
    let stamped = r#"{"resultType":"complete","requestState":"s"}"#;
    check(conform_result, Method::ToolsCall, V2025_11_25, V2026_07_28, text, stamped);
}

#[test]
fn envelopes_and_rounds_stay_in_their_era() {
    let text = r#"{"name":"t","arguments":{"n":1.50},"inputResponses":{},"requestState":"s","_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"x"},"y":[1,  2]}"#;
    let old = r#"{"name":"t","arguments":{"n":1.50},"_meta":{"progressToken":1,"traceparent":"x"},"y":[1,  2]}"#;
    check(conform_params, Method::ToolsCall, V2026_07_28, V2025_11_25, text, old);
    let new = r#"{"name":"t","_meta":{"v":1}}"#;
    let text = r#"{"name":"t","task":{"ttl":1},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"},"v":1}}"#;
    check(conform_params, Method::ToolsCall, V2025_11_25, V2026_07_28, text, new);
    let text = r#"{"name":"t", "arguments": {}}"#;
    check(conform_params, Method::ToolsCall, V2024_11_05, V2026_07_28, text, text);
    let fault = "fault: method \"ping\" is not served here";
    check(conform_params, Method::Ping, V2025_11_25, V2026_07_28, "{}", fault);
}

#[test]
fn questions_keep_their_meaning_or_are_refused() {
    let url = r#"{"mode":"url","message":"m","url":"https://a.example"}"#;
    let with_id =
        r#"{"mode":"url","message":"m","url":"https://a.example","elicitationId":"elicitation-c3f5269714898bce"}"#;
    check(conform_params, Method::Elicit, V2026_07_28, V2025_11_25, url, with_id);
    check(conform_params, Method::Elicit, V2025_11_25, V2026_07_28, with_id, url);
    let fault = r#"fault: the request must declare the client capabilities {"elicitation":{"url":{}}}"#;
    check(conform_params, Method::Elicit, V2026_07_28, V2025_06_18, url, fault);

    let text = r#"{"mode":"form","message":"m","requestedSchema":{"type":"object","$schema":"s","properties":{"a":{"type":"string","oneOf":[{"const":"r","title":"Red"}],"default":"r"},"b":{"type":"array","items":{"type":"string","enum":["x"]}}}}}"#;
    let old = r#"{"message":"m\n\n(Not asked here, for want of a choice of several: b.)","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["r"],"enumNames":["Red"]}}}}"#;
    check(conform_params, Method::Elicit, V2025_11_25, V2025_06_18, text, old);
    let demanded = text.replace("}}}}}", r#"}}},"required":["b"]}}"#);
    let fault = "fault: the form demands a choice of several, which the client's protocol version cannot show";
    check(conform_params, Method::Elicit, V2025_11_25, V2025_06_18, &demanded, fault);
}

#[test]
fn a_conversation_is_cut_into_single_blocks_and_an_answer_joined() {
    let text = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"b"}]}]}],"maxTokens":1e3}"#;
    let old = r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"text","text":"[result of use 1]\nb"}}],"maxTokens":1e3}"#;
    check(conform_params, Method::CreateMessage, V2026_07_28, V2025_06_18, text, old);
    let text = r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"model":"m","stopReason":"bored"}"#;
    let old = r#"{"role":"assistant","content":{"type":"text","text":"a\n\nb"},"model":"m","stopReason":"bored"}"#;
    check(conform_answer, Method::CreateMessage, V2026_07_28, V2025_06_18, text, old);
    let text = r#"{"roots":[{"uri":"file:///a","_meta":{}}],"_meta":{"v":1}}"#;
    check(
        conform_answer,
        Method::RootsList,
        V2025_11_25,
        V2026_07_28,
        text,
        r#"{"roots":[{"uri":"file:///a","_meta":{}}]}"#,
    );
    check(
        conform_answer,
        Method::RootsList,
        V2025_11_25,
        V2024_11_05,
        text,
        r#"{"roots":[{"uri":"file:///a"}],"_meta":{"v":1}}"#,
    );
}

#[test]
fn null_counts_as_absent_and_a_key_stands_once() {
    let text = r#"{"content":null,"isError":null,"_meta":null,"structuredContent":null}"#;
    check(conform_result, Method::ToolsCall, V2025_11_25, V2025_06_18, text, r#"{"content":[]}"#);
    for twice in [r#"{"content":[],"content":[]}"#, r#"{"x":1,"x":2,"content":[]}"#] {
        assert!(conform_result(&Method::ToolsCall, &raw(twice), V2025_11_25, V2024_11_05).is_err());
    }
}
