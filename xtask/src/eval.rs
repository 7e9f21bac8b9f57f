//! `cargo xtask eval`: how well tools are found and requests are read, measured on the corpora.
//!
//! Only starts the measurement: it is an example of the crate it measures, built with optimization.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::args::Args;
use crate::places;
use crate::tally::Tally;

/// Measures on the corpora in `--corpora`, by default those that lie beside the clone; with a model too where
/// `--vectors` names a folder of its vectors, written by `examples/eval/embed.py`.
pub(crate) fn run(mut args: Args) -> Result<Tally> {
    let folder =
        args.values("--corpora")?.pop().map_or_else(|| places::root().join("../shared/corpora"), PathBuf::from);
    let vectors = args.values("--vectors")?.pop();
    let json = args.flag("--json");
    args.finish()?;
    let corpora = folder
        .canonicalize()
        .with_context(|| format!("no corpora at {}; name their folder with --corpora", folder.display()))?;
    let mut cargo = places::cargo();
    cargo.args(["run", "--quiet", "--release", "--package", "toolbay-retrieval", "--example", "eval", "--"]);
    cargo.arg("--corpora").arg(corpora).args(json.then_some("--json"));
    if let Some(vectors) = vectors {
        cargo.arg("--vectors").arg(vectors);
    }
    Ok(Tally::one(cargo.status().context("cargo does not start")?.success()))
}
