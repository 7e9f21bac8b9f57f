//! A terminal that a test types into and reads from: tmux, with a server of its own. What is new on it is told by tmux
//! itself, so nobody sleeps.

use std::{path::PathBuf, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::command::SOON;

const COLUMNS: &str = "100";
const ROWS: &str = "40";

/// The tmux that `TOOLBAY_TMUX` names, else the one of this machine; none where there is none, unless one is required.
pub(crate) fn tmux() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("TOOLBAY_TMUX") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("tmux")).find(|file| file.is_file());
    if found.is_none() {
        eprintln!("skipped: there is no tmux here; `cargo xtask chat` fetches one");
    }
    found
}

/// A terminal.
pub(crate) struct Terminal {
    tmux: PathBuf,
    folder: tempfile::TempDir,
    watcher: Child,
    told: Lines<BufReader<ChildStdout>>,
}

impl Terminal {
    /// One in which a program runs.
    pub(crate) async fn running(tmux: PathBuf, program: &std::process::Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let wide = format!("{COLUMNS}x{ROWS}");
        let settings = format!("set -g default-size {wide}\nset -g history-limit 5000\n");
        std::fs::write(folder.path().join("tmux.conf"), settings).unwrap();
        let mut begin = Self::command(&tmux, &folder);
        begin.arg("-f").arg(folder.path().join("tmux.conf")).args(["new-session", "-d", "-x", COLUMNS, "-y", ROWS]);
        for (name, value) in program.get_envs() {
            let value = value.unwrap_or_default().to_string_lossy();
            begin.arg("-e").arg(format!("{}={value}", name.to_string_lossy()));
        }
        begin.arg("-c").arg(program.get_current_dir().unwrap());
        // Its end is something to read too, and leaves the screen as it is.
        // Ctrl-C is the program's, not the shell's.
        begin.args(["sh", "-c", "trap : INT; \"$@\"; echo \"[ended $?]\"; exec cat", "sh"]);
        begin.arg(program.get_program()).args(program.get_args());
        // Whoever watches has no size. (Before there is a window, this would end tmux 3.3.)
        begin.args([";", "set-option", "-g", "window-size", "manual"]);
        assert!(begin.status().await.unwrap().success(), "tmux starts");
        let mut watch = Self::command(&tmux, &folder);
        watch.args(["-C", "attach-session"]).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut watcher = watch.spawn().unwrap();
        let told = BufReader::new(watcher.stdout.take().unwrap()).lines();
        Self { tmux, folder, watcher, told }
    }

    fn command(tmux: &PathBuf, folder: &tempfile::TempDir) -> Command {
        let mut command = Command::new(tmux);
        command.env_remove("TMUX").env("LC_ALL", "C.UTF-8").env("TERM", "xterm-256color");
        command.arg("-u").arg("-S").arg(folder.path().join("socket"));
        command
    }

    async fn tell(&self, args: &[&str]) -> String {
        let mut command = Self::command(&self.tmux, &self.folder);
        let output = timeout(SOON, command.args(args).output()).await.expect("tmux answers").unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// All that was shown, from the first line on.
    pub(crate) async fn shown(&self) -> String {
        self.tell(&["capture-pane", "-p", "-J", "-S", "-"]).await
    }

    /// Waits until a text is shown below what was shown before it, and gives all that is shown.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        self.until_times(text, 1).await
    }

    /// The same, until it is shown so often.
    pub(crate) async fn until_times(&mut self, text: &str, times: usize) -> String {
        let shown = async {
            loop {
                let shown = self.shown().await;
                if shown.matches(text).count() >= times {
                    break Some(shown);
                }
                // Told of whatever is new, or that it has ended.
                self.told.next_line().await.ok().flatten()?;
            }
        };
        match timeout(SOON, shown).await {
            Ok(Some(shown)) => shown,
            Ok(None) | Err(_) => panic!("{text:?} is not shown {times} times in time:\n{}", self.shown().await),
        }
    }

    /// Types a text.
    pub(crate) async fn types(&self, text: &str) {
        self.tell(&["send-keys", "-l", "--", text]).await;
    }

    /// Presses a key, by its name in tmux.
    pub(crate) async fn presses(&self, key: &str) {
        self.tell(&["send-keys", key]).await;
    }

    /// Types a line.
    pub(crate) async fn says(&self, text: &str) {
        self.types(text).await;
        self.presses("Enter").await;
    }

    /// Ends it, with all that runs in it.
    pub(crate) async fn close(mut self) {
        self.tell(&["kill-server"]).await;
        let _ = timeout(SOON, self.watcher.wait()).await;
    }
}

impl Drop for Terminal {
    /// It is a server of its own, which outlives a test that fails.
    fn drop(&mut self) {
        let mut command = std::process::Command::new(&self.tmux);
        command.arg("-S").arg(self.folder.path().join("socket")).arg("kill-server");
        // After `close` there is none any more.
        let _ = command.stderr(Stdio::null()).status();
    }
}
