//! How a server ended, in words. Not for ending it.

use std::fmt;
use std::process::ExitStatus;

use crate::stdio::junk::excerpt;

/// The end of a server and the last it wrote to stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// How the process ended.
    pub how: How,
    /// The last lines on stderr, as written.
    pub stderr: Vec<String>,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// By itself.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It has not ended, or the system does not say how.
    Unknown(String),
}

/// What it took to end a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shutdown {
    /// The step after which it was gone.
    pub needed: Needed,
    /// How it ended.
    pub exit: Exit,
}

/// The steps of a shutdown, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    /// It had ended before.
    Nothing,
    /// It ended when its input was closed.
    ClosedInput,
    /// It had to be asked by SIGTERM.
    Terminate,
    /// It had to be killed.
    Kill,
}

impl How {
    pub(super) fn of(status: std::io::Result<ExitStatus>) -> Self {
        match status {
            Ok(status) => status.code().map(Self::Code).or_else(|| signal(status)).unwrap_or_else(|| unknown(&status)),
            Err(error) => unknown(&error),
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => match NAMES.iter().find(|(number, _)| number == signal) {
                Some((_, name)) => write!(f, "killed by signal {signal} ({name})"),
                None => write!(f, "killed by signal {signal}"),
            },
            Self::Unknown(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { how, stderr } = self;
        write!(f, "{how}")?;
        let said = stderr.iter().filter(|line| !line.trim().is_empty());
        let last: Vec<_> = said.rev().take(SHOWN).map(|line| excerpt(line.as_bytes())).collect();
        for (at, line) in last.iter().rev().enumerate() {
            write!(f, "{}{line}", if at == 0 { "; stderr: " } else { " | " })?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<How> {
    std::os::unix::process::ExitStatusExt::signal(&status).map(How::Signal)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<How> {
    None
}

fn unknown(why: &impl fmt::Display) -> How {
    How::Unknown(format!("ended in an unknown way ({why})"))
}

const SHOWN: usize = 3;

// The numbers are the same on every system we know.
const NAMES: [(i32, &str); 7] =
    [(1, "SIGHUP"), (2, "SIGINT"), (4, "SIGILL"), (6, "SIGABRT"), (9, "SIGKILL"), (11, "SIGSEGV"), (15, "SIGTERM")];
