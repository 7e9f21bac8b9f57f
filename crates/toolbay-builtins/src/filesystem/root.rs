//! The served folder: how a path is taken apart, resolved and opened beneath it.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::{
    ambient_authority,
    fs::{Dir, File, Metadata, OpenOptions},
};

use super::{entry::Kind, error::Error, limits::Limits};

/// A folder that is served for reading.
#[derive(Debug)]
pub struct Root {
    pub(super) dir: Dir,
    /// As it was given, made absolute; and with every link resolved. Absolute paths may begin with either.
    names: [PathBuf; 2],
    pub(super) limits: Limits,
}

impl Root {
    /// Opens the folder; what happens to its name afterwards does not matter.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Self::open_with(folder, Limits::default())
    }

    /// Opens the folder with limits of your own.
    pub fn open_with(folder: &Path, limits: Limits) -> Result<Self, Error> {
        let shown = folder.display().to_string();
        let told = |why: io::Error| tell(&shown, &why);
        let resolved = folder.canonicalize().map_err(told)?;
        let dir = Dir::open_ambient_dir(&resolved, ambient_authority()).map_err(told)?;
        let given = std::path::absolute(folder).map_err(told)?;
        Ok(Self { dir, names: [resolved, given], limits })
    }

    /// The folder's own path, with every link resolved.
    pub fn path(&self) -> &Path {
        &self.names[0]
    }

    /// The limits each call keeps to.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// A path as asked for, relative to the folder; whether it stays inside is for the kernel to say.
    pub(super) fn relative(&self, asked: &str) -> Result<PathBuf, Error> {
        let bad = |why| Err(Error::BadPath { path: asked.escape_debug().take(LONGEST_SHOWN).collect(), why });
        if asked.contains('\0') {
            return bad("it holds a NUL character");
        }
        if asked.len() > LONGEST_PATH {
            return bad("it is longer than 4,096 bytes");
        }
        let path = Path::new(asked);
        let relative = if path.has_root() || path.is_absolute() {
            let below = self.names.iter().find_map(|name| path.strip_prefix(name).ok());
            below.ok_or_else(|| Error::Outside { path: asked.to_owned() })?
        } else {
            path
        };
        Ok(or_here(relative).to_path_buf())
    }

    /// The path that is really meant, with every link and `..` resolved beneath the folder.
    pub(super) fn resolve(&self, asked: &str) -> Result<PathBuf, Error> {
        let relative = self.relative(asked)?;
        let resolved = self.dir.canonicalize(relative).map_err(|why| tell(asked, &why))?;
        Ok(or_here(&resolved).to_path_buf())
    }

    /// Opens a regular file and nothing else, and says which: a pipe or a device is never waited for.
    pub(super) fn open_file(&self, asked: &str) -> Result<(File, Metadata, PathBuf), Error> {
        let path = self.resolve(asked)?;
        let told = |why: io::Error| tell(asked, &why);
        // Looked at before it is opened, since opening a device may already do something; and looked at again
        // after, since the name may have been given to something else in between.
        self.regular(asked, self.dir.symlink_metadata(&path).map_err(told)?)?;
        let mut how = OpenOptions::new();
        how.read(true).nonblock(true).follow(FollowSymlinks::No);
        let file = self.dir.open_with(&path, &how).map_err(told)?;
        let metadata = self.regular(asked, file.metadata().map_err(told)?)?;
        Ok((file, metadata, path))
    }

    fn regular(&self, asked: &str, metadata: Metadata) -> Result<Metadata, Error> {
        match Kind::of(metadata.file_type()) {
            Kind::File => Ok(metadata),
            kind @ (Kind::Folder | Kind::Link | Kind::Other) => Err(Error::NotFile { path: asked.to_owned(), kind }),
        }
    }

    /// Opens a folder, and says which.
    pub(super) fn open_folder(&self, asked: &str) -> Result<(Dir, PathBuf), Error> {
        let path = self.resolve(asked)?;
        let told = |why: io::Error| tell(asked, &why);
        // A pipe is not opened to find out that it is no folder.
        if !self.dir.symlink_metadata(&path).map_err(told)?.is_dir() {
            return Err(Error::NotFolder { path: asked.to_owned() });
        }
        Ok((self.dir.open_dir(&path).map_err(told)?, path))
    }
}

/// `path`, or `.` where it is empty.
pub(super) fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// A relative path as it is shown: with `/` on every system.
pub(super) fn shown(path: &Path) -> String {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    });
    let text = parts.collect::<Vec<_>>().join("/");
    if text.is_empty() { ".".into() } else { text }
}

/// What an error of the system means for the one who asked.
pub(super) fn tell(asked: &str, why: &io::Error) -> Error {
    let path = asked.to_owned();
    match why.kind() {
        io::ErrorKind::NotFound => Error::Missing { path },
        // Refusals of our own carry no number of the system: they are about paths that lead out.
        io::ErrorKind::PermissionDenied if why.raw_os_error().is_none() => Error::Outside { path },
        io::ErrorKind::PermissionDenied => Error::Denied { path },
        io::ErrorKind::NotADirectory => Error::NotFolder { path },
        _ if why.raw_os_error() == Some(LOOP) => {
            Error::BadPath { path, why: "its links lead in a circle, or are of a kind that is not followed" }
        }
        io::ErrorKind::InvalidFilename => Error::BadPath { path, why: "a name in it is too long" },
        _ => Error::Disk { path, why: why.to_string() },
    }
}

/// The system's number for links that lead in a circle; the standard library has no stable name for it.
const LOOP: i32 = if cfg!(any(target_os = "linux", target_os = "android")) { 40 } else { 62 };
/// No system opens longer paths.
const LONGEST_PATH: usize = 4_096;
/// Characters of a bad path that are shown.
const LONGEST_SHOWN: usize = 200;
