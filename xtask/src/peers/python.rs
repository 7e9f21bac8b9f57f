//! Peers from PyPI: one virtual environment for each file of pins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::pins;
use crate::child::{self, Captured};

const LIMIT: Duration = Duration::from_secs(15 * 60);

/// The environment that a file of pins describes.
pub(crate) fn folder(name: &str, file: &Path) -> Result<PathBuf> {
    let text = fs::read(file).with_context(|| format!("{} is missing", file.display()))?;
    // An environment belongs to the interpreter that made it.
    let version = python3(&["--version"])
        .context("python3 is missing: install it (Debian: `apt-get install python3 python3-venv`)")?;
    pins::filled(&format!("pypi-{name}"), &[&text, version.stdout.as_bytes()], |folder| install(folder, file))
}

fn install(folder: &Path, file: &Path) -> Result<()> {
    let path = folder.to_string_lossy();
    let mut made = python3(&["-m", "venv", &path])?;
    if !made.status.success() {
        // Debian ships python3 without the module that makes environments.
        apt_install(&["python3-venv"])?;
        made = python3(&["-m", "venv", "--clear", &path])?;
    }
    if !made.status.success() {
        bail!("`python3 -m venv` failed; install python3-venv: {} {}", made.stdout.trim(), made.stderr.trim());
    }
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r"]).arg(file);
    let run = child::capture("pip install", &mut pip, LIMIT)?;
    if !run.status.success() {
        bail!("pip install -r {} failed: {}", file.display(), run.stderr.trim());
    }
    Ok(())
}

fn python3(args: &[&str]) -> Result<Captured> {
    child::capture("python3", Command::new("python3").args(args), LIMIT)
}

/// Installs Debian packages where that is possible: on a machine with `apt-get`, as root. Elsewhere it says what to do.
pub(crate) fn apt_install(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if !rustix::process::geteuid().is_root() || !Path::new("/usr/bin/apt-get").exists() {
        bail!("missing on this machine: {names}. On Debian, run as root: apt-get install {names}");
    }
    println!("  installing {names} with apt-get …");
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").args(args);
        child::capture("apt-get", &mut command, LIMIT)
    };
    apt(&["update"])?;
    let run = apt(&[&["install", "--yes", "--no-install-recommends"], packages].concat())?;
    if !run.status.success() {
        bail!("apt-get install {names} failed: {}", run.stderr.trim());
    }
    Ok(())
}
