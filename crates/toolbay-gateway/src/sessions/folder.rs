//! The folder of a session, for programs that keep their state in files: nobody else's, and gone with the session unless it
//! is to be kept.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::key::{ClientUid, SessionKey};
use crate::config::{Keeping, SessionDir};

/// A folder of one session; without [`Folder::remove`], it is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    kept: bool,
}

impl Folder {
    /// The folder of a session. One that is to be kept is the same each time; that of a session which cannot come back is
    /// not kept.
    pub(super) fn of(dir: &SessionDir, key: &SessionKey) -> io::Result<Self> {
        match (&dir.keeping, &key.client) {
            (Keeping::At(parent), ClientUid::Stated(_) | ClientUid::Alone) => Self::kept(parent, key),
            (Keeping::At(_), ClientUid::Session(_)) | (Keeping::Nothing, _) => Self::passing(),
        }
    }

    /// A new one, which is not kept.
    pub(crate) fn passing() -> io::Result<Self> {
        let mut number = [0; 12];
        getrandom::fill(&mut number).map_err(|error| io::Error::other(error.to_string()))?;
        let name: String = number.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = std::env::temp_dir().join(format!("toolbay-session-{name}"));
        // One that is there already is not ours.
        private(&path)?;
        Ok(Self { path, kept: false })
    }

    fn kept(parent: &Path, key: &SessionKey) -> io::Result<Self> {
        privately(fs::DirBuilder::new().recursive(true)).create(parent)?;
        let path = parent.join(key.opaque(&[]));
        match private(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // A link could lead to another session's.
                if !fs::symlink_metadata(&path)?.is_dir() {
                    return Err(io::Error::other(format!("{} is no folder", path.display())));
                }
                narrow(&path)?;
            }
            made => made?,
        }
        Ok(Self { path, kept: true })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it, unless it is kept.
    pub(crate) async fn remove(self) {
        // Whoever waits for it is not held up; what cannot be removed is left to the system's own cleaning.
        let _ = tokio::task::spawn_blocking(move || drop(self)).await;
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn private(path: &Path) -> io::Result<()> {
    privately(&mut fs::DirBuilder::new()).create(path)
}

#[cfg(unix)]
fn privately(builder: &mut fs::DirBuilder) -> &fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt as _;
    builder.mode(0o700)
}

#[cfg(not(unix))]
fn privately(builder: &mut fs::DirBuilder) -> &fs::DirBuilder {
    builder
}

#[cfg(unix)]
fn narrow(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn narrow(_: &Path) -> io::Result<()> {
    Ok(())
}
