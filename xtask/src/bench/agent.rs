//! The loop of an agent by itself: nobody to compare with, and no peers to build.

use std::{fmt::Write as _, time::Duration};

use anyhow::{Result, bail};

use crate::{child, places};

const LIMIT: Duration = Duration::from_secs(60 * 60);

pub(super) const HEAD: &str = "\
## The agent

The loop of an agent between a model and tools that answer at once: all the time is the loop's own. Built without link-time
optimization. A token of a definition is four bytes of it.

";

/// What the measurement prints.
pub(super) fn measured() -> Result<String> {
    let mut cargo = places::cargo();
    cargo.args(["run", "--quiet", "--release", "--package", "toolbay-agent", "--example", "rounds"]);
    // What links in minutes would be some percent faster.
    cargo.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    let mut text = String::new();
    let status = child::show("cargo", &mut cargo, LIMIT, |line| {
        // A string takes every write.
        let _ = writeln!(text, "{line}");
    })?;
    if !status.success() {
        bail!("the loop could not be measured");
    }
    Ok(text)
}
