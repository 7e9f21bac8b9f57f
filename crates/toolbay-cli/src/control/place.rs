//! Where the sockets are: a folder that nobody but its user can enter, a socket for each `up` that runs, named by its process.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

/// The folder, made where it is not there; an error says what is wrong with it.
pub(super) fn folder() -> Result<PathBuf, String> {
    let user = rustix::process::getuid().as_raw();
    let folder = match std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| Path::new(folder).is_absolute()) {
        Some(folder) => PathBuf::from(folder).join("toolbay"),
        None => std::env::temp_dir().join(format!("toolbay-{user}")),
    };
    let shown = folder.display();
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(format!("{shown} cannot be made: {error}")),
    }
    // Whoever made it before could be somebody else: in a folder for all, a link or a folder of theirs.
    let found = fs::symlink_metadata(&folder).map_err(|error| format!("{shown} cannot be looked at: {error}"))?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(format!("{shown} is not a folder of yours alone (mode 0700): remove it, or set XDG_RUNTIME_DIR"));
    }
    Ok(folder)
}

/// The socket of a process.
pub(super) fn socket(folder: &Path, process: u32) -> PathBuf {
    folder.join(format!("{process}.sock"))
}

/// The processes that have a socket there, whether they still run or not.
pub(super) fn processes(folder: &Path) -> Vec<u32> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let process = |name: std::ffi::OsString| name.to_str()?.strip_suffix(".sock")?.parse().ok();
    let mut all: Vec<u32> = names.filter_map(process).collect();
    all.sort_unstable();
    all
}
