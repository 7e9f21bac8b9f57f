//! Servers as a registry lists them (API v0.1): what `toolbay registry serve` answers. How it is reached is not of this room.

use std::{collections::BTreeMap, time::SystemTime};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{
    Entry, Transport,
    listing::{Listing, Standing},
};

/// How many servers one page holds where nothing is said, and at most.
const PAGE: usize = 30;
const MOST: usize = 100;
/// Beneath which name our own entries are listed.
const OURS: &str = "local.toolbay";
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Servers to be listed.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    servers: BTreeMap<String, (Listing, Value)>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Its HTTP status.
    pub status: u16,
    /// What it says.
    pub body: Value,
}

impl Answer {
    fn error(status: u16, why: &str) -> Self {
        Self { status, body: json!({"error": why}) }
    }
}

impl Shelf {
    /// The servers in these values, each as a list holds it or alone; one without a name is left out.
    pub fn new(values: impl IntoIterator<Item = Value>) -> Self {
        let one = |value: Value| {
            let listing = Listing::read(&value)?;
            let whole = if value.get("server").is_some() { value } else { json!({"server": value}) };
            Some((listing.name.clone(), (listing, whole)))
        };
        Self { servers: values.into_iter().filter_map(one).collect() }
    }

    /// The entries that another machine, or another program, can use: servers at an address, and packages. What they hold of
    /// secrets stays here; only the names of headers and variables are listed. They were last changed at that moment.
    pub fn of_entries(entries: &[Entry], changed: SystemTime) -> Self {
        let changed = Timestamp::try_from(changed).unwrap_or(Timestamp::UNIX_EPOCH);
        Self::new(entries.iter().filter_map(|entry| server_json(entry, changed)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.servers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Answers a GET of that path and query.
    pub fn answer(&self, path: &str, query: &str) -> Answer {
        let parts: Vec<_> = path.trim_matches('/').split('/').map(unescaped).collect();
        let parts: Vec<_> = parts.iter().map(String::as_str).collect();
        match *parts {
            ["v0.1", "health" | "ping"] => Answer { status: 200, body: json!({"status": "ok"}) },
            ["v0.1", "servers"] => self.list(query),
            ["v0.1", "servers", name, "versions"] => match self.servers.get(name) {
                Some((_, value)) => Answer { status: 200, body: json!({"servers": [value], "metadata": {"count": 1}}) },
                None => Answer::error(404, "Server not found"),
            },
            ["v0.1", "servers", name, "versions", version] => match self.servers.get(name) {
                Some((listing, value)) if version == "latest" || version == listing.version => {
                    Answer { status: 200, body: value.clone() }
                }
                Some(_) | None => Answer::error(404, "Server not found"),
            },
            _ => Answer::error(404, "Endpoint not found; the API is at /v0.1/servers"),
        }
    }

    fn list(&self, query: &str) -> Answer {
        let pair = |pair: &str| pair.split_once('=').map(|(key, value)| (unescaped(key), unescaped(value)));
        let asked: BTreeMap<_, _> = query.split('&').filter_map(pair).collect();
        let said = |key: &str| asked.get(key).map(String::as_str).filter(|said| !said.is_empty());
        let limit = match said("limit").map(str::parse::<usize>) {
            None => PAGE,
            Some(Ok(limit)) if (1..=MOST).contains(&limit) => limit,
            Some(_) => return Answer::error(400, "limit must be a number from 1 to 100"),
        };
        let since = match said("updated_since").map(str::parse::<Timestamp>) {
            None => None,
            Some(Ok(since)) => Some(since),
            Some(Err(_)) => return Answer::error(400, "updated_since must be a time as 2026-07-28T00:00:00Z"),
        };
        let search = said("search").map(str::to_lowercase);
        let deleted = since.is_some() || said("include_deleted") == Some("true");
        let wanted = |listing: &Listing| {
            let moment = |updated: &String| updated.parse::<Timestamp>().ok();
            let new = since.is_none_or(|since| listing.updated.as_ref().and_then(moment).is_none_or(|at| at >= since));
            let named = search.as_ref().is_none_or(|search| listing.name.to_lowercase().contains(search));
            let version = said("version").is_none_or(|version| version == "latest" || version == listing.version);
            new && named && version && (deleted || listing.standing != Standing::Deleted)
        };
        let after = |name: &String| said("cursor").is_none_or(|cursor| name.as_str() > cursor);
        let mut wanted = self.servers.iter().filter(|(name, (listing, _))| after(name) && wanted(listing));
        let page: Vec<_> = wanted.by_ref().take(limit).collect();
        let mut metadata = Map::from_iter([("count".to_owned(), page.len().into())]);
        if let (Some((last, _)), Some(_)) = (page.last(), wanted.next()) {
            metadata.insert("nextCursor".into(), last.as_str().into());
        }
        let servers: Vec<_> = page.into_iter().map(|(_, (_, value))| value).collect();
        Answer { status: 200, body: json!({"servers": servers, "metadata": metadata}) }
    }
}

/// An entry as `server.json`, if it can be one.
fn server_json(entry: &Entry, changed: Timestamp) -> Option<Value> {
    let mut server = json!({
        "$schema": SCHEMA,
        "name": format!("{OURS}/{}", entry.name),
        // spec: server.json, 1 to 100 characters
        "description": if entry.description.is_empty() { entry.name.clone() } else { entry.description.chars().take(100).collect() },
        "version": "1.0.0",
    });
    let named = |name: &String| json!({"name": name, "isRequired": true, "isSecret": true});
    match entry.transport {
        Transport::Http | Transport::Sse => {
            let kind = if entry.transport == Transport::Http { "streamable-http" } else { "sse" };
            let headers: Vec<_> = entry.headers.keys().map(named).collect();
            server["remotes"] = json!([{"type": kind, "url": bare(entry.url.as_deref()?), "headers": headers}]);
        }
        Transport::Stdio => {
            let (kind, hint, package, rest) = package(entry)?;
            let (identifier, version) = package;
            let arguments: Vec<_> = rest.iter().map(|value| argument(value)).collect();
            let variables: Vec<_> = entry.env.keys().map(named).collect();
            server["packages"] = json!([{
                "registryType": kind, "runtimeHint": hint, "identifier": identifier, "version": version,
                "transport": {"type": "stdio"}, "packageArguments": arguments, "environmentVariables": variables,
            }]);
        }
        // No MCP server: nobody else could reach it by what a registry can say.
        Transport::Rest => return None,
    }
    let at = changed.to_string();
    Some(json!({"server": server, "_meta": {"io.modelcontextprotocol.registry/official": {
        "status": "active", "publishedAt": at, "updatedAt": at, "isLatest": true,
    }}}))
}

/// What of an address may be shown: no user, no password, no query.
fn bare(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// An argument as others may see it: a flag, but no value; that may be a secret, or mean nothing elsewhere.
fn argument(argument: &str) -> Value {
    match argument.split_once('=') {
        Some((name, _)) if name.starts_with('-') => {
            json!({"type": "named", "name": name, "isRequired": true, "isSecret": true})
        }
        None if argument.starts_with('-') => json!({"type": "positional", "value": argument}),
        _ => json!({"type": "positional", "valueHint": "value", "isRequired": true, "isSecret": true}),
    }
}

type Named<'a> = (&'static str, &'static str, (String, String), &'a [String]);

/// The package that a command runs: only one that is pinned to a version means the same elsewhere.
fn package(entry: &Entry) -> Option<Named<'_>> {
    let command = entry.command.as_deref()?;
    let at = entry.args.iter().position(|arg| !arg.starts_with('-'))?;
    // Another flag before the package may mean that it is none: `uvx --from PACKAGE COMMAND`.
    if entry.args[..at].iter().any(|flag| !matches!(flag.as_str(), "-y" | "--yes")) {
        return None;
    }
    let (package, rest) = (&entry.args[at], &entry.args[at + 1..]);
    let split = |mark: &str| {
        let (identifier, version) = package.rsplit_once(mark)?;
        (!identifier.is_empty() && !version.is_empty()).then(|| (identifier.to_owned(), version.to_owned()))
    };
    match command {
        "npx" => Some(("npm", "npx", split("@")?, rest)),
        "uvx" => Some(("pypi", "uvx", split("==")?, rest)),
        _ => None,
    }
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.first_chunk::<2>().and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        (rest, _) = match (first, hex) {
            (b'%', Some(byte)) => (&tail[2..], bytes.push(byte)),
            (b'+', _) => (tail, bytes.push(b' ')),
            (byte, _) => (tail, bytes.push(*byte)),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
