//! What people decided for all calls of a tool, kept per project; and `toolbay approvals`.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};
use serde_json::json;
use toolbay_agent::approve::{Kept, Pattern, Remembered};
use toolbay_gateway::config::{self, Choice, Found, Surroundings, System};

use crate::{exact, exit::Exit, show};

#[derive(Debug, ClapArgs)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    what: What,
    /// The configuration, whose folder is the project
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Write JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List it
    List,
    /// Forget some of it: a person is asked again
    Forget {
        /// Which tools: SERVER/TOOL or SERVER, with * for anything
        #[arg(value_name = "PATTERN", required_unless_present = "all", conflicts_with = "all")]
        patterns: Vec<String>,
        /// All of it
        #[arg(long)]
        all: bool,
    },
}

/// Runs it.
pub(crate) fn run(approvals: Approvals) -> Result<(), Exit> {
    let file = found(approvals.config.as_deref())?;
    let remembered = of_project(file.as_deref())?.ok_or_else(|| {
        Exit::config("there is no folder for what is remembered: set HOME, or XDG_STATE_HOME, to an absolute path")
    })?;
    let kept = match &approvals.what {
        What::List => remembered.list(),
        What::Forget { all: true, .. } => remembered.forget(&[Pattern::new("*", "*")]),
        What::Forget { patterns, .. } => {
            let patterns: Result<Vec<Pattern>, _> = patterns.iter().map(|text| text.parse()).collect();
            remembered.forget(&patterns.map_err(Exit::usage)?)
        }
    };
    let kept = kept.map_err(Exit::config)?;
    if approvals.json {
        show::line(&json!(kept).to_string());
    } else if kept.is_empty() {
        show::line(if matches!(approvals.what, What::List) {
            "nothing is remembered"
        } else {
            "nothing of the kind is remembered"
        });
    } else {
        let forgotten = matches!(approvals.what, What::Forget { .. });
        kept.iter().for_each(|kept| show::line(&told(kept, forgotten)));
    }
    Ok(())
}

fn told(kept: &Kept, forgotten: bool) -> String {
    let then = kept.denied.as_ref().map_or("allowed".to_owned(), |why| format!("denied: {why}"));
    let start = if forgotten { "forgotten: " } else { "" };
    format!("{start}{}", exact::line(&format!("{}/{}  {then}", kept.server, kept.tool)))
}

/// The configuration that is meant, if there is any.
fn found(config: Option<&Path>) -> Result<Option<PathBuf>, Exit> {
    let here = here()?;
    let variable = |name: &str| std::env::var(name).ok();
    let around = Surroundings { folder: &here, system: System::here(), variable: &variable };
    let choice = config.map_or(Choice::Usual, |file| Choice::Named(file.to_owned()));
    match config::find(&choice, &around).map_err(|error| Exit::config(error.to_string()))? {
        Found::File(file) => Ok(Some(here.join(file))),
        Found::Nothing { .. } => Ok(None),
    }
}

fn here() -> Result<PathBuf, Exit> {
    std::env::current_dir().map_err(|error| Exit::config(format!("the current folder is gone: {error}")))
}

/// What is remembered for the project of a configuration: its folder, where that is one that we are in; else the folder
/// that we are in. Nothing where the user has no folder for it.
pub(crate) fn of_project(file: Option<&Path>) -> Result<Option<Remembered>, Exit> {
    let here = here()?;
    let whole = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let here = whole(&here);
    let project = file.and_then(Path::parent).map(whole).filter(|folder| here.starts_with(folder)).unwrap_or(here);
    let variable = |name: &str| std::env::var(name).ok();
    let around = Surroundings { folder: &project, system: System::here(), variable: &variable };
    Ok(around.state_folder().map(|state| Remembered::of_project(&state.join("approvals"), &project)))
}
