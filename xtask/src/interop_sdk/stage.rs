//! Scripts beside the modules they need, and plans.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use serde_json::Value;

use crate::peers::{self, Peer};
use crate::places::{self, Scratch};

/// A scratch folder.
pub(crate) struct Stage {
    scratch: Scratch,
    /// One at a time lays scripts out.
    laid: Mutex<()>,
}

impl Stage {
    /// Makes the folder.
    pub(crate) fn set(name: &str) -> Result<Self> {
        Ok(Self { scratch: Scratch::new(name)?, laid: Mutex::default() })
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// A script of `interop/sdk/KIND` in the environment of a peer.
    pub(crate) fn script(&self, peer: Peer, kind: &str, script: &str) -> Result<Command> {
        let scripts = places::root().join("interop/sdk").join(kind);
        let mut command = if script.ends_with(".py") {
            let mut python = Command::new(peers::python(peer)?);
            python.arg("-B").arg(scripts.join(script));
            python
        } else {
            let mut node = Command::new(peers::node()?);
            node.arg(self.beside_modules(peer, &scripts, kind)?.join(script));
            node
        };
        command.current_dir(self.scratch.path());
        Ok(command)
    }

    /// Node looks for modules beside the script, so the scripts are laid beside the fetched modules.
    fn beside_modules(&self, peer: Peer, scripts: &Path, kind: &str) -> Result<PathBuf> {
        let _one = self.laid.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.scratch.path().join(format!("{peer:?}-{kind}"));
        if !folder.exists() {
            fs::create_dir(&folder)?;
            for script in fs::read_dir(scripts)? {
                let script = script?;
                fs::copy(script.path(), folder.join(script.file_name()))?;
            }
            std::os::unix::fs::symlink(peers::folder(peer)?.join("node_modules"), folder.join("node_modules"))?;
        }
        Ok(folder)
    }

    /// Writes a plan.
    pub(crate) fn plan(&self, pair: &str, plan: &Value) -> Result<PathBuf> {
        let path = self.scratch.path().join(format!("{}.json", pair.replace([' ', '→', ':'], "-")));
        fs::write(&path, serde_json::to_string_pretty(plan)?)?;
        Ok(path)
    }
}
