//! The names in one folder, and what is known of one path.

use std::{
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
    time::SystemTime,
};

use cap_std::{
    fs::{Dir, Metadata},
    time::SystemTime as CapTime,
};

use super::{
    entry::{Entry, Info, Kind, Leads, Listing},
    error::Error,
    mime::mime_of,
    root::{Root, shown, tell},
};

impl Root {
    /// The names in a folder, in order.
    pub fn list(&self, path: &str) -> Result<Listing, Error> {
        let (dir, opened) = self.open_folder(path)?;
        let Names { names, more } = names(&dir, self.limits.visits).map_err(|why| tell(path, &why))?;
        let total = names.len();
        let entry = |(name, kind): (OsString, Kind)| {
            let size = match kind {
                Kind::File => dir.symlink_metadata(&name).ok().map(|metadata| metadata.len()),
                Kind::Folder | Kind::Link | Kind::Other => None,
            };
            let exact = name.to_str().is_some();
            Entry { name: name.to_string_lossy().into_owned(), kind, size, exact }
        };
        let entries: Vec<_> = names.into_iter().take(self.limits.entries).map(entry).collect();
        let note = (entries.len() < total || more).then(|| {
            let least = if more { "at least " } else { "" };
            format!("these are {} of {least}{total} entries; search with a pattern to see others", entries.len())
        });
        Ok(Listing { path: shown(&opened), entries, note })
    }

    /// What is known of a path; a link is described and not followed.
    pub fn info(&self, path: &str) -> Result<Info, Error> {
        let place = self.unfollowed(path)?;
        let metadata = self.dir.symlink_metadata(&place).map_err(|why| tell(path, &why))?;
        let kind = Kind::of(metadata.file_type());
        let (size, mime, leads) = match kind {
            Kind::File => (Some(metadata.len()), mime_of(&shown(&place)), None),
            Kind::Link => (None, None, Some(self.leads(&place)?)),
            Kind::Folder | Kind::Other => (None, None, None),
        };
        let modified = stamp(metadata.modified());
        Ok(Info { path: shown(&place), kind, size, modified, created: stamp(metadata.created()), mime, leads })
    }

    /// The path with its folder resolved and its last name as it is.
    fn unfollowed(&self, asked: &str) -> Result<PathBuf, Error> {
        let relative = self.relative(asked)?;
        match (relative.components().next_back(), relative.parent()) {
            (Some(Component::Normal(name)), Some(parent)) => {
                let parent = super::root::or_here(parent);
                let folder = self.dir.canonicalize(parent).map_err(|why| tell(asked, &why))?;
                Ok(folder.join(name))
            }
            _ => self.resolve(asked),
        }
    }

    fn leads(&self, link: &Path) -> Result<Leads, Error> {
        let asked = shown(link);
        let looked = self.dir.canonicalize(link).and_then(|path| {
            let metadata: Metadata = self.dir.symlink_metadata(super::root::or_here(&path))?;
            Ok((path, metadata))
        });
        match looked {
            Ok((path, metadata)) => Ok(Leads::Inside { path: shown(&path), kind: Kind::of(metadata.file_type()) }),
            Err(why) => match tell(&asked, &why) {
                Error::Outside { .. } => Ok(Leads::Outside),
                Error::Missing { .. } | Error::BadPath { .. } | Error::NotFolder { .. } => Ok(Leads::Nowhere),
                other => Err(other),
            },
        }
    }
}

/// Names in a folder with their kinds, in order.
pub(super) struct Names {
    pub(super) names: Vec<(OsString, Kind)>,
    /// There are more than were wanted.
    pub(super) more: bool,
}

/// Reads at most `most` names of a folder and puts them in order.
pub(super) fn names(dir: &Dir, most: usize) -> io::Result<Names> {
    let mut names = Vec::new();
    let mut more = false;
    for entry in dir.entries()? {
        if names.len() == most {
            more = true;
            break;
        }
        let entry = entry?;
        let kind = entry.file_type().map_or(Kind::Other, Kind::of);
        names.push((entry.file_name(), kind));
    }
    names.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
    Ok(Names { names, more })
}

/// ISO 8601 in UTC to the second, where the disk knows the time.
fn stamp(time: io::Result<CapTime>) -> Option<String> {
    let time: SystemTime = time.ok()?.into_std();
    let stamp = jiff::Timestamp::try_from(time).ok()?;
    Some(stamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
