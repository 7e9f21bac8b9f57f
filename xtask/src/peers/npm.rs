//! Peers from npm: `npm ci` from a committed lock file, without install scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{pins, python};
use crate::child;

const LIMIT: Duration = Duration::from_secs(15 * 60);

/// The folder of an npm project whose `package.json` and lock file are in `project`.
pub(crate) fn folder(name: &str, project: &Path) -> Result<PathBuf> {
    let read = |file: &str| {
        fs::read(project.join(file)).with_context(|| format!("{} is missing", project.join(file).display()))
    };
    let (package, lock) = (read("package.json")?, read("package-lock.json")?);
    pins::filled(&format!("npm-{name}"), &[&package, &lock], |folder| {
        fs::write(folder.join("package.json"), &package)?;
        fs::write(folder.join("package-lock.json"), &lock)?;
        install(folder)
    })
}

fn install(folder: &Path) -> Result<()> {
    need_npm()?;
    let mut complaint = String::new();
    // A registry that stumbles once is common; twice is a reason.
    for _ in 0..2 {
        let mut npm = Command::new("npm");
        npm.current_dir(folder).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        let run = child::capture("npm ci", &mut npm, LIMIT)?;
        if run.status.success() {
            return Ok(());
        }
        complaint = run.stderr;
    }
    bail!("npm ci failed in {}: {}", folder.display(), complaint.trim())
}

fn need_npm() -> Result<()> {
    if works("npm") && works("node") {
        return Ok(());
    }
    python::apt_install(&["nodejs", "npm"])?;
    if !works("npm") {
        bail!("npm is missing: install Node.js with npm (Debian: `apt-get install nodejs npm`)");
    }
    Ok(())
}

fn works(program: &str) -> bool {
    child::capture(program, Command::new(program).arg("--version"), Duration::from_secs(60))
        .is_ok_and(|run| run.status.success())
}

/// Node from the search path, where the registry has no binary for the platform.
pub(crate) fn node_of_the_machine() -> Result<PathBuf> {
    let run = child::capture("node", Command::new("node").arg("--version"), Duration::from_secs(60))?;
    let major = run.stdout.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(22..) => Ok(PathBuf::from("node")),
        _ => bail!("the conformance suite needs Node 22 or newer; `node --version` says {}", run.stdout.trim()),
    }
}
