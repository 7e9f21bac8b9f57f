//! What to start and how. Not for what happens afterwards: see `process`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout, Command};

use super::ServerProcess;
use super::environment::inherited;
use super::group::Group;
use super::spawn_error::{SpawnError, check};
use super::stderr::{OnLine, Stderr};

/// A server to be started: a program and its arguments, never a shell's command line.
#[derive(Debug, Clone)]
pub struct ServerCommand {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    grace: Grace,
    on_stderr: Option<OnLine>,
}

/// How long a server may take for each step of ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// After its input is closed.
    pub after_close: Duration,
    /// After SIGTERM.
    pub after_terminate: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        Self { after_close: Duration::from_secs(2), after_terminate: Duration::from_secs(2) }
    }
}

/// The ends of a server's pipes that carry messages.
#[derive(Debug)]
pub struct Pipes {
    /// Where messages to the server are written; dropping it tells the server to end.
    pub stdin: ChildStdin,
    /// Where its messages are read.
    pub stdout: ChildStdout,
}

impl ServerCommand {
    /// A program, by name (looked up on the child's `PATH`) or path.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            folder: None,
            grace: Grace::default(),
            on_stderr: None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable, beside or instead of what is [`inherited`].
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets the folder to start in.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets how long each step of ending may take.
    #[must_use]
    pub fn grace(mut self, grace: Grace) -> Self {
        self.grace = grace;
        self
    }

    /// Watches the lines on stderr.
    #[must_use]
    pub fn on_stderr(mut self, hook: OnLine) -> Self {
        self.on_stderr = Some(hook);
        self
    }

    /// Starts the server in a process group of its own. Needs a tokio runtime with IO and time.
    pub fn spawn(self) -> Result<(ServerProcess, Pipes), SpawnError> {
        check(&self.program, self.folder.as_ref())?;
        let mut env = inherited();
        env.extend(self.env);
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        #[cfg(unix)]
        command.process_group(0);
        let path = env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        Group::expected();
        let mut child = command.spawn().map_err(|error| SpawnError::of(&self.program, path, error))?;
        let group = Group::led_by(child.id());
        let stdin = child.stdin.take().expect("stdin was asked to be a pipe");
        let stdout = child.stdout.take().expect("stdout was asked to be a pipe");
        let stderr = child.stderr.take().expect("stderr was asked to be a pipe");
        let stderr = Stderr::read(stderr, self.on_stderr);
        Ok((ServerProcess::new(child, group, stderr, self.grace), Pipes { stdin, stdout }))
    }

    /// The program, for messages.
    pub fn program(&self) -> &OsStr {
        &self.program
    }
}
