//! A folder in the cache that is named after its pins, filled once, and whole or absent.
//!
//! It is filled in place, under a lock, and stamped last: Python environments know their own path, so they cannot be
//! made elsewhere and moved. A folder without a stamp is the trace of an interruption and is made anew.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{child, places};

const STAMP: &str = ".complete";
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// The folder `NAME-HASH` of the cache; `fill` is called when it is not there yet.
pub(crate) fn filled(name: &str, pins: &[&[u8]], fill: impl Fn(&Path) -> Result<()>) -> Result<PathBuf> {
    filled_in(&places::cache()?.join("peers"), name, pins, fill)
}

fn filled_in(peers: &Path, name: &str, pins: &[&[u8]], fill: impl Fn(&Path) -> Result<()>) -> Result<PathBuf> {
    let folder = peers.join(format!("{name}-{:016x}", hash(pins)));
    if folder.join(STAMP).is_file() {
        return Ok(folder);
    }
    fs::create_dir_all(peers)?;
    let _lock = lock(&peers.join(format!("{name}.lock")))?;
    if folder.join(STAMP).is_file() {
        return Ok(folder);
    }
    let started = Instant::now();
    println!("  fetching {name} …");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    fill(&folder)?;
    fs::write(folder.join(STAMP), "")?;
    println!("  fetched {name} in {:.1} s", started.elapsed().as_secs_f32());
    Ok(folder)
}

fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut problem = None;
    let taken = child::wait_until(PATIENCE, || match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(error)) => {
            problem = Some(error);
            true
        }
    });
    match (taken, problem) {
        (true, None) => Ok(file),
        (true, Some(error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
        (false, _) => bail!("another run has held {} for half an hour; end it and try again", path.display()),
    }
}

/// FNV-1a over all parts, each closed by a zero byte: stable between builds, which the standard hasher is not.
fn hash(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter().copied().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::places::Scratch;

    #[test]
    fn an_interrupted_folder_is_made_anew_and_a_whole_one_is_kept() {
        let scratch = Scratch::new("pins-test").unwrap();
        let calls = Cell::new(0);
        let fill = |folder: &Path| {
            calls.set(calls.get() + 1);
            assert!(!folder.join("half").exists(), "what an interruption left is gone");
            fs::write(folder.join("half"), "")?;
            if calls.get() == 1 { bail!("interrupted") } else { Ok(()) }
        };
        assert!(filled_in(scratch.path(), "peer", &[b"1"], fill).is_err());
        let folder = filled_in(scratch.path(), "peer", &[b"1"], fill).unwrap();
        assert_eq!(filled_in(scratch.path(), "peer", &[b"1"], fill).unwrap(), folder);
        assert_eq!(calls.get(), 2);
        assert_ne!(filled_in(scratch.path(), "peer", &[b"2"], fill).unwrap(), folder);
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
    }
}
