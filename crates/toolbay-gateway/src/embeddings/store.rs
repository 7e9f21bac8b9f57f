//! Vectors on disk, so that a text is encoded once and not by each process: a file for each endpoint, model and width, that
//! grows at its end. All of it can be made anew; what cannot be read counts as not there.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use super::{
    known::MOST_BYTES,
    row::{Digest, Row},
    settings::WIDEST,
};

/// How many bytes the files of all models may have together.
const ALL_BYTES: u64 = 4 * MOST_BYTES as u64;
/// How often it is looked whether another process has written, and how long between.
const LOCKED: usize = 20;
const LOOK: Duration = Duration::from_millis(5);
const MAGIC: &[u8; 16] = b"toolbay vector 1";
/// Magic, identity, width, and a sum of all three.
const HEAD: usize = 16 + 32 + 4 + 4;

/// The file of one model.
#[derive(Clone, Debug)]
pub(super) struct Store {
    folder: PathBuf,
    identity: [u8; 32],
}

/// What a file held.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// How many numbers a vector has; nought where nothing is held.
    pub(super) width: usize,
    /// The rows, oldest first.
    pub(super) rows: Vec<(Digest, Row)>,
}

impl Store {
    /// The vectors of that identity in that folder. Files of models that were not used for long go.
    pub(super) fn at(folder: &Path, identity: [u8; 32]) -> Self {
        let store = Self { folder: folder.to_path_buf(), identity };
        store.sweep();
        store
    }

    /// What is held; whatever was torn or spoiled is left out.
    pub(super) fn load(&self) -> Held {
        let mut bytes = Vec::new();
        let read = File::open(self.file()).and_then(|file| file.take(2 * MOST_BYTES as u64).read_to_end(&mut bytes));
        let Some(width) = read.ok().and_then(|_| self.width(&bytes)) else { return Held::default() };
        let rows = bytes[HEAD..].chunks_exact(record(width)).filter_map(|record| row(record, width));
        Held { width, rows: rows.collect() }
    }

    /// Adds rows at the end; a file of another width, or none of ours, begins anew with them.
    pub(super) fn append(&self, width: usize, rows: &[(Digest, Row)]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let _lock = self.lock()?;
        let file = self.file();
        let mut head = [0; HEAD];
        let ours = File::open(&file).and_then(|mut file| file.read_exact(&mut head));
        if ours.is_err() || self.width(&head) != Some(width) {
            return self.write(width, rows);
        }
        let mut out = OpenOptions::new().append(true).open(&file)?;
        let length = out.metadata()?.len();
        // Half a row at the end is what a process left that died while it wrote.
        let torn = (length - HEAD as u64) % record(width) as u64;
        if torn > 0 {
            out.set_len(length - torn)?;
        }
        out.write_all(&records(width, rows))
    }

    /// Holds these rows, and no others.
    pub(super) fn replace(&self, width: usize, rows: &[(Digest, Row)]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let _lock = self.lock()?;
        self.write(width, rows)
    }

    /// Written beside and renamed, so that nobody reads half of it.
    fn write(&self, width: usize, rows: &[(Digest, Row)]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(HEAD + rows.len() * record(width));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.identity);
        bytes.extend_from_slice(&u32::try_from(width).unwrap_or_default().to_le_bytes());
        bytes.extend_from_slice(&sum(&bytes).to_le_bytes());
        bytes.extend_from_slice(&records(width, rows));
        let beside = self.folder.join(format!(".{}.{}.tmp", self.name(), std::process::id()));
        fs::write(&beside, bytes)?;
        fs::rename(&beside, self.file()).inspect_err(|_| drop(fs::remove_file(&beside)))
    }

    /// One writes at a time; who finds it locked waits a moment for that.
    fn lock(&self) -> io::Result<File> {
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.folder.join(format!("{}.lock", self.name())))?;
        for _ in 1..LOCKED {
            if lock.try_lock().is_ok() {
                return Ok(lock);
            }
            // On a thread that may wait.
            thread::sleep(LOOK);
        }
        lock.try_lock().map_err(io::Error::from)?;
        Ok(lock)
    }

    /// The width that a file's head tells, where it is one of ours.
    fn width(&self, bytes: &[u8]) -> Option<usize> {
        let head = bytes.get(..HEAD)?;
        let (said, check) = head.split_at(HEAD - 4);
        let ours = said.starts_with(MAGIC) && said[16..48] == self.identity && check == sum(said).to_le_bytes();
        let width = u32::from_le_bytes(said[48..52].try_into().ok()?) as usize;
        (ours && (1..=WIDEST).contains(&width)).then_some(width)
    }

    fn name(&self) -> String {
        self.identity.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
    }

    fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.vectors", self.name()))
    }

    /// Removes what was not written to for longest, while all files together are too large.
    fn sweep(&self) {
        let Ok(folder) = fs::read_dir(&self.folder) else { return };
        let about = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.ok()?;
            let about = entry.metadata().ok()?;
            let ours = entry.path().extension().is_some_and(|kind| kind == "vectors");
            ours.then(|| (about.modified().unwrap_or(SystemTime::UNIX_EPOCH), about.len(), entry.path()))
        };
        let mut files: Vec<_> = folder.filter_map(about).filter(|(.., path)| *path != self.file()).collect();
        files.sort();
        let mut all: u64 = files.iter().map(|(_, bytes, _)| bytes).sum::<u64>() + MOST_BYTES as u64;
        for (_, bytes, path) in files {
            if all <= ALL_BYTES {
                return;
            }
            // What cannot be removed is in nobody's way but the disk's.
            let _ = fs::remove_file(path);
            all -= bytes;
        }
    }
}

