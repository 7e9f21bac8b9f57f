//! Builds an example, for suites that want a client or a server of ours as a program.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{child, places};

const BUILD: Duration = Duration::from_secs(45 * 60);

/// The binary of an example of `toolbay`.
pub(crate) fn built(name: &str) -> Result<PathBuf> {
    built_of("toolbay", name)
}

/// The binary of an example of one of our crates.
pub(crate) fn built_of(package: &str, name: &str) -> Result<PathBuf> {
    let mut cargo = places::cargo();
    cargo.args(["build", "--package", package, "--example", name, "--message-format=json-render-diagnostics"]);
    let built = child::capture("cargo build", &mut cargo, BUILD)?;
    if !built.status.success() {
        bail!("the example `{name}` cannot be built:\n{}", built.stderr.trim());
    }
    let messages = built.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let path = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).next_back();
    path.with_context(|| format!("cargo built no example `{name}`"))
}
