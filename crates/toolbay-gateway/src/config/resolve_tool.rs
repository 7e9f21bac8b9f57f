//! The part of resolving that is for entries of the registry alone.

use std::time::Duration;

use toolbay_protocol::Raw;

use super::{
    error::Reason,
    resolve::{Kind, Resolver},
    running::Endpoint,
    service::{Answering, Polling, Service},
    source::At,
    tool::Tool,
    url::Url,
    written::Body,
    written_tool::{PollBody, ToolBody},
};
use crate::registry::Call;

/// As often as a service may be polled.
const MOST_ATTEMPTS: f64 = 10_000.0;
/// What stands in an address for what a service answered.
const SESSION: &str = "{session_id}";

impl Resolver<'_, '_> {
    /// What is said of an entry.
    pub(super) fn about(&mut self, tool: &ToolBody) -> Result<Tool, Reason> {
        let expires = tool.expires.as_ref().map(|At { value, at }| {
            let wrong = |_| {
                let remedy = "write 2026-04-09T15:30:00 (local time), 2026-04-09T15:30:00Z or null";
                self.reason(*at, format!("`expires_at` is `{value}`, which is no time"), remedy)
            };
            value.parse().map_err(wrong)
        });
        Ok(Tool {
            description: tool.description.clone(),
            category: tool.category.clone(),
            expires: expires.transpose()?,
        })
    }

    /// How an entry is reached.
    pub(super) fn tool_endpoint(&mut self, body: &Body, tool: &ToolBody) -> Result<Endpoint, Reason> {
        let kind = body.kind.as_ref().map(|kind| self.kind(kind)).transpose()?;
        let Some(kind) = kind else {
            let remedy = "add \"transport\": \"stdio\", \"http\", \"sse\" or \"rest\"";
            return Err(self.reason(self.name.at, "the entry has no `transport`", remedy));
        };
        let (answering, url) = match (kind, &body.url, &tool.poll) {
            (Kind::Child | Kind::Http, ..)
            | (Kind::Sse, _, Some(PollBody::Never))
            | (Kind::Sse | Kind::Rest, None, _) => {
                if kind == Kind::Rest {
                    return Err(self.reason(self.name.at, "its transport is rest and it has no `url`", "add \"url\""));
                }
                return self.endpoint(body);
            }
            (Kind::Rest, Some(url), _) => (Answering::AtOnce, url),
            (Kind::Sse, Some(url), Some(poll @ PollBody::So { .. })) => {
                (Answering::Polled(self.polling(url, Some(poll))?), url)
            }
            (Kind::Sse, Some(url), None) => (Answering::Unknown(self.polling(url, None)?), url),
        };
        let call = tool.call.as_ref().map(|call| self.call(call)).transpose()?.unwrap_or_default();
        let schema = tool.schema.clone().unwrap_or_else(|| Raw::of(&serde_json::json!({"type": "object"})));
        if schema.get("type").as_ref().and_then(Raw::as_text).as_deref() != Some("object") {
            let remedy = "give it \"type\": \"object\"; a tool takes an object of arguments";
            return Err(self.reason(self.name.at, "its `inputSchema` is not the schema of an object", remedy));
        }
        let remote = self.remote(url, body)?;
        let (name, description) = (self.name.value.clone(), tool.description.clone());
        Ok(Endpoint::Service(Box::new(Service { remote, name, description, schema, call, answering })))
    }

    fn call(&self, typed: &At<String>) -> Result<Call, Reason> {
        let found = Call::WORDS.iter().find(|(word, _)| *word == typed.value);
        found.map(|(_, call)| *call).ok_or_else(|| {
            let problem = format!("`body` is `{}`, which is not known", typed.value);
            self.reason(typed.at, problem, "write named or arguments")
        })
    }

    fn polling(&mut self, url: &At<String>, poll: Option<&PollBody>) -> Result<Polling, Reason> {
        let base = self.fill(url)?.value().trim().to_owned();
        let (mut at, mut attempts, mut interval) = (with_session(&base), Polling::ATTEMPTS, Polling::INTERVAL);
        if let Some(PollBody::So { url: own, attempts: times, interval: apart }) = poll {
            if let Some(own) = own {
                let filled = self.fill(own)?.value().trim().to_owned();
                let place = Url::parse(&filled.replace(SESSION, "0"))
                    .map_err(|why| self.reason(own.at, format!("`poll.url`: {}", why.problem), why.remedy))?;
                let home = base.parse::<http::Uri>().ok();
                let same = home.is_some_and(|home| {
                    (home.scheme(), home.authority()) == (place.uri().scheme(), place.uri().authority())
                });
                if !same {
                    let remedy = "take an address of the same scheme, host and port: the headers go there too";
                    return Err(self.reason(own.at, "`poll.url` is of another origin than `url`", remedy));
                }
                at = if filled.contains(SESSION) { filled } else { with_session(&filled) };
            }
            if let Some(At { value, at }) = times {
                if !(1.0..=MOST_ATTEMPTS).contains(value) || value.fract() != 0.0 {
                    let remedy = format!("write a whole number from 1 to {MOST_ATTEMPTS}");
                    return Err(self.reason(*at, "`poll.attempts` is out of range", remedy));
                }
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and in range")]
                let whole = *value as u32;
                attempts = whole;
            }
            interval = self.seconds(apart.as_ref(), "poll.interval")?.unwrap_or(Duration::from_secs(1));
        }
        Ok(Polling { url: at, attempts, interval })
    }
}

/// An address with the session behind its path.
fn with_session(url: &str) -> String {
    let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    let path = path.trim_end_matches('/');
    match query {
        Some(query) => format!("{path}/{SESSION}?{query}"),
        None => format!("{path}/{SESSION}"),
    }
}
