use super::*;

fn said(telemetry: &str) -> (super::super::Telemetry, Vec<String>) {
    let loaded =
        parsed(&format!(r#"{{"telemetry": {telemetry}, "mcpServers": {{"one": {{"command": "x"}}}}}}"#)).unwrap();
    assert_eq!(loaded.config.servers.len(), 1);
    let remarks = remarks(&loaded);
    (loaded.config.telemetry, remarks)
}

#[test]
fn it_says_what_the_variables_say() {
    let (telemetry, remarks) = said(
        r#"{
            "endpoint": "https://collector.test:${PORT}", "headers": {"api-key": "${TOKEN}", "x": "a,b=c d"},
            "protocol": null, "serviceName": "tools", "sampler": "parentbased_traceidratio", "samplerArg": 0.25,
            "attributes": {"deployment.environment.name": "prod"}, "_note": 1
        }"#,
    );
    assert_eq!(remarks, [""; 0]);
    let nothing = |_: &str| None;
    let get = |name: &str| telemetry.variable(&nothing, name).unwrap_or_default();
    assert_eq!(get("OTEL_EXPORTER_OTLP_ENDPOINT"), "https://collector.test:8080");
    assert_eq!(get("OTEL_EXPORTER_OTLP_HEADERS"), "api-key=s3cret,x=a%2Cb%3Dc%20d");
    assert_eq!((get("OTEL_SERVICE_NAME"), get("OTEL_TRACES_SAMPLER_ARG")), ("tools".into(), "0.25".into()));
    assert_eq!(get("OTEL_EXPORTER_OTLP_PROTOCOL"), "");
    assert!(!format!("{telemetry:?}").contains("s3cret"));
    let (other, _) = said(r#"{"endpoint": "https://collector.test:8080", "serviceName": "other"}"#);
    assert_eq!(telemetry.differing(&other), ["headers", "serviceName", "attributes", "sampler", "samplerArg"]);
    assert_eq!(telemetry.differing(&telemetry), [""; 0]);
}

#[test]
fn the_environment_counts_more_and_another_collector_is_sent_none_of_the_headers() {
    let (telemetry, _) = said(r#"{"endpoint": "https://a.test", "headers": {"api-key": "k"}, "serviceName": "tools"}"#);
    let elsewhere = |name: &str| (name == "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").then(|| "https://b.test".to_owned());
    let get = |name: &str| telemetry.variable(&elsewhere, name);
    assert_eq!(get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").as_deref(), Some("https://b.test"));
    assert_eq!((get("OTEL_EXPORTER_OTLP_ENDPOINT"), get("OTEL_EXPORTER_OTLP_HEADERS")), (None, None));
    assert_eq!(get("OTEL_SERVICE_NAME").as_deref(), Some("tools"));
    let named = |name: &str| (name == "OTEL_SERVICE_NAME").then(|| "mine".to_owned());
    assert_eq!(telemetry.variable(&named, "OTEL_SERVICE_NAME").as_deref(), Some("mine"));
    assert!(telemetry.variable(&named, "OTEL_EXPORTER_OTLP_HEADERS").is_some());
}

#[test]
fn a_flaw_is_told_and_keeps_no_server_away() {
    for (telemetry, says) in [
        ("[]", "it is a list"),
        (r#"{"endpoint": 1}"#, "`endpoint` is a number; write a text"),
        (r#"{"headers": {"a": "${NOBODY_SET}"}}"#, "NOBODY_SET is not set"),
        (r#"{"headers": "a=b"}"#, "write an object of texts"),
        (r#"{"sampler": "always_on", "sampler": "always_off"}"#, "given twice"),
        (r#"{"endpont": "x"}"#, "did you mean `endpoint`?"),
    ] {
        let (read, remarks) = said(telemetry);
        assert_eq!(read, super::super::Telemetry::default());
        assert!(remarks.len() == 1 && remarks[0].contains(says), "{telemetry}: {remarks:?}");
    }
}
