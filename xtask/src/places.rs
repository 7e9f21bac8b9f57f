//! Where things are: the clone, the cache outside it, scratch folders, free ports.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};

/// The root of the clone that `cargo xtask` was called in: two clones may share one build folder.
pub(crate) fn root() -> PathBuf {
    let here =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().expect("xtask sits in the root of the clone").to_path_buf()
}

/// The cargo that runs us, called in the root of the clone.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// The cache outside the clone; made when missing.
pub(crate) fn cache() -> Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = match (set("TOOLBAY_CACHE"), set("XDG_CACHE_HOME"), set("HOME")) {
        (Some(own), _, _) => own,
        (None, Some(xdg), _) => xdg.join("toolbay"),
        (None, None, Some(home)) => home.join(".cache/toolbay"),
        (None, None, None) => bail!("no place for a cache: set TOOLBAY_CACHE to a folder"),
    };
    let folder = if folder.is_absolute() { folder } else { std::env::current_dir()?.join(folder) };
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the cache folder {}", folder.display()))?;
    Ok(folder)
}

static SCRATCH: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes every scratch folder, when we are about to end without dropping them.
pub(crate) fn remove_scratch() {
    let folders = SCRATCH.lock().unwrap_or_else(PoisonError::into_inner);
    folders.iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
}

/// A folder that is removed when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes an empty folder whose name starts with `toolbay-NAME`.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("toolbay-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        // macOS and some containers keep the temporary folder behind a link; servers compare real paths.
        let folder = folder.canonicalize()?;
        SCRATCH.lock().unwrap_or_else(PoisonError::into_inner).push(folder.clone());
        Ok(Self(folder))
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A loopback port that was free a moment ago.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
