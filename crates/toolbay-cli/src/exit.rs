//! How the command ends: a code for scripts, a sentence for people.

use std::{fmt, process::ExitCode};

use crate::show;

/// Why the command did not succeed.
#[derive(Debug)]
pub(crate) struct Exit {
    code: u8,
    what: String,
}

/// The codes, as `--help` explains them.
pub(crate) const HELP: &str = "Exit codes:
  0  success
  1  the tool, or the server, answered with an error
  2  wrong usage
  3  the configuration cannot be used
  4  a server could not be reached
  5  no such tool, prompt or resource; nothing fits the request
  6  a tool is not portable (lint)
  130  interrupted";

impl Exit {
    /// The server answered with an error.
    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self { code: 1, what: what.into() }
    }

    /// Wrong usage that only shows at run time.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self { code: 2, what: what.into() }
    }

    /// The configuration cannot be used.
    pub(crate) fn config(what: impl Into<String>) -> Self {
        Self { code: 3, what: what.into() }
    }

    /// A server could not be reached.
    pub(crate) fn unreachable(what: impl Into<String>) -> Self {
        Self { code: 4, what: what.into() }
    }

    /// No such tool, prompt or resource.
    pub(crate) fn unknown(what: impl Into<String>) -> Self {
        Self { code: 5, what: what.into() }
    }

    /// A tool that no provider can be told of by its schema.
    pub(crate) fn unportable(what: impl Into<String>) -> Self {
        Self { code: 6, what: what.into() }
    }

    /// What somebody else refused, by its code.
    pub(crate) fn refused(code: u8, what: impl Into<String>) -> Self {
        Self { code, what: what.into() }
    }

    /// Whether what was asked for is not there.
    pub(crate) fn is_unknown(&self) -> bool {
        self.code == 5
    }

    /// Somebody pressed Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self { code: 130, what: "interrupted".into() }
    }

    /// A trouble with the configuration that was shown already.
    pub(crate) fn config_shown() -> Self {
        Self { code: 3, what: String::new() }
    }

    /// A failure that was shown already.
    pub(crate) fn shown() -> Self {
        Self { code: 1, what: String::new() }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// Says it on stderr and gives the code.
pub(crate) fn report(exit: &Exit) -> ExitCode {
    if !exit.what.is_empty() {
        // Much of it was written by a server.
        eprintln!("toolbay: {}", show::safe(&exit.what));
    }
    ExitCode::from(exit.code)
}
