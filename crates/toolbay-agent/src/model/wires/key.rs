//! What a provider is paid with: a secret that no text shows, and where it is found. Not for keys of servers.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use crate::model::{ModelError, Why, Wire};

/// The longest key that is read.
const MOST: usize = 8192;

/// A provider's key. Printed, it is `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// This key; none where it is blank.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    /// The key in a file of its owner alone: where others may read it (on Unix), it is not read.
    pub fn in_file(path: &Path) -> Result<Self, ModelError> {
        let wrong = |what: &str| ModelError { why: Why::Key, what: format!("the key file {}: {what}", path.display()) };
        let about = fs::metadata(path).map_err(|error| wrong(&error.to_string()))?;
        if !about.is_file() || about.len() > MOST as u64 {
            return Err(wrong("it is no file with a key"));
        }
        if open_to_others(&about) {
            return Err(wrong("others may read it; make it yours alone: chmod 600"));
        }
        let text = fs::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
        Self::new(&text).ok_or_else(|| wrong("it is empty"))
    }

    /// The key itself, for the header it goes out in.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without the key, should somebody have repeated it.
    pub(super) fn hide(&self, text: String) -> String {
        if text.contains(&self.0) { text.replace(&self.0, "***") } else { text }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("***")
    }
}

#[cfg(unix)]
fn open_to_others(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    about.mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn open_to_others(_: &fs::Metadata) -> bool {
    false
}

/// The variables in which a provider's key may be, the first one first.
pub(super) fn variables(wire: Wire) -> &'static [&'static str] {
    match wire {
        Wire::Anthropic => &["ANTHROPIC_API_KEY"],
        Wire::OpenAiChat | Wire::OpenAiResponses => &["OPENAI_API_KEY"],
        Wire::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        Wire::Ollama => &["OLLAMA_API_KEY"],
    }
}

/// The key of a provider: from the environment, else from its file in the folder of keys.
pub(super) fn find(wire: Wire, environment: &dyn Fn(&str) -> Option<String>) -> Result<Option<Key>, ModelError> {
    if let Some(key) = variables(wire).iter().find_map(|name| Key::new(&environment(name)?)) {
        return Ok(Some(key));
    }
    let Some(path) = file(wire, environment) else { return Ok(None) };
    match fs::symlink_metadata(&path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Ok(_) | Err(_) => Key::in_file(&path).map(Some),
    }
}

/// `$XDG_CONFIG_HOME/toolbay/keys/PROVIDER`, `~/.config/toolbay/keys/PROVIDER` where that is not set.
pub(super) fn file(wire: Wire, environment: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    let name = match wire {
        Wire::Anthropic => "anthropic",
        Wire::OpenAiChat | Wire::OpenAiResponses => "openai",
        Wire::Gemini => "gemini",
        Wire::Ollama => "ollama",
    };
    Some(folder.join("toolbay/keys").join(name))
}
