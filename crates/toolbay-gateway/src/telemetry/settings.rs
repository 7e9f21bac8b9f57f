//! What is asked for by the environment: where to, how, and how much. Standard variables alone, so that what is set for
//! everything on a machine holds here too.

use std::{fmt, time::Duration};

use http::{HeaderMap, Uri};

use super::{attribute::Kept, context::shown, sampler::Sampler, variables::Variables};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(super) spans: Option<Place>,
    pub(super) numbers: Option<Place>,
    pub(super) sampler: Sampler,
    pub(super) resource: Vec<Kept>,
    /// How many spans wait at most, and go out at once.
    pub(super) queue: usize,
    pub(super) batch: usize,
    /// How long spans wait for others to go out with.
    pub(super) delay: Duration,
    /// How often numbers go out.
    pub(super) interval: Duration,
}

/// Where one signal goes. Printed, it says to which host, and neither query nor headers.
#[derive(Clone)]
pub struct Place {
    pub(super) url: Uri,
    pub(super) headers: HeaderMap,
    pub(super) encoding: Encoding,
    /// How long one delivery may take.
    pub(super) timeout: Duration,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, headers: _, encoding, timeout } = self;
        let host = url.authority().map(|authority| authority.host());
        f.debug_struct("Place").field("host", &host).field("encoding", encoding).field("timeout", timeout).finish()
    }
}

/// How documents are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Protocol buffers.
    Protobuf,
    /// JSON.
    Json,
}

/// Where a collector is where it is only said that there is one.
const USUAL: &str = "http://localhost:4318";

impl Settings {
    /// Reads the environment; none where nothing is to be told to anybody. Beside it, what is wrong with what was set.
    pub fn read(variable: &dyn Fn(&str) -> Option<String>, version: &str) -> (Option<Self>, Vec<String>) {
        let mut variables = Variables::new(variable);
        let disabled = variables.text("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true"));
        if disabled {
            return (None, vec![]);
        }
        let spans = place(&mut variables, "TRACES", "v1/traces");
        let numbers = place(&mut variables, "METRICS", "v1/metrics");
        if spans.is_none() && numbers.is_none() {
            return (None, variables.remarks);
        }
        let sampler = sampler(&mut variables);
        let resource = resource(&mut variables, version);
        let queue = variables.count("OTEL_BSP_MAX_QUEUE_SIZE", 2048);
        let batch = variables.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512).min(queue);
        let delay = variables.millis("OTEL_BSP_SCHEDULE_DELAY", Duration::from_secs(5));
        let interval = variables.millis("OTEL_METRIC_EXPORT_INTERVAL", Duration::from_secs(60));
        let interval = interval.max(Duration::from_millis(10));
        (Some(Self { spans, numbers, sampler, resource, queue, batch, delay, interval }), variables.remarks)
    }
}

