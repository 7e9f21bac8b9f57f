use super::{parsed, remarks};
use crate::meta::{Client, Expose, Exposure};

fn said(keys: &str) -> (Exposure, Vec<String>) {
    let loaded = parsed(&format!(r#"{{{keys}, "mcpServers": {{"one": {{"command": "x"}}}}}}"#)).unwrap();
    assert_eq!(loaded.config.servers.len(), 1);
    let remarks = remarks(&loaded);
    (loaded.config.expose, remarks)
}

#[test]
fn what_clients_are_shown_is_read() {
    let (nothing, remarks) = said(r#""expose": null"#);
    assert_eq!((nothing.expose, nothing.context, nothing.share), (Expose::All, 200_000, 0.1));
    assert_eq!(remarks, [""; 0]);
    let (read, remarks) = said(
        r#""expose": "search", "context": 32000, "share": 0.25,
           "clients": {"big": {"expose": "all", "_why": "room"}, "small": {"context": 8000}}"#,
    );
    assert_eq!(remarks, [""; 0]);
    assert_eq!((read.expose, read.context, read.share), (Expose::Search, 32_000, 0.25));
    assert_eq!(read.clients["big"], Client { expose: Some(Expose::All), context: None });
    assert_eq!(read.clients["small"], Client { expose: None, context: Some(8_000) });
    assert_eq!(nothing.differing(&read), ["expose", "context", "share", "clients"]);
}

#[test]
fn a_flaw_is_told_with_its_place_and_nothing_is_half_taken() {
    for (keys, says) in [
        (r#""expose": "some""#, "`expose` is none of \"all\", \"search\", \"auto\""),
        (r#""expose": "search", "context": 0.5"#, "`context` is no number from 1000"),
        (r#""expose": "search", "context": 2000.5"#, "no whole number"),
        (r#""expose": "search", "share": 2"#, "`share` is no number from 0 to 1"),
        (r#""expose": "search", "clients": []"#, "`clients` is a list; write an object"),
        (r#""clients": {"a": "all"}"#, "the client `a` is a text"),
        (r#""clients": {"a": {"expose": 1}}"#, "`expose` is none of"),
        (r#""clients": {"a": {}, "a": {}}"#, "given twice"),
    ] {
        let (read, remarks) = said(keys);
        assert_eq!(read, Exposure::default(), "{keys}");
        let places =
            remarks.iter().all(|remark| remark.starts_with("1:") && remark.contains("as if nothing were written"));
        let told = remarks.len() == 1 && places && remarks[0].contains(says);
        assert!(told, "{keys}: {remarks:?}");
    }
    let (read, remarks) = said(r#""clients": {"a": {"expos": "all", "context": 5000}}"#);
    assert_eq!(read.clients["a"].context, Some(5_000));
    assert!(remarks.len() == 1 && remarks[0].contains("did you mean `expose`?"), "{remarks:?}");
}
