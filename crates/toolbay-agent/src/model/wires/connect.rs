//! From `PROVIDER:MODEL` to a model that can be asked: which wire, where, with which key.

use std::{fmt, sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use serde_json::{Map, Value};
use toolbay_gateway::errands::{Errands, Target};

use super::{
    key::{self, Key},
    remote::Remote,
    speech::{Delivery, House},
};
use crate::model::{Model, ModelError, Why, Wire};

/// How a model is reached. The default is the provider's own service, with what the environment says.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the provider is, instead of its own service: `http` or `https`, with the path before the wire's own, such as
    /// `http://127.0.0.1:8000/v1` for servers that speak like OpenAI.
    pub base_url: Option<String>,
    /// The key, instead of the one that is found.
    pub key: Option<Key>,
    /// Whether a key may go unencrypted to another machine.
    pub unencrypted: bool,
    /// How replies come.
    pub delivery: Delivery,
    /// What else goes into each question, in the provider's own words, such as `{"temperature": 0}`; objects are put into
    /// objects.
    pub more: Map<String, Value>,
    /// How often an overloaded or unreachable provider is asked again; never once something was heard.
    pub retries: u32,
    /// How long nothing at all may come from the provider.
    pub silence: Duration,
    /// How large a reply may be, in bytes as it comes.
    pub reply_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base_url: None,
            key: None,
            unencrypted: false,
            delivery: Delivery::Stream,
            more: Map::new(),
            retries: 4,
            silence: Duration::from_secs(300),
            reply_bytes: 32 << 20,
        }
    }
}

/// The model that `named` names, `PROVIDER:MODEL`. Nothing is sent yet.
///
/// | provider | wire | where, unless told | key |
/// | --- | --- | --- | --- |
/// | `anthropic` | Messages | `ANTHROPIC_BASE_URL`, <https://api.anthropic.com> | `ANTHROPIC_API_KEY` |
/// | `openai` | Responses; Chat Completions where a base URL is told | `OPENAI_BASE_URL`, <https://api.openai.com/v1> | `OPENAI_API_KEY` |
/// | `openai-responses` | Responses | the same | the same |
/// | `openai-chat` | Chat Completions | the same | the same |
/// | `gemini` | generateContent | `GOOGLE_GEMINI_BASE_URL`, <https://generativelanguage.googleapis.com> | `GEMINI_API_KEY`, `GOOGLE_API_KEY` |
/// | `ollama` | chat | `OLLAMA_HOST`, <http://127.0.0.1:11434> | `OLLAMA_API_KEY`, if any |
///
/// Where the environment has no key, it is read from `toolbay/keys/PROVIDER` in the user's folder of configurations
/// (`anthropic`, `openai`, `gemini`, `ollama`), which must be readable by its owner alone. A provider's own service wants a
/// key; one with a base URL is asked without, where there is none.
///
/// # Errors
///
/// Where the name, the address or the key is no good.
pub fn connect(named: &str, options: Options) -> Result<Arc<dyn Model>, ModelError> {
    let environment = |name: &str| std::env::var(name).ok();
    Ok(Arc::new(reach(named, options, &environment)?))
}

