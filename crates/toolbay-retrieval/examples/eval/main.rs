//! How well tools are found and requests are read, measured on the corpora: what `cargo xtask eval` runs.
//!
//! Not a test of the product's surfaces: the crate that chooses and reads is asked directly.
#![expect(clippy::print_stdout, reason = "it speaks to a terminal")]

mod ranking;
mod report;
mod slots;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use self::report::Figure;

fn main() -> ExitCode {
    match measure() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether figures of time have goals: on a machine that is busy with other things they say little.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Held,
    Shown,
}

/// Whether every figure with a goal reaches it.
fn measure() -> Result<bool> {
    let mut words = std::env::args().skip(1);
    let (mut corpora, mut vectors, mut json, mut times) = (None, None, false, Times::Held);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--corpora" => corpora = Some(PathBuf::from(words.next().context("--corpora needs a folder")?)),
            "--vectors" => vectors = Some(PathBuf::from(words.next().context("--vectors needs a folder")?)),
            "--json" => json = true,
            "--times-shown" => times = Times::Shown,
            other => bail!("not understood: {other}; it takes --corpora DIR, --vectors DIR, --times-shown and --json"),
        }
    }
    let corpora = corpora.context("name the folder of the corpora with --corpora")?;
    let mut groups = ranking::measure(&corpora, vectors.as_deref())?;
    groups.extend(slots::measure(&corpora)?);
    if times == Times::Shown {
        groups.iter_mut().flat_map(|group| &mut group.figures).filter(|figure| figure.is_time()).for_each(Figure::free);
    }
    report::print(&groups, json)?;
    Ok(report::held(&groups))
}