fn place(variables: &mut Variables<'_>, signal: &str, path: &str) -> Option<Place> {
    let exporter = format!("OTEL_{signal}_EXPORTER");
    let wanted = match variables.text(&exporter).as_deref() {
        Some("none") => return None,
        Some("otlp") => true,
        Some(other) => {
            variables.remark(format!("{exporter} is {other:?}; known are \"otlp\" and \"none\""));
            return None;
        }
        None => false,
    };
    // spec: OTLP exporter, an address of its own is taken as it is, that of all has the path of the signal added
    let own = variables.text(&format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"));
    let base = variables.text("OTEL_EXPORTER_OTLP_ENDPOINT").or_else(|| wanted.then(|| USUAL.to_owned()));
    let written = own.or_else(|| base.map(|base| format!("{}/{path}", base.trim_end_matches('/'))))?;
    let encoding = encoding(variables, signal)?;
    let sound = |url: &Uri| matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some();
    let Some(url) = written.parse::<Uri>().ok().filter(sound) else {
        variables
            .remark(format!("the address of the collector must be http://HOST or https://HOST: no {path} is sent"));
        return None;
    };
    let timeout = variables.either(signal, "TIMEOUT").map(|(_, name)| name).unwrap_or_default();
    let timeout = variables.millis(&timeout, Duration::from_secs(10));
    Some(Place { url, headers: variables.headers(signal), encoding, timeout })
}

fn encoding(variables: &mut Variables<'_>, signal: &str) -> Option<Encoding> {
    match variables.either(signal, "PROTOCOL").as_ref().map(|(text, name)| (&**text, name)) {
        None | Some(("http/protobuf", _)) => Some(Encoding::Protobuf),
        Some(("http/json", _)) => Some(Encoding::Json),
        Some((other, name)) => {
            variables.remark(format!(
                "{name} is {other:?}, which is not spoken here, and nothing is sent: set \"http/protobuf\" or \
                 \"http/json\" and the collector's port for it (4318)"
            ));
            None
        }
    }
}

fn sampler(variables: &mut Variables<'_>) -> Sampler {
    let Some(name) = variables.text("OTEL_TRACES_SAMPLER") else { return Sampler::default() };
    let argument = variables.text("OTEL_TRACES_SAMPLER_ARG");
    Sampler::parse(&name, argument.as_deref()).unwrap_or_else(|what| {
        variables.remark(format!("{what}; all traces are recorded that callers do not keep out"));
        Sampler::default()
    })
}

fn resource(variables: &mut Variables<'_>, version: &str) -> Vec<Kept> {
    let mut resource = variables.attributes("OTEL_RESOURCE_ATTRIBUTES");
    if let Some(name) = variables.text("OTEL_SERVICE_NAME") {
        resource.retain(|(key, _)| key != "service.name");
        resource.push(("service.name".into(), name));
    }
    // Replicas count for themselves.
    let instance = resource.iter().any(|(there, _)| there == "service.instance.id");
    if let Some(id) = (!instance).then(instance_id).flatten() {
        resource.push(("service.instance.id".into(), id));
    }
    for (key, value) in [("service.name", "toolbay"), ("service.version", version)] {
        if !resource.iter().any(|(there, _)| there == key) {
            resource.push((key.into(), value.into()));
        }
    }
    resource
}

/// A name that no other process has: a UUID of random bits.
fn instance_id() -> Option<String> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).ok()?;
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    let id = shown(&id);
    Some([&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)]) -> (Option<Settings>, Vec<String>) {
        let look = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Settings::read(&look, "1.2.3")
    }

    #[test]
    fn nothing_is_sent_where_nothing_is_asked_for() {
        for set in [
            &[][..],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"), ("OTEL_SDK_DISABLED", "true")],
            &[("OTEL_SERVICE_NAME", "bay")],
        ] {
            let (settings, remarks) = read(set);
            assert!(settings.is_none() && remarks.is_empty(), "{set:?} {remarks:?}");
        }
    }

    #[test]
    fn an_address_of_all_has_the_paths_added_and_one_of_its_own_is_taken_as_it_is() {
        let (settings, remarks) = read(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.test/otel/"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://numbers.test/here"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s3cret%20, x-tenant = blue"),
            ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "2500"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=no,deployment.environment.name=pro%64"),
            ("OTEL_SERVICE_NAME", "bay"),
        ]);
        let settings = settings.unwrap();
        assert!(remarks.is_empty(), "{remarks:?}");
        let (spans, numbers) = (settings.spans.as_ref().unwrap(), settings.numbers.as_ref().unwrap());
        assert_eq!(
            (spans.url.to_string(), spans.encoding),
            ("https://collector.test/otel/v1/traces".into(), Encoding::Protobuf)
        );
        assert_eq!((numbers.url.to_string(), numbers.encoding), ("http://numbers.test/here".into(), Encoding::Json));
        assert_eq!(
            (&spans.headers["api-key"], &spans.headers["x-tenant"]),
            (&"s3cret ".parse().unwrap(), &"blue".parse().unwrap())
        );
        assert_eq!(spans.timeout, Duration::from_millis(2500));
        let said = format!("{:?}", settings.resource);
        for part in ["\"bay\"", "\"prod\"", "\"1.2.3\"", "service.instance.id"] {
            assert!(said.contains(part), "{said}");
        }
        assert!(!format!("{settings:?}").contains("s3cret"));
    }

    #[test]
    fn what_cannot_be_read_is_told_and_passed_over() {
        let here = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
        for (set, says) in [
            (("OTEL_TRACES_SAMPLER", "sometimes"), "parentbased_"),
            (("OTEL_BSP_MAX_QUEUE_SIZE", "0"), "OTEL_BSP_MAX_QUEUE_SIZE"),
            (("OTEL_METRIC_EXPORT_INTERVAL", "soon"), "milliseconds"),
            (("OTEL_EXPORTER_OTLP_HEADERS", "nothing"), "name=value"),
            (("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"), "4318"),
            (("OTEL_TRACES_EXPORTER", "zipkin"), "zipkin"),
        ] {
            let (settings, remarks) = read(&[here, set]);
            assert!(settings.is_some_and(|settings| settings.numbers.is_some()), "{set:?}");
            assert!(remarks.len() == 1 && remarks[0].contains(says), "{set:?} {remarks:?}");
        }
        let (settings, remarks) = read(&[here, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]);
        assert!(settings.is_none() && remarks.len() == 1, "{remarks:?}");
        let (settings, _) = read(&[("OTEL_TRACES_EXPORTER", "otlp")]);
        assert_eq!(settings.unwrap().spans.unwrap().url.to_string(), "http://localhost:4318/v1/traces");
    }
}
