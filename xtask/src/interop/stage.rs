//! Six real servers with something harmless to serve each, and the configuration that names them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::page::Page;
use crate::child;
use crate::peers::{self, Peer};
use crate::places::Scratch;

/// A server as a configuration names it, and one call that shows it works.
pub(crate) struct Server {
    /// Its name in the configuration.
    pub(crate) name: &'static str,
    /// The program.
    pub(crate) command: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Variables it needs.
    pub(crate) env: BTreeMap<String, String>,
    /// A tool, its arguments, and what its answer must contain.
    pub(crate) call: (&'static str, Value, String),
}

impl Server {
    /// The server as a child of ours, without a gateway.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.command);
        command.args(&self.args).envs(&self.env);
        command
    }

    fn written(&self) -> Value {
        json!({ "command": self.command, "args": self.args, "env": self.env })
    }
}

/// A scratch folder with a configuration, and what the servers serve.
pub(crate) struct Stage {
    scratch: Scratch,
    _page: Page,
    /// The six servers.
    pub(crate) servers: Vec<Server>,
}

impl Stage {
    /// Lays out files, a repository, a memory and a page, fetches the servers, and writes the configuration.
    pub(crate) fn set(name: &str) -> Result<Self> {
        let scratch = Scratch::new(name)?;
        let page = Page::serve("The tide turns at noon.\n")?;
        let servers = servers(scratch.path(), &page)?;
        let stage = Self { scratch, _page: page, servers };
        stage.write_config("toolbay.json", &[])?;
        Ok(stage)
    }

    /// The scratch folder.
    pub(crate) fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// The configuration with the six servers.
    pub(crate) fn config_path(&self) -> PathBuf {
        self.path().join("toolbay.json")
    }

    /// Writes a configuration with the six servers and some more.
    pub(crate) fn write_config(&self, file: &str, more: &[(&str, Value)]) -> Result<PathBuf> {
        let path = self.path().join(file);
        Self::write_only(&path, &self.servers, more)?;
        Ok(path)
    }

    /// Writes a configuration with some of the six servers and some more.
    pub(crate) fn write_only<'s>(
        path: &Path,
        servers: impl IntoIterator<Item = &'s Server>,
        more: &[(&str, Value)],
    ) -> Result<()> {
        let mut entries = serde_json::Map::new();
        entries.extend(servers.into_iter().map(|server| (server.name.to_owned(), server.written())));
        entries.extend(more.iter().map(|(name, entry)| ((*name).to_owned(), entry.clone())));
        Ok(fs::write(path, serde_json::to_string_pretty(&json!({ "mcpServers": entries }))?)?)
    }
}

fn servers(folder: &Path, page: &Page) -> Result<Vec<Server>> {
    let mut servers = npm_servers(folder)?;
    servers.extend(python_servers(folder, page)?);
    Ok(servers)
}

fn npm_servers(folder: &Path) -> Result<Vec<Server>> {
    let node = peers::node()?.to_string_lossy().into_owned();
    let modules = peers::folder(Peer::NpmServers)?.join("node_modules/@modelcontextprotocol");
    let script = |name: &str| modules.join(name).join("dist/index.js").to_string_lossy().into_owned();

    let files = folder.join("files");
    fs::create_dir(&files)?;
    let note = files.join("harbour.txt");
    fs::write(&note, "Three boats lie in the harbour.\n")?;

    let memory = folder.join("memory.jsonl");
    let entity = json!({ "type": "entity", "name": "lighthouse", "entityType": "building",
        "observations": ["stands at the harbour mouth"] });
    fs::write(&memory, format!("{entity}\n"))?;
    let memory = BTreeMap::from([("MEMORY_FILE_PATH".to_owned(), memory.to_string_lossy().into_owned())]);

    let server = |name, args: Vec<String>, env, call| Server { name, command: node.clone(), args, env, call };
    Ok(vec![
        server(
            "everything",
            vec![script("server-everything")],
            BTreeMap::new(),
            ("echo", json!({ "message": "ahoy" }), "Echo: ahoy".to_owned()),
        ),
        server(
            "filesystem",
            vec![script("server-filesystem"), files.to_string_lossy().into_owned()],
            BTreeMap::new(),
            ("read_text_file", json!({ "path": note }), "Three boats".to_owned()),
        ),
        server(
            "memory",
            vec![script("server-memory")],
            memory,
            ("search_nodes", json!({ "query": "lighthouse" }), "stands at the harbour mouth".to_owned()),
        ),
    ])
}

fn python_servers(folder: &Path, page: &Page) -> Result<Vec<Server>> {
    let python = peers::python(Peer::PythonServers)?.to_string_lossy().into_owned();
    let repository = repository(folder)?.to_string_lossy().into_owned();
    let words = |args: &[&str]| args.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let server = |name, args: &[&str], call| Server {
        name,
        command: python.clone(),
        args: words(args),
        env: BTreeMap::new(),
        call,
    };
    Ok(vec![
        server(
            "time",
            &["-m", "mcp_server_time", "--local-timezone", "UTC"],
            (
                "convert_time",
                json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" }),
                "21:00".to_owned(),
            ),
        ),
        server(
            "git",
            &["-m", "mcp_server_git", "--repository", &repository],
            ("git_log", json!({ "repo_path": repository }), "Moor the first boat".to_owned()),
        ),
        // Our page is on the loopback, which the server refuses by default. It asks for robots.txt first; the page
        // answers 404 there, which permits. Raw, because turning HTML into text is not what is tried here.
        server(
            "fetch",
            &["-m", "mcp_server_fetch", "--allow-private-ips"],
            ("fetch", json!({ "url": page.url(), "raw": true }), "The tide turns at noon.".to_owned()),
        ),
    ])
}

/// A git repository with one commit.
fn repository(folder: &Path) -> Result<PathBuf> {
    let repository = folder.join("repository");
    fs::create_dir(&repository)?;
    fs::write(repository.join("log.txt"), "first boat\n")?;
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        // Nothing of the user's own git settings (signing, hooks) belongs in this repository.
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.current_dir(&repository).args(["-c", "user.name=Harbour", "-c", "user.email=harbour@example.invalid"]);
        command.args(args);
        let run = child::capture("git", &mut command, Duration::from_secs(60))?;
        if run.status.success() { Ok(()) } else { bail!("git {} failed: {}", args.join(" "), run.stderr.trim()) }
    };
    git(&["init", "--quiet"])?;
    git(&["add", "."])?;
    git(&["commit", "--quiet", "-m", "Moor the first boat"])?;
    Ok(repository)
}
