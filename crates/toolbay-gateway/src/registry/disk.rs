//! A file that is whole at every moment: another takes its place only when it is on the disk, and one writes at a time.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::error::Error;

/// How long another writer is waited for, and how often it is looked whether it is done.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);
/// How often a change is begun anew because somebody wrote without asking for the lock.
const MOST_TRIES: usize = 50;
/// The longest file that is read.
const MOST_BYTES: u64 = 4 << 20;

/// The steps of a change, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Lock,
    Read,
    Create,
    /// Half of it is written.
    Write,
    SyncFile,
    Compare,
    Rename,
    SyncFolder,
}

/// What may stop a change before a step, as a power cut would. Tests have one.
pub(super) type Stop = Arc<dyn Fn(Step) -> bool + Send + Sync>;

/// One file, changed as a whole: another takes its place when it is on the disk. One writes at a time, in all processes; a file
/// that was not there before can be read by its owner alone.
#[derive(Clone)]
pub struct Disk {
    file: PathBuf,
    stop: Option<Stop>,
}

impl Disk {
    /// The file of that name; its folder must be there.
    pub fn new(file: PathBuf) -> Self {
        Self { file, stop: None }
    }

    #[cfg(test)]
    pub(super) fn stopping(self, stop: Stop) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Its name.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The text; none where there is no file.
    pub fn read(&self) -> Result<Option<String>, Error> {
        read(&self.file).map_err(|why| self.failed("reading", why))
    }

    /// Lets `edit` make another text of the one that is there; what it answers, once that is on the disk. A text that is
    /// no other is not written. Waits for other writers, ten seconds at most.
    pub fn change<T>(
        &self,
        mut edit: impl FnMut(Option<&str>) -> Result<(T, Option<String>), Error>,
    ) -> Result<T, Error> {
        // A link is followed once, so that it stays one.
        let target = fs::canonicalize(&self.file).unwrap_or_else(|_| self.file.clone());
        self.before(Step::Lock)?;
        let _lock = self.lock(&target)?;
        for _ in 0..MOST_TRIES {
            self.before(Step::Read)?;
            let before = read(&target).map_err(|why| self.failed("reading", why))?;
            let (answer, after) = edit(before.as_deref())?;
            let Some(after) = after.filter(|after| before.as_ref() != Some(after)) else { return Ok(answer) };
            if self.put(&target, before.as_deref(), &after)? {
                return Ok(answer);
            }
        }
        Err(self.failed("writing", io::Error::other("it changes faster than it can be written")))
    }

    /// Puts `after` in the place of `before`; whether that was still there.
    fn put(&self, target: &Path, before: Option<&str>, after: &str) -> Result<bool, Error> {
        let failed = |doing| move |why| self.failed(doing, why);
        self.before(Step::Create)?;
        let mut beside = Beside::make(target).map_err(failed("making a file beside it"))?;
        let (first, second) = after.as_bytes().split_at(after.len() / 2);
        beside.file.write_all(first).map_err(failed("writing"))?;
        beside.unless(self.before(Step::Write))?;
        beside.file.write_all(second).map_err(failed("writing"))?;
        beside.unless(self.before(Step::SyncFile))?;
        beside.file.sync_all().map_err(failed("syncing"))?;
        beside.unless(self.before(Step::Compare))?;
        // An editor takes no lock.
        if read(target).map_err(failed("reading"))?.as_deref() != before {
            return Ok(false);
        }
        beside.unless(self.before(Step::Rename))?;
        fs::rename(&beside.path, target).map_err(failed("renaming"))?;
        beside.done = true;
        self.before(Step::SyncFolder)?;
        sync_folder(target).map_err(failed("syncing the folder"))?;
        Ok(true)
    }

    fn before(&self, step: Step) -> Result<(), Error> {
        match &self.stop {
            Some(stop) if stop(step) => {
                Err(self.failed("a test", io::Error::other(format!("stopped before {step:?}"))))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn lock(&self, target: &Path) -> Result<File, Error> {
        let failed = |why| self.failed("locking", why);
        let path = hidden(target, "lock");
        // Never removed: whoever waits for it would hold a lock on a file that nobody else finds.
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(failed)?;
        let begun = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => {
                    return Err(Error::Busy { file: self.file.clone(), waited: PATIENCE });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(LOOK),
                Err(TryLockError::Error(why)) => return Err(failed(why)),
            }
        }
        sweep(target);
        Ok(lock)
    }

    fn failed(&self, doing: &'static str, why: io::Error) -> Error {
        Error::Disk { file: self.file.clone(), doing, why }
    }
}

fn read(file: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    match File::open(file) {
        Ok(open) => {
            let read = open.take(MOST_BYTES + 1).read_to_string(&mut text)?;
            if read as u64 > MOST_BYTES {
                return Err(io::Error::other(format!("it is longer than {} MiB", MOST_BYTES >> 20)));
            }
            Ok(Some(text))
        }
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(why),
    }
}

/// A file beside another, gone again unless it takes that one's place.
struct Beside {
    path: PathBuf,
    file: File,
    done: bool,
}

impl Beside {
    fn make(target: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = hidden(target, &format!("{}-{number}.tmp", std::process::id()));
        let mut opening = OpenOptions::new();
        opening.create_new(true).write(true);
        // Nobody else reads it meanwhile: there may be secrets in it.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut opening, 0o600);
        let made = Self { file: opening.open(&path)?, path, done: false };
        if let Ok(old) = fs::metadata(target) {
            own_as(&made.file, &old);
            made.file.set_permissions(old.permissions())?;
        }
        Ok(made)
    }

    /// After a power cut nobody tidies up.
    fn unless<T>(&mut self, stopped: Result<T, Error>) -> Result<T, Error> {
        self.done |= stopped.is_err();
        stopped
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.done {
            // What cannot be removed is swept up by the next writer.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Gives a file to whom another belongs, so that whoever reads that one can read this.
#[cfg(unix)]
fn own_as(file: &File, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let Ok(now) = file.metadata() else { return };
    // Who may not do that shares the file with its owner by its mode, which stays.
    if now.uid() != old.uid() {
        let _ = fchown(file, Some(old.uid()), None);
    }
    if now.gid() != old.gid() {
        let _ = fchown(file, None, Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn own_as(_: &File, _: &fs::Metadata) {}

/// Removes what writers left behind that were killed; the caller holds the lock.
fn sweep(target: &Path) {
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let start = format!(".{}.", name.to_string_lossy());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&start) && name.ends_with(".tmp") {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The name of a hidden file beside `target`.
fn hidden(target: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{end}"));
    target.with_file_name(name)
}

#[cfg(unix)]
fn sync_folder(target: &Path) -> io::Result<()> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be synced; the file itself was.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
