//! Which file is read. It looks whether files are there, and reads none.

use std::path::{Path, PathBuf};

use super::{
    error::{Error, Fault},
    surroundings::Surroundings,
};

/// Which configuration file somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This one (`--config`); it must exist.
    Named(PathBuf),
    /// The first of the usual ones that exists, if any does.
    Usual,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// This file.
    File(PathBuf),
    /// None of these.
    Nothing {
        /// Where a file would have been found, in order.
        looked: Vec<PathBuf>,
    },
}

/// Finds the configuration file: the named one, else `./toolbay.json`, `./.mcp.json`, the user's `toolbay.json`.
pub fn find(choice: &Choice, around: &Surroundings<'_>) -> Result<Found, Error> {
    match choice {
        Choice::Named(file) if exists(&around.folder.join(file)) => Ok(Found::File(file.clone())),
        Choice::Named(file) => Err(Error {
            file: file.clone(),
            place: None,
            fault: Fault::Missing,
            problem: "there is no such file".into(),
            remedy: format!("check the path given to --config (the current folder is {})", around.folder.display()),
        }),
        Choice::Usual => {
            let looked = usual(around);
            let found = looked.iter().find(|file| exists(file)).cloned();
            Ok(found.map_or(Found::Nothing { looked }, Found::File))
        }
    }
}

/// A dangling link counts as there: reading it says what is wrong, where passing over it would hide it.
fn exists(file: &Path) -> bool {
    file.symlink_metadata().is_ok()
}

fn usual(around: &Surroundings<'_>) -> Vec<PathBuf> {
    let here = ["toolbay.json", ".mcp.json"].map(|name| around.folder.join(name));
    let users = around.configuration_folder().map(|folder| folder.join("toolbay.json"));
    here.into_iter().chain(users).collect()
}
