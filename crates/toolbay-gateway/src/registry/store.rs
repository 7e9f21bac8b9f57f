//! Copies of registries on disk, so that a list of thousands is read once and not by each process.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{listing::Listing, mirror::Mirror};

/// How large a copy may be.
const MOST: u64 = 256 << 20;

#[derive(Serialize, Deserialize)]
struct Kept {
    source: String,
    known: Option<Timestamp>,
    read: Option<Timestamp>,
    servers: Vec<Value>,
}

/// The copy that is kept in `folder` of the registry at `source`; an empty one where there is none, or none that can be read.
pub(super) fn load(folder: &Path, source: &str) -> Mirror {
    let mirror = Mirror::of(source);
    let file = file(folder, &mirror.source);
    let small = fs::metadata(&file).is_ok_and(|about| about.len() <= MOST);
    let kept = small.then(|| fs::read(&file).ok()).flatten();
    let kept = kept.and_then(|text| serde_json::from_slice::<Kept>(&text).ok());
    match kept.filter(|kept| kept.source == mirror.source) {
        Some(kept) => {
            let named = |value: Value| Some((Listing::read(&value)?.name, value));
            Mirror {
                known: kept.known,
                read: kept.read,
                servers: kept.servers.into_iter().filter_map(named).collect(),
                ..mirror
            }
        }
        None => mirror,
    }
}

/// Keeps a copy: written beside and renamed, so that nobody reads half of it.
pub(super) fn save(folder: &Path, mirror: &Mirror) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let servers = mirror.servers.values().cloned().collect();
    let kept = Kept { source: mirror.source.clone(), known: mirror.known, read: mirror.read, servers };
    let beside = folder.join(format!(".{}.tmp", std::process::id()));
    fs::write(&beside, serde_json::to_vec(&kept)?)?;
    fs::rename(&beside, file(folder, &mirror.source)).inspect_err(|_| drop(fs::remove_file(&beside)))
}

fn file(folder: &Path, source: &str) -> PathBuf {
    let digest = Sha256::digest(source.as_bytes());
    let name: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    folder.join(format!("{name}.json"))
}
