//! The suite: where it is, what it asks for at a revision, and a run of one side.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::report::{Basis, Report, Side};
use super::results::{self, Scenario};
use crate::child::{self, Captured};
use crate::peers::{self, Peer};
use crate::places::Scratch;

const LIMIT: Duration = Duration::from_secs(15 * 60);
/// For one scenario, in milliseconds: the suite's own is half a minute, which a busy machine may need for less.
const PATIENCE: &str = "90000";
/// Authorization is not shipped yet; its scenarios are left out.
const LEFT_OUT: &str = "auth/";

/// The suite.
pub(super) struct Suite {
    node: PathBuf,
    package: PathBuf,
}

impl Suite {
    /// Fetches it, if need be.
    pub(super) fn fetched() -> Result<Self> {
        let package = peers::folder(Peer::Conformance)?.join("node_modules/@modelcontextprotocol/conformance");
        Ok(Self { node: peers::node()?, package })
    }

    /// Its version.
    pub(super) fn version(&self) -> Result<String> {
        let package: Value = serde_json::from_str(&fs::read_to_string(self.package.join("package.json"))?)?;
        Ok(package["version"].as_str().context("the suite tells no version")?.to_owned())
    }

    /// What it asks of a side at a revision, authorization left out.
    pub(super) fn scenarios(&self, side: Side, revision: &str) -> Result<Vec<String>> {
        let mut names = match self.requirements(revision) {
            Some(set) => {
                let mut names = results::required(&set, side);
                names.extend(results::unscored(&set, side).into_keys());
                names
            }
            None => self.applicable(side, revision)?,
        };
        names.retain(|name| !name.starts_with(LEFT_OUT));
        Ok(names)
    }

    /// The requirement set of a revision, where there is one: YAML.
    fn requirements(&self, revision: &str) -> Option<String> {
        fs::read_to_string(self.package.join(format!("requirements/{revision}.yaml"))).ok()
    }

    fn basis(&self, revision: &str) -> Basis {
        if self.requirements(revision).is_some() { Basis::Required } else { Basis::Applicable }
    }

    fn applicable(&self, side: Side, revision: &str) -> Result<Vec<String>> {
        let scratch = Scratch::new("conformance-list")?;
        let side = format!("--{side}");
        let run = self.call(&scratch, &["list", &side, "--spec-version", revision])?;
        if !run.status.success() {
            bail!("the suite knows no revision {revision}: {}", run.stderr.trim());
        }
        Ok(results::listed(&run.stdout))
    }

    /// Everything that the suite asks of a server at a revision, or one scenario of it.
    pub(super) fn server(&self, url: &str, revision: &str, only: Option<&str>) -> Result<Report> {
        let scratch = Scratch::new("conformance")?;
        let mut args = vec!["server", "--url", url, "--timeout", PATIENCE];
        match (only, self.basis(revision)) {
            (Some(scenario), _) => args.extend(["--spec-version", revision, "--scenario", scenario, "--force"]),
            (None, Basis::Required) => args.extend(["--requirements", revision]),
            (None, Basis::Applicable) => args.extend(["--spec-version", revision, "--suite", "all"]),
        }
        let run = self.call(&scratch, &args)?;
        let scenarios = match only {
            Some(name) => vec![results::alone(name, Side::Server, scratch.path(), &run)?],
            None => results::summed_up(&run.stdout, scratch.path())?,
        };
        if scenarios.is_empty() {
            bail!("the suite ran nothing for {revision}: {} {}", run.stdout.trim(), run.stderr.trim());
        }
        let ran: Vec<&str> = scenarios.iter().map(|one| one.name.as_str()).collect();
        if let (None, Some(missing)) =
            (only, self.scenarios(Side::Server, revision)?.iter().find(|name| !ran.contains(&name.as_str())))
        {
            bail!("the suite broke off at {revision}: it asks for {missing} and did not run it");
        }
        Ok(self.report(Side::Server, revision, scenarios, scratch.path()))
    }

    /// Everything that the suite asks of a client at a revision, one scenario after the other: its own list would run
    /// authorization too.
    pub(super) fn client(&self, command: &str, revision: &str, only: Option<&str>) -> Result<Report> {
        let scratch = Scratch::new("conformance")?;
        let names = match only {
            Some(name) => vec![name.to_owned()],
            None => self.scenarios(Side::Client, revision)?,
        };
        let mut scenarios = Vec::new();
        for name in names {
            let scenario = ["--scenario", &name, "--spec-version", revision, "--force", "--timeout", PATIENCE];
            let run = self.call(&scratch, &[&["client", "--command", command], scenario.as_slice()].concat())?;
            scenarios.push(results::alone(&name, Side::Client, scratch.path(), &run)?);
        }
        Ok(self.report(Side::Client, revision, scenarios, scratch.path()))
    }

    fn report(&self, side: Side, revision: &str, mut scenarios: Vec<Scenario>, folder: &Path) -> Report {
        let unscored = self.requirements(revision).map(|set| results::unscored(&set, side)).unwrap_or_default();
        for scenario in &mut scenarios {
            scenario.unscored = unscored.get(&scenario.name).cloned();
        }
        let (basis, day) = (self.basis(revision), results::day(folder));
        Report { side, revision: revision.to_owned(), basis, scenarios, day }
    }

    fn call(&self, scratch: &Scratch, args: &[&str]) -> Result<Captured> {
        let mut command = Command::new(&self.node);
        command.arg(self.package.join("dist/index.js")).args(args).current_dir(scratch.path());
        if args.first() != Some(&"list") {
            command.arg("-o").arg(scratch.path());
        }
        child::capture("the conformance suite", &mut command, LIMIT)
    }
}
