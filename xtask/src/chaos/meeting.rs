//! Who takes part: the servers behind the bay, and the words in which both eras open.

use serde_json::{Value, json};

/// How a peer opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// With a handshake, in 2025-11-25.
    Legacy,
    /// With an envelope in each request, in 2026-07-28.
    Modern,
}

impl Era {
    /// On a command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    /// The revision.
    pub(super) fn revision(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// A child of the bay.
    Stdio,
    /// A program of ours on a port.
    Http,
}

/// A server behind the bay.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// Its name in the configuration.
    pub(super) name: String,
    /// How it opens.
    pub(super) era: Era,
    /// How it is reached.
    pub(super) link: Link,
}

/// Two of each kind.
pub(super) fn peers() -> Vec<Peer> {
    let kinds =
        [(Link::Stdio, Era::Legacy), (Link::Stdio, Era::Modern), (Link::Http, Era::Legacy), (Link::Http, Era::Modern)];
    let named = |(at, (link, era)): (usize, &(Link, Era))| {
        let way = if *link == Link::Stdio { "pipe" } else { "web" };
        Peer { name: format!("{way}-{}-{}", era.word(), at / kinds.len() + 1), era: *era, link: *link }
    };
    kinds.iter().cycle().take(2 * kinds.len()).enumerate().map(named).collect()
}

/// What a client can do.
pub(super) fn capabilities(asks: bool) -> Value {
    if asks { json!({ "elicitation": {} }) } else { json!({}) }
}

/// The envelope of a request.
pub(super) fn envelope(asks: bool) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": Era::Modern.revision(),
        "io.modelcontextprotocol/clientInfo": { "name": "chaos", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities(asks),
    })
}

/// What a server says to anything but a call; nothing to what needs no answer.
pub(super) fn small_talk(era: Era, message: &Value) -> Option<Value> {
    let id = message.get("id").filter(|id| !id.is_null())?;
    let who = json!({ "name": "chaos", "version": "1" });
    let tool = json!({ "name": "t", "description": "The only tool", "inputSchema": { "type": "object" } });
    let result = match (message["method"].as_str()?, era) {
        ("initialize", Era::Legacy) => {
            json!({ "protocolVersion": Era::Legacy.revision(), "capabilities": { "tools": {} }, "serverInfo": who })
        }
        ("server/discover", Era::Modern) => json!({
            "resultType": "complete", "supportedVersions": [Era::Modern.revision()], "capabilities": { "tools": {} },
            "ttlMs": 0, "cacheScope": "private", "_meta": { "io.modelcontextprotocol/serverInfo": who },
        }),
        ("tools/list", Era::Legacy) => json!({ "tools": [tool] }),
        ("tools/list", Era::Modern) => {
            json!({ "resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "private" })
        }
        ("ping", Era::Legacy) => json!({}),
        _ => return Some(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "unknown" } })),
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}