/// The same in an environment.
pub(super) fn reach(
    named: &str,
    options: Options,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Remote, ModelError> {
    let (provider, model) = parted(named)?;
    let told = options.base_url.clone().or_else(|| base_variable(provider).and_then(environment));
    let told = told.filter(|base| !base.trim().is_empty());
    let house = if told.is_some() { House::Compatible } else { House::Own };
    let wire = wire(provider, house)?;
    let base = told.map_or_else(|| own(wire).to_owned(), |base| whole(wire, base.trim()));
    let key = match options.key.clone() {
        Some(key) => Some(key),
        None => key::find(wire, environment)?,
    };
    if key.is_none() && house == House::Own && wire != Wire::Ollama {
        let file = key::file(wire, environment);
        let file = file.map_or_else(String::new, |file| format!(", or put it into {} (mode 600)", file.display()));
        let what = format!("no key for {provider}: set {}{file}", key::variables(wire).join(" or "));
        return Err(ModelError { why: Why::Key, what });
    }
    let address = address(wire, &base, model, options.delivery)?;
    if key.is_some() && !options.unencrypted && address.scheme_str() == Some("http") && !is_here(&address) {
        let host = address.host().unwrap_or_default();
        let what = format!(
            "the key for {provider} would go to {host} unencrypted: use https, or say that it may (`--unencrypted-key`), or unset {}",
            key::variables(wire).join(", ")
        );
        return Err(ModelError { why: Why::Key, what });
    }
    let mut target = Target::new(address);
    target.headers = headers(wire, key.as_ref())?;
    target.limits.message_bytes = options.reply_bytes;
    let errands = Errands::to(&target).map_err(|error| wrong(error.to_string()))?;
    Ok(Remote::new(wire, model.to_owned(), house, errands, key, options))
}

/// Whether an address is of this machine.
fn is_here(address: &Uri) -> bool {
    let host = address.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<std::net::IpAddr>().map_or_else(|_| bare.eq_ignore_ascii_case("localhost"), |ip| ip.is_loopback())
}

fn wrong(what: impl fmt::Display) -> ModelError {
    ModelError { why: Why::Question, what: what.to_string() }
}

fn parted(named: &str) -> Result<(&str, &str), ModelError> {
    let unclear = || {
        wrong(format!(
            "`{named}` names no model: write PROVIDER:MODEL, where PROVIDER is anthropic, openai, openai-chat, \
             openai-responses, gemini or ollama"
        ))
    };
    let (provider, model) = named.trim().split_once(':').ok_or_else(unclear)?;
    let plain = |symbol: char| symbol.is_ascii_alphanumeric() || "-_./:@+".contains(symbol);
    if model.is_empty() || !model.chars().all(plain) || model.contains("..") {
        return Err(unclear());
    }
    Ok((provider, model))
}

fn wire(provider: &str, house: House) -> Result<Wire, ModelError> {
    match (provider, house) {
        ("anthropic", _) => Ok(Wire::Anthropic),
        ("openai-chat", _) | ("openai", House::Compatible) => Ok(Wire::OpenAiChat),
        ("openai-responses", _) | ("openai", House::Own) => Ok(Wire::OpenAiResponses),
        ("gemini" | "google", _) => Ok(Wire::Gemini),
        ("ollama", _) => Ok(Wire::Ollama),
        _ => Err(wrong(format!(
            "the provider `{provider}` is not known: anthropic, openai, openai-chat, openai-responses, gemini or ollama; \
             a service that speaks like OpenAI is `openai-chat` with a base URL"
        ))),
    }
}

fn base_variable(provider: &str) -> Option<&'static str> {
    match provider {
        "anthropic" => Some("ANTHROPIC_BASE_URL"),
        "openai" | "openai-chat" | "openai-responses" => Some("OPENAI_BASE_URL"),
        "gemini" | "google" => Some("GOOGLE_GEMINI_BASE_URL"),
        "ollama" => Some("OLLAMA_HOST"),
        _ => None,
    }
}

fn own(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "https://api.anthropic.com",
        Wire::OpenAiChat | Wire::OpenAiResponses => "https://api.openai.com/v1",
        Wire::Gemini => "https://generativelanguage.googleapis.com",
        Wire::Ollama => "http://127.0.0.1:11434",
    }
}

/// `OLLAMA_HOST` may be a mere host, with or without a port, or the address that its server listens on.
fn whole(wire: Wire, base: &str) -> String {
    if wire != Wire::Ollama || base.contains("://") {
        return base.to_owned();
    }
    let ports = base.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let base = if ports { base.to_owned() } else { format!("{base}:11434") };
    format!("http://{}", base.replace("0.0.0.0:", "127.0.0.1:"))
}

fn address(wire: Wire, base: &str, model: &str, delivery: Delivery) -> Result<Uri, ModelError> {
    let base = base.trim_end_matches('/');
    let path = match wire {
        Wire::Anthropic => "/v1/messages".to_owned(),
        Wire::OpenAiChat => "/chat/completions".to_owned(),
        Wire::OpenAiResponses => "/responses".to_owned(),
        Wire::Gemini => {
            let model = model.strip_prefix("models/").unwrap_or(model);
            match delivery {
                Delivery::Stream => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
                Delivery::Whole => format!("/v1beta/models/{model}:generateContent"),
            }
        }
        Wire::Ollama => "/api/chat".to_owned(),
    };
    let address = format!("{base}{path}");
    address.parse().map_err(|error| wrong(format!("the base URL {base} is none: {error}")))
}

