use super::*;
use crate::embeddings::Settings;

fn said(embeddings: &str) -> (Option<Settings>, Vec<String>) {
    let loaded =
        parsed(&format!(r#"{{"embeddings": {embeddings}, "mcpServers": {{"one": {{"command": "x"}}}}}}"#)).unwrap();
    assert_eq!(loaded.config.servers.len(), 1);
    let remarks = remarks(&loaded);
    (loaded.config.embeddings, remarks)
}

#[test]
fn an_endpoint_is_read_with_its_variables_and_shows_no_secret() {
    let (read, remarks) = said(
        r#"{
            "url": "http://localhost:${PORT}/v1/embeddings", "model": "small", "key": "${TOKEN}", "dimensions": 256,
            "batch": 8, "timeout": 2.5, "budget": 0.05, "queryPrefix": "query: ", "passagePrefix": null, "_why": 1
        }"#,
    );
    assert_eq!(remarks, [""; 0]);
    let read = read.unwrap();
    assert_eq!(read.url.uri(), "http://localhost:8080/v1/embeddings");
    assert_eq!((read.model.as_str(), read.dimensions, read.batch), ("small", Some(256), 8));
    assert_eq!((read.timeout.as_millis(), read.budget.as_millis()), (2500, 50));
    assert_eq!((read.query.as_str(), read.passage.as_str()), ("query: ", ""));
    assert_eq!(read.key.as_ref().unwrap().reveal(), "s3cret");
    assert!(!format!("{read:?}").contains("s3cret"));
    let (plain, _) = said(r#"{"url": "https://host.test/v1/embeddings", "model": "small"}"#);
    let plain = plain.unwrap();
    assert_eq!((plain.key, plain.dimensions, plain.batch, plain.budget.as_millis()), (None, None, 32, 150));
    assert_eq!(said("null"), (None, vec![]));
}

#[test]
fn a_flaw_is_told_and_there_is_no_endpoint_then() {
    for (embeddings, says) in [
        ("[]", "it is a list; write an object"),
        ("{}", "it has no `url`"),
        (r#"{"url": "http://a.test/v1/embeddings"}"#, "it has no `model`"),
        (r#"{"url": "a.test", "model": "m"}"#, "`url`: the address has no scheme"),
        (r#"{"url": "http://a.test/embeddings", "model": " "}"#, "it has no `model`"),
        (r#"{"url": "http://a.test/embeddings", "model": 3}"#, "`model` is a number; write a text"),
        (r#"{"url": "http://a.test/embeddings", "model": "m", "key": "${NOBODY_SET}"}"#, "NOBODY_SET is not set"),
        (r#"{"url": "http://a.test/embeddings", "model": "m", "dimensions": 0}"#, "no number from 1 to 8192"),
        (r#"{"url": "http://a.test/embeddings", "model": "m", "dimensions": 2.5}"#, "no whole number"),
        (r#"{"url": "http://a.test/embeddings", "model": "m", "batch": 257}"#, "no number from 1 to 256"),
        (r#"{"url": "http://a.test/embeddings", "model": "m", "budget": 11}"#, "no number from 0.001 to 10"),
        (r#"{"url": "http://a.test/embeddings", "model": "m", "key": "${LINES}"}"#, "holds a line break"),
    ] {
        let (read, remarks) = said(embeddings);
        assert_eq!(read, None, "{embeddings}");
        assert!(remarks.len() == 1 && remarks[0].contains(says), "{embeddings}: {remarks:?}");
    }
}

#[test]
fn what_is_doubtful_is_said_and_used_all_the_same() {
    for (more, says) in [
        (r#""modle": "x""#, "`embeddings.modle` is not a known key; did you mean `model`?"),
        (r#""key": "k""#, "sent unencrypted"),
        (r#""speed": 1"#, "`embeddings.speed` is not a known key and is ignored"),
    ] {
        let (read, remarks) = said(&format!(r#"{{"url": "http://a.test/embeddings", "model": "m", {more}}}"#));
        assert!(read.is_some());
        assert!(remarks.len() == 1 && remarks[0].contains(says), "{more}: {remarks:?}");
    }
    let (read, remarks) = said(r#"{"url": "http://a.test/v1?token=x", "model": "m"}"#);
    assert!(read.is_some() && remarks.len() == 2, "{remarks:?}");
    let slip = parsed(r#"{"embedings": {}, "mcpServers": {"one": {"command": "x"}}}"#).unwrap();
    assert!(super::remarks(&slip)[0].contains("did you mean `embeddings`?"));
}
