//! Why a server could not be started, and what to do about it. Not for servers that start and then fail: see `exit`.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a server could not be started.
#[derive(Debug, Clone)]
pub enum SpawnError {
    /// The configuration names no program.
    NoProgram,
    /// The program is not there: on `PATH` if it is a bare name, else at its path.
    NotFound {
        /// The program as configured.
        program: String,
    },
    /// The program is there, but what its first line (`#!`) names is not.
    InterpreterNotFound {
        /// Where the program is.
        program: PathBuf,
    },
    /// The program may not be run.
    NotExecutable {
        /// The program as configured.
        program: String,
    },
    /// The system does not know how to run the program.
    NotAProgram {
        /// The program as configured.
        program: String,
    },
    /// The folder to start in is not there, or is no folder.
    NoFolder {
        /// The folder as configured.
        folder: PathBuf,
    },
    /// Something else.
    Other {
        /// The program as configured.
        program: String,
        /// What the system said.
        source: Arc<io::Error>,
    },
}

impl SpawnError {
    /// Finds the reason behind what the system said. `path` is the `PATH` of the child.
    pub(super) fn of(program: &OsStr, path: Option<&OsStr>, error: io::Error) -> Self {
        let name = program.to_string_lossy().into_owned();
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::NotFound, _) => match find(program, path) {
                Some(program) => Self::InterpreterNotFound { program },
                None => Self::NotFound { program: name },
            },
            (io::ErrorKind::PermissionDenied, _) => Self::NotExecutable { program: name },
            (_, Some(ENOEXEC)) if cfg!(unix) => Self::NotAProgram { program: name },
            _ => Self::Other { program: name, source: Arc::new(error) },
        }
    }
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgram => f.write_str("no command given: name a program in `command`"),
            Self::NotFound { program } if is_path(OsStr::new(program)) => {
                write!(f, "{program} does not exist: check the path in `command`")
            }
            Self::NotFound { program } => write!(f, "{program} not found on PATH: {}", advice(program)),
            Self::InterpreterNotFound { program } => write!(
                f,
                "{} exists, but the program its first line names does not: install that, or correct the line",
                program.display()
            ),
            Self::NotExecutable { program } => {
                write!(
                    f,
                    "{program} is not executable: allow it (chmod +x), or run it with its interpreter as `command`"
                )
            }
            Self::NotAProgram { program } => write!(
                f,
                "{program} is not a program for this system: a script needs `#!` and its interpreter in the first line"
            ),
            Self::NoFolder { folder } => {
                write!(f, "the folder {} does not exist: create it, or correct `cwd`", folder.display())
            }
            Self::Other { program, source } => write!(f, "{program} could not be started: {source}"),
        }
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Other { source, .. } => Some(source),
            Self::NoProgram
            | Self::NotFound { .. }
            | Self::InterpreterNotFound { .. }
            | Self::NotExecutable { .. }
            | Self::NotAProgram { .. }
            | Self::NoFolder { .. } => None,
        }
    }
}

fn advice(program: &str) -> &'static str {
    match program {
        "npx" | "npm" | "node" | "pnpm" | "yarn" => "install Node.js (https://nodejs.org), or give the full path",
        "uvx" | "uv" => "install uv (https://docs.astral.sh/uv), or give the full path",
        "python" | "python3" | "pip" | "pipx" => "install Python (https://www.python.org), or give the full path",
        "bun" | "bunx" => "install Bun (https://bun.sh), or give the full path",
        "deno" => "install Deno (https://deno.com), or give the full path",
        "docker" | "podman" => "install Docker or Podman, or give the full path",
        "cargo" => "install Rust (https://rustup.rs), or give the full path",
        "go" => "install Go (https://go.dev), or give the full path",
        "java" => "install a Java runtime, or give the full path",
        "dotnet" => "install .NET (https://dotnet.microsoft.com), or give the full path",
        _ if program.contains(' ') => "`command` is one program, not a command line; put its arguments into `args`",
        _ => "install it, correct the name, or give the full path",
    }
}

fn find(program: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    let is_file = |candidate: &PathBuf| candidate.is_file();
    if is_path(program) {
        return Some(PathBuf::from(program)).filter(is_file);
    }
    std::env::split_paths(path.unwrap_or_default()).map(|folder| folder.join(program)).find(is_file)
}

fn is_path(program: &OsStr) -> bool {
    Path::new(program).components().count() > 1
}

/// The same on every Unix.
const ENOEXEC: i32 = 8;

/// What of a command must be checked before the system is asked, because its answer would not tell.
pub(super) fn check(program: &OsString, folder: Option<&PathBuf>) -> Result<(), SpawnError> {
    if program.is_empty() {
        return Err(SpawnError::NoProgram);
    }
    match folder {
        Some(folder) if !folder.is_dir() => Err(SpawnError::NoFolder { folder: folder.clone() }),
        _ => Ok(()),
    }
}
