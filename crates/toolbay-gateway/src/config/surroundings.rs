//! What the configuration may know of the process it runs in: passed in, so that tests need no process.

use std::path::{Path, PathBuf};

/// The operating system whose customs are followed for the user's configuration folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux and the other Unixes: the XDG folders.
    Unix,
    /// macOS: `~/Library/Application Support`.
    MacOs,
    /// Windows: `%APPDATA%`.
    Windows,
}

impl System {
    /// The system this was compiled for.
    pub fn here() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Unix
        }
    }
}

/// The current folder, the system, and a way to look up environment variables.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The current folder, absolute.
    pub folder: &'a Path,
    /// The system.
    pub system: System,
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Surroundings<'_> {
    /// The user's home folder.
    pub fn home(&self) -> Option<PathBuf> {
        let name = match self.system {
            System::Unix | System::MacOs => "HOME",
            System::Windows => "USERPROFILE",
        };
        self.absolute(name)
    }

    /// Toolbay's folder among the user's configurations.
    pub fn configuration_folder(&self) -> Option<PathBuf> {
        let folder = match self.system {
            System::Unix => self.absolute("XDG_CONFIG_HOME").or_else(|| Some(self.home()?.join(".config"))),
            System::MacOs => self.home().map(|home| home.join("Library/Application Support")),
            System::Windows => self.absolute("APPDATA"),
        };
        Some(folder?.join("toolbay"))
    }

    /// Toolbay's folder for what can be made anew.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        let folder = match self.system {
            System::Unix => self.absolute("XDG_CACHE_HOME").or_else(|| Some(self.home()?.join(".cache"))),
            System::MacOs => self.home().map(|home| home.join("Library/Caches")),
            System::Windows => self.absolute("LOCALAPPDATA"),
        };
        Some(folder?.join("toolbay"))
    }

    /// Toolbay's folder for what is to outlast it.
    pub fn state_folder(&self) -> Option<PathBuf> {
        let folder = match self.system {
            System::Unix => self.absolute("XDG_STATE_HOME").or_else(|| Some(self.home()?.join(".local/state"))),
            System::MacOs => self.home().map(|home| home.join("Library/Application Support")),
            System::Windows => self.absolute("LOCALAPPDATA"),
        };
        Some(folder?.join("toolbay"))
    }

    /// A folder named by a variable; the XDG rules say that a relative one does not count.
    fn absolute(&self, name: &str) -> Option<PathBuf> {
        let folder = PathBuf::from((self.variable)(name)?);
        (folder.is_absolute() || self.system == System::Windows && !folder.as_os_str().is_empty()).then_some(folder)
    }
}