fn headers(wire: Wire, key: Option<&Key>) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    if wire == Wire::Anthropic {
        headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
    }
    let Some(key) = key else { return Ok(headers) };
    let (name, value) = match wire {
        Wire::Anthropic => ("x-api-key", key.reveal().to_owned()),
        Wire::Gemini => ("x-goog-api-key", key.reveal().to_owned()),
        Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Ollama => {
            ("authorization", format!("Bearer {}", key.reveal()))
        }
    };
    let unfit = || ModelError { why: Why::Key, what: "the key holds what no header can carry: is it a key?".into() };
    let mut value = HeaderValue::from_str(&value).map_err(|_| unfit())?;
    value.set_sensitive(true);
    headers.insert(HeaderName::from_static(name), value);
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(named: &str, set: &[(&str, &str)], expected: Result<(Wire, &str), Why>) {
        let environment =
            |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let got = reach(named, Options::default(), &environment);
        match (&got, expected) {
            (Ok(remote), Ok((wire, place))) => assert_eq!((remote.wire(), &*remote.place()), (wire, place), "{named}"),
            (Err(error), Err(why)) => assert_eq!(error.why, why, "{named}: {error}"),
            (got, _) => panic!("{named}: {got:?}"),
        }
        assert!(!format!("{got:?}").contains("sk-"), "{got:?}");
    }

    #[test]
    fn a_name_and_the_environment_make_a_wire_and_an_address() {
        let [anthropic, openai, gemini] =
            [("ANTHROPIC_API_KEY", "sk-a"), ("OPENAI_API_KEY", "sk-o"), ("GOOGLE_API_KEY", "sk-g")];
        let local = ("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1/");
        check("anthropic:claude-x", &[anthropic], Ok((Wire::Anthropic, "https://api.anthropic.com/v1/messages")));
        check("openai:gpt-x", &[openai], Ok((Wire::OpenAiResponses, "https://api.openai.com/v1/responses")));
        check("openai-chat:gpt-x", &[openai], Ok((Wire::OpenAiChat, "https://api.openai.com/v1/chat/completions")));
        check("openai:a/b:free", &[local], Ok((Wire::OpenAiChat, "http://127.0.0.1:8000/v1/chat/completions")));
        check("ollama:qwen3:8b", &[("OLLAMA_HOST", "0.0.0.0")], Ok((Wire::Ollama, "http://127.0.0.1:11434/api/chat")));
        check("ollama:qwen3", &[], Ok((Wire::Ollama, "http://127.0.0.1:11434/api/chat")));
        check("anthropic:claude-x", &[], Err(Why::Key));
        check("anthropic:claude-x", &[("ANTHROPIC_API_KEY", " ")], Err(Why::Key));
        check("claude-x", &[anthropic], Err(Why::Question));
        check("gemini:../x", &[gemini], Err(Why::Question));
        check("other:x", &[gemini], Err(Why::Question));
    }

    #[test]
    fn a_key_leaves_this_machine_encrypted_or_not_at_all() {
        let key = ("OPENAI_API_KEY", "sk-o");
        for here in ["http://localhost:1/v1", "http://127.8.0.1:1/v1", "http://[::1]:1/v1", "https://far.test/v1"] {
            let place = format!("{here}/chat/completions");
            check("openai:x", &[key, ("OPENAI_BASE_URL", here)], Ok((Wire::OpenAiChat, &place)));
        }
        for far in ["http://far.test/v1", "http://192.168.0.7:1/v1", "http://localhost.far.test/v1"] {
            check("openai:x", &[key, ("OPENAI_BASE_URL", far)], Err(Why::Key));
            let place = format!("{far}/chat/completions");
            check("openai:x", &[("OPENAI_BASE_URL", far)], Ok((Wire::OpenAiChat, &place)));
        }
    }
}
