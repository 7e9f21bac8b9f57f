//! What a person decided for all calls of a tool: for as long as this lives, or for a project, in a file that its owner alone
//! can read.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolbay_gateway::registry::{Disk, Error};

use super::{pattern::Pattern, policy::Decision};
use crate::toolbox::{Tool, ToolId};

/// So many decisions are kept for one project; the oldest go.
const MOST: usize = 1_000;

/// What a person decided.
#[derive(Debug, Default)]
pub struct Remembered {
    now: Mutex<HashMap<ToolId, (String, Decision)>>,
    project: Option<Project>,
}

#[derive(Debug)]
struct Project {
    folder: String,
    file: PathBuf,
}

/// What is known of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing was decided.
    Nothing,
    /// That was decided.
    Decided(Decision),
    /// Its calls were allowed, for another definition of it than it has now.
    Changed,
}

/// A decision as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The server.
    pub server: String,
    /// What that calls the tool.
    pub tool: String,
    /// Why it may not be called; it may where this is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<String>,
    /// What of the tool it was decided for: its description, schema and hints, hashed.
    pub definition: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Written {
    project: String,
    tools: Vec<Kept>,
}

impl Remembered {
    /// For a project: the file is one of those in `folder`, which is made when there is something to remember.
    pub fn of_project(folder: &Path, project: &Path) -> Self {
        let project = project.to_string_lossy().into_owned();
        let name = hex(&Sha256::digest(project.as_bytes()));
        let file = folder.join(format!("{}.json", &name[..32]));
        Self { now: Mutex::default(), project: Some(Project { folder: project, file }) }
    }

    /// What was decided for a tool.
    pub fn of(&self, tool: &Tool) -> Known {
        // What was refused stays so, whatever the tool says of itself now.
        let known = |kept: String, decision: Decision| match decision {
            Decision::Deny(_) => Known::Decided(decision),
            _ if kept == definition(tool) => Known::Decided(decision),
            _ => Known::Changed,
        };
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner).get(&tool.id).cloned();
        if let Some((kept, decision)) = now {
            return known(kept, decision);
        }
        // Read each time: somebody may have had it forgotten meanwhile. What cannot be read decides nothing.
        let kept = self.list().unwrap_or_default().into_iter();
        let kept = kept.rev().find(|kept| kept.server == tool.id.server && kept.tool == tool.id.name);
        kept.map_or(Known::Nothing, |kept| {
            let decision = kept.denied.map_or(Decision::Allow, Decision::Deny);
            known(kept.definition, decision)
        })
    }

    /// Remembers a decision. Where the file cannot be written it holds for as long as this lives; the error says why.
    pub fn put(&self, tool: &Tool, decision: Decision) -> Result<(), String> {
        let definition = definition(tool);
        let denied = match &decision {
            Decision::Allow => None,
            Decision::Deny(why) => Some(why.clone()),
            // To be asked is what holds where nothing is remembered.
            Decision::Ask => return Ok(()),
        };
        let for_now = || {
            let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
            now.insert(tool.id.clone(), (definition.clone(), decision.clone()));
        };
        if self.project.is_none() {
            for_now();
            return Ok(());
        }
        let kept =
            Kept { server: tool.id.server.clone(), tool: tool.id.name.clone(), denied, definition: definition.clone() };
        let same = |old: &Kept| old.server == kept.server && old.tool == kept.tool;
        let written = self.change(|tools| {
            tools.retain(|old| !same(old));
            tools.push(kept.clone());
            tools.drain(..tools.len().saturating_sub(MOST));
        });
        written.map_err(|why| {
            for_now();
            format!("it is remembered for this conversation alone: {why}")
        })
    }

    /// What is remembered for the project, the oldest first.
    pub fn list(&self) -> Result<Vec<Kept>, String> {
        let Some(project) = &self.project else { return Ok(vec![]) };
        let text = Disk::new(project.file.clone()).read().map_err(|why| why.to_string())?;
        let Some(text) = text else { return Ok(vec![]) };
        let written: Written = serde_json::from_str(&text).map_err(|flaw| {
            format!("{} cannot be read ({flaw}); remove it to be asked again", project.file.display())
        })?;
        Ok(if written.project == project.folder { written.tools } else { vec![] })
    }

    /// Forgets what is remembered for the project of the tools that are meant; which those were.
    pub fn forget(&self, meant: &[Pattern]) -> Result<Vec<Kept>, String> {
        if self.list()?.is_empty() {
            return Ok(vec![]);
        }
        let is_meant = |kept: &Kept| {
            let id = ToolId { server: kept.server.clone(), name: kept.tool.clone() };
            meant.iter().any(|pattern| pattern.means(&id))
        };
        let mut forgotten = vec![];
        self.change(|tools| {
            forgotten = tools.extract_if(.., |kept| is_meant(kept)).collect();
        })?;
        Ok(forgotten)
    }

    fn change(&self, mut edit: impl FnMut(&mut Vec<Kept>)) -> Result<(), String> {
        let Some(project) = &self.project else { return Ok(()) };
        if let Some(folder) = project.file.parent() {
            make_private(folder).map_err(|why| format!("{} cannot be made ({why})", folder.display()))?;
        }
        let changed = Disk::new(project.file.clone()).change(|text| {
            // What nobody can read any more is of no use to anybody.
            let before: Option<Written> = text.and_then(|text| serde_json::from_str(text).ok());
            let before = before.filter(|before| before.project == project.folder).unwrap_or_default();
            let mut after = Written { project: project.folder.clone(), ..before };
            edit(&mut after.tools);
            Ok::<_, Error>(((), Some(format!("{:#}\n", json!(after)))))
        });
        changed.map_err(|why| why.to_string())
    }
}

/// Makes a folder that its owner alone can look into.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut making = fs::DirBuilder::new();
    making.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut making, 0o700);
    making.create(folder)
}

/// What of a tool somebody agrees to: another description, schema or hint is another tool.
fn definition(tool: &Tool) -> String {
    let hints = &tool.hints;
    let what: Value = json!([
        tool.description,
        tool.schema,
        [hints.read_only, hints.destructive, hints.idempotent, hints.open_world],
    ]);
    hex(&Sha256::digest(what.to_string().as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
