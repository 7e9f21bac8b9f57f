//! `toolbay chat` on a real terminal: the tests that need tmux, with one that is fetched where there is none. They also run
//! among all tests, where they are skipped without it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::tally::Tally;
use crate::{child, places};

const FETCH: Duration = Duration::from_secs(5 * 60);
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// Runs them.
pub(crate) fn run(args: Args) -> Result<Tally> {
    args.finish()?;
    let tmux = tmux()?;
    println!("  {}", tmux.display());
    let mut cargo = places::cargo();
    cargo.args(["test", "--package", "toolbay-cli", "--test", "chat_terminal"]).env("TOOLBAY_TMUX", tmux);
    let status = child::show("cargo", &mut cargo, LIMIT, |_| ())?;
    Ok(Tally::one(status.success()))
}

fn tmux() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("tmux")).find(|file| file.is_file());
    match found {
        Some(found) => Ok(found),
        None => fetched().context("there is no tmux here, and none can be fetched: install it"),
    }
}

/// The one of Debian, with the libraries that it needs, taken apart in the cache; nothing is installed.
fn fetched() -> Result<PathBuf> {
    let folder = places::cache()?.join("tmux");
    let start = folder.join("tmux");
    if start.is_file() {
        return Ok(start);
    }
    fs::create_dir_all(&folder)?;
    let mut depends = Command::new("apt-cache");
    depends.args(["depends", "tmux"]);
    let needs = said("apt-cache", &mut depends)?;
    let mut wanted = vec!["tmux"];
    // What every system has is left to the system.
    let of = needs.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    wanted.extend(of.filter(|name| name.starts_with("lib") && *name != "libc6"));
    said("apt-get", Command::new("apt-get").arg("download").args(wanted).current_dir(&folder))?;
    let root = folder.join("root");
    for package in fs::read_dir(&folder)?.filter_map(Result::ok).map(|entry| entry.path()) {
        if package.extension().is_some_and(|extension| extension == "deb") {
            said("dpkg-deb", Command::new("dpkg-deb").arg("-x").arg(&package).arg(&root))?;
        }
    }
    fs::write(&start, script(&root)?)?;
    said("chmod", Command::new("chmod").arg("+x").arg(&start))?;
    Ok(start)
}

/// Starts it among its libraries.
fn script(root: &Path) -> Result<String> {
    let mut libraries: Vec<_> = vec![root.join("usr/lib"), root.join("lib")];
    for folder in libraries.clone() {
        let inner = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        libraries.extend(inner.filter(|path| path.is_dir()));
    }
    let libraries = std::env::join_paths(libraries)?.into_string();
    let libraries = libraries.map_err(|path| anyhow::anyhow!("{} is no text", PathBuf::from(path).display()))?;
    Ok(format!("#!/bin/sh\nLD_LIBRARY_PATH='{libraries}' exec '{}' \"$@\"\n", root.join("usr/bin/tmux").display()))
}

fn said(what: &str, command: &mut Command) -> Result<String> {
    let run = child::capture(what, command, FETCH)?;
    if !run.status.success() {
        bail!("{what}: {}", run.stderr.trim());
    }
    Ok(run.stdout)
}
