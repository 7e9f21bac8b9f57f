use super::{parsed, remarks};
use crate::config::{Approve, Attach, Host, Sampling, Then};

fn said(host: &str) -> Result<(Host, Vec<String>), String> {
    let text = format!(r#"{{"host": {host}, "mcpServers": {{"one": {{"command": "x"}}}}}}"#);
    let loaded = parsed(&text).map_err(|error| error.to_string())?;
    let remarks = remarks(&loaded);
    Ok((loaded.config.host, remarks))
}

#[test]
fn what_the_host_may_do_is_read() {
    let (host, remarks) = said(
        r#"{
            "model": "openai:gpt", "models": ["ollama:small"], "maxIterations": 4, "maxTokens": 1000, "maxCost": 0.5,
            "prices": [3, 15], "trusted": ["git*"], "sampling": "off", "comment": "ours",
            "approve": [{"server": "git", "tool": "log*", "do": "allow"}, {"server": "*", "do": "deny"}],
            "attach": [{"uri": "file:///readme"}, {"server": "git", "uri": "git://*", "words": ["commit"]}]
        }"#,
    )
    .unwrap();
    assert_eq!(remarks, [""; 0]);
    let approve = |server: &str, tool: &str, then| Approve { server: server.into(), tool: tool.into(), then };
    let expected = Host {
        model: Some("openai:gpt".into()),
        models: vec!["ollama:small".into()],
        max_iterations: Some(4),
        max_tokens: Some(1_000),
        max_cost: Some(0.5),
        prices: Some([3.0, 15.0, 3.0]),
        trusted: vec!["git*".into()],
        approve: vec![approve("git", "log*", Then::Allow), approve("*", "*", Then::Deny)],
        attach: vec![
            Attach { server: "*".into(), uri: "file:///readme".into(), words: vec![] },
            Attach { server: "git".into(), uri: "git://*".into(), words: vec!["commit".into()] },
        ],
        sampling: Sampling::Off,
    };
    assert_eq!(host, expected);
    assert_eq!(said("null").unwrap().0, Host::default());
}

#[test]
fn a_flaw_is_an_error_since_a_rule_may_forbid() {
    for (host, says) in [
        ("[]", "not an object"),
        (r#"{"model": ""}"#, "`model` is empty"),
        (r#"{"model": 1}"#, "`model` is a number"),
        (r#"{"maxIterations": 0}"#, "`maxIterations` is no number from 1"),
        (r#"{"maxTokens": 1.5}"#, "no whole number"),
        (r#"{"maxCost": 1}"#, "without `host.prices`"),
        (r#"{"prices": [1]}"#, "two or three"),
        (r#"{"approve": {}}"#, "not a list"),
        (r#"{"approve": [{"server": "a"}]}"#, "has no `do`"),
        (r#"{"approve": [{"server": "a", "do": "perhaps"}]}"#, r#""allow", "ask", "deny""#),
        (r#"{"approve": [{"do": "deny"}]}"#, "has no `server`"),
        (r#"{"attach": [{"server": "a"}]}"#, "has no `uri`"),
        (r#"{"sampling": true}"#, r#""off", "ask", "allow""#),
        (r#"{"model": "a", "model": "b"}"#, "given twice"),
    ] {
        let error = said(host).unwrap_err();
        assert!(error.contains(says) && error.contains(":1:"), "{host}: {error}");
    }
    let (_, remarks) = said(r#"{"maxIteration": 3, "approve": [{"server": "a", "do": "ask", "tol": "x"}]}"#).unwrap();
    assert!(
        remarks[0].contains("did you mean `maxIterations`?") && remarks[1].contains("did you mean `tool`?"),
        "{remarks:?}"
    );
}