/// Digest, numbers, and a sum of both.
pub(super) fn record(width: usize) -> usize {
    32 + width + 4
}

fn records(width: usize, rows: &[(Digest, Row)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rows.len() * record(width));
    for (digest, row) in rows.iter().filter(|(_, row)| row.0.len() == width) {
        let start = bytes.len();
        bytes.extend_from_slice(digest);
        bytes.extend(row.0.iter().map(|number| number.cast_unsigned()));
        let sum = sum(&bytes[start..]);
        bytes.extend_from_slice(&sum.to_le_bytes());
    }
    bytes
}

fn row(record: &[u8], width: usize) -> Option<(Digest, Row)> {
    let (said, check) = record.split_at(32 + width);
    (check == sum(said).to_le_bytes()).then_some(())?;
    let digest = said[..32].try_into().ok()?;
    Some((digest, Row(said[32..].iter().map(|byte| byte.cast_signed()).collect())))
}

/// FNV-1a: enough to tell what was torn.
fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embeddings::row::digest;

    fn rows(names: &[&str]) -> Vec<(Digest, Row)> {
        names.iter().map(|name| (digest(name), Row(Box::from([name.len() as i8, -127, 3])))).collect()
    }

    #[test]
    fn what_was_kept_is_there_again_for_the_same_model_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path(), [7; 32]);
        assert_eq!(store.load().width, 0);
        store.append(3, &rows(&["a"])).unwrap();
        store.append(3, &rows(&["bb", "ccc"])).unwrap();
        let held = store.load();
        assert_eq!((held.width, held.rows), (3, rows(&["a", "bb", "ccc"])));
        assert!(Store::at(folder.path(), [8; 32]).load().rows.is_empty());
        store.replace(3, &rows(&["bb"])).unwrap();
        assert_eq!(store.load().rows, rows(&["bb"]));
        // Another width: nothing of before can be used.
        store.append(2, &[(digest("d"), Row(Box::from([1, 2])))]).unwrap();
        assert_eq!((store.load().width, store.load().rows.len()), (2, 1));
    }

    #[test]
    fn a_torn_or_spoiled_file_loses_what_was_torn_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path(), [7; 32]);
        store.append(3, &rows(&["a", "bb", "ccc"])).unwrap();
        let whole = fs::read(store.file()).unwrap();
        for length in 0..whole.len() {
            fs::write(store.file(), &whole[..length]).unwrap();
            let complete = length.saturating_sub(HEAD) / record(3);
            assert_eq!(store.load().rows, rows(&["a", "bb", "ccc"][..complete]), "cut at {length}");
            store.append(3, &rows(&["dddd"])).unwrap();
            let held = store.load().rows;
            assert_eq!((held.len(), held.last()), (complete + 1, rows(&["dddd"]).first()), "cut at {length}");
        }
        let mut spoiled = whole.clone();
        spoiled[HEAD + record(3) + 33] ^= 1;
        fs::write(store.file(), &spoiled).unwrap();
        assert_eq!(store.load().rows, rows(&["a", "ccc"]));
        spoiled[50] ^= 1;
        fs::write(store.file(), &spoiled).unwrap();
        assert!(store.load().rows.is_empty(), "of a head that is spoiled nothing is believed");
    }

    #[test]
    fn while_somebody_else_writes_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path(), [7; 32]);
        let lock = store.lock().unwrap();
        assert!(store.append(3, &rows(&["a"])).is_err());
        drop(lock);
        store.append(3, &rows(&["a"])).unwrap();
    }
}
