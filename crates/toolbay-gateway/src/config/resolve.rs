//! One server as typed to one server that can be started, or the reason why not.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use toolbay_protocol::Revision;

use crate::limits::Limits;

use super::{
    error::Reason,
    expand::{Expanded, Standing, Variables},
    limits,
    running::{Endpoint, Isolation, Names, Server, Setup, Start},
    source::{At, Source},
    surroundings::Surroundings,
    warn::{Level, Remarks, Warning, nearest},
    written::{Body, Written, reason},
};

/// Fills in and checks a server.
pub(super) fn resolve(
    server: Written,
    limits: &Limits,
    source: &Source<'_>,
    around: &Surroundings<'_>,
    remarks: &mut Remarks<'_>,
) -> Server {
    let place = source.place(server.name.at);
    let variables = Variables { around, workspace: workspace(source.file, around), session_dir: Standing::Variable };
    let mut resolver = Resolver { name: &server.name, source, variables, remarks };
    let (mut startup_timeout, mut timeout, mut isolation, mut names) = (None, None, None, Names::default());
    let (mut revision, mut start) = (None, Start::default());
    let mut own = limits.server;
    let about = server.tool.as_ref().map(|tool| resolver.about(tool)).transpose();
    let setup = if server.disabled {
        Setup::Disabled
    } else {
        let outcome = server.body.and_then(|body| {
            resolver.check_name()?;
            about.as_ref().map_err(Clone::clone)?;
            startup_timeout = resolver.seconds(body.startup_timeout.as_ref(), "startupTimeout")?;
            timeout = resolver.seconds(body.timeout.as_ref(), "timeout")?;
            isolation = resolver.isolation(body.isolation.as_ref())?;
            if isolation == Some(Isolation::PerDevice) {
                resolver.variables.session_dir = Standing::Itself;
            }
            names = resolver.names(body.names.as_ref())?;
            revision = resolver.revision(body.revision.as_ref())?;
            start = resolver.start(body.start.as_ref())?;
            own = limits::server(&body.limits, limits, source)?;
            match &server.tool {
                Some(tool) => resolver.tool_endpoint(&body, tool),
                None => resolver.endpoint(&body),
            }
        });
        outcome.map_or_else(Setup::Broken, Setup::Ready)
    };
    // What it is called by its own name alone is settled with all others.
    names = if server.tool.is_some() && names == Names::Prefixed { Names::Entry } else { names };
    // Of an entry whose end cannot be read nothing is offered, so that nothing is known of it.
    let tool = server.tool.is_some().then(|| about.ok().flatten().unwrap_or_default());
    Server {
        tool,
        name: server.name.value,
        place,
        setup,
        startup_timeout,
        timeout,
        limits: own,
        isolation,
        names,
        revision,
        start,
    }
}

/// Leaves names of their own to one server alone: those of a second could be the same.
pub(super) fn one_with_own_names(servers: &mut [Server], source: &Source<'_>) -> Vec<Warning> {
    if servers.iter().any(|server| server.names == Names::Own) {
        // A name that is a server's own could be an entry's as well.
        servers
            .iter_mut()
            .filter(|server| server.names == Names::Entry)
            .for_each(|entry| entry.names = Names::Prefixed);
    }
    let mut others = servers.iter_mut().filter(|server| server.names == Names::Own);
    let Some(first) = others.next().map(|server| server.name.clone()) else { return vec![] };
    let warned = others.map(|server| {
        server.names = Names::Prefixed;
        let message = format!(
            "server `{}`: its names are prefixed, since `{first}` has its own already and the two could be the same",
            server.name
        );
        Warning { file: source.file.to_path_buf(), place: server.place, level: Level::Warning, message }
    });
    warned.collect()
}

/// The folder a client would call the workspace: where the file lies, or above it if it lies in a client's folder.
pub(super) fn workspace(file: &Path, around: &Surroundings<'_>) -> PathBuf {
    let here = around.folder.to_path_buf();
    let file = around.folder.join(file);
    let Some(folder) = file.parent() else { return here };
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = if CLIENT_FOLDERS.contains(&name) { folder.parent().unwrap_or(folder) } else { folder };
    let users = [around.home(), around.configuration_folder()];
    if users.iter().flatten().any(|own| own == folder) { here } else { folder.to_path_buf() }
}

const CLIENT_FOLDERS: [&str; 8] = [".vscode", ".cursor", ".claude", ".zed", ".roo", ".kiro", ".gemini", ".idea"];

/// One server on its way; `resolve_child` and `resolve_remote` hold the two ways it can go.
pub(super) struct Resolver<'r, 's> {
    pub(super) name: &'r At<String>,
    pub(super) source: &'r Source<'r>,
    pub(super) variables: Variables<'r>,
    pub(super) remarks: &'r mut Remarks<'s>,
}

impl Resolver<'_, '_> {
    fn check_name(&self) -> Result<(), Reason> {
        let name = self.name.value.as_str();
        if name.trim().is_empty() {
            return Err(self.reason(self.name.at, "the server has no name", "give it one"));
        }
        if name.len() > LONGEST_NAME || name.contains(char::is_control) {
            let remedy = format!("take at most {LONGEST_NAME} bytes and no control characters");
            return Err(self.reason(self.name.at, "the server's name cannot be used", remedy));
        }
        Ok(())
    }

    pub(super) fn endpoint(&mut self, body: &Body) -> Result<Endpoint, Reason> {
        let kind = body.kind.as_ref().map(|kind| self.kind(kind)).transpose()?;
        match (kind, &body.command, &body.url) {
            (Some(Kind::Child) | None, Some(command), None) => self.child(command, body).map(Endpoint::Child),
            (Some(Kind::Child), Some(command), Some(url)) => {
                self.warn(url.at, "`url` is ignored: the type is stdio");
                self.child(command, body).map(Endpoint::Child)
            }
            (Some(Kind::Http) | None, None, Some(url)) => self.remote(url, body).map(Endpoint::Http),
            (Some(Kind::Http), Some(command), Some(url)) => {
                self.warn(command.at, "`command` is ignored: the type is http");
                self.remote(url, body).map(Endpoint::Http)
            }
            (Some(Kind::Sse), command, Some(url)) => {
                if let Some(command) = command {
                    self.warn(command.at, "`command` is ignored: the type is sse");
                }
                self.remote(url, body).map(Endpoint::Sse)
            }
            (Some(Kind::Rest), _, _) => {
                let remedy = "write it as an entry of the list `tools`, with a `name`";
                Err(self.reason(self.name.at, "a service of the type rest is no server of the protocol", remedy))
            }
            (None, Some(_), Some(url)) => {
                let problem = "it has both `command` and `url`";
                Err(self.reason(url.at, problem, "remove one, or add \"type\": \"stdio\" or \"http\""))
            }
            (Some(Kind::Child), None, _) => Err(self.reason(
                self.name.at,
                "its type is stdio and it has no `command`",
                "add \"command\": \"PROGRAM\"",
            )),
            (Some(Kind::Http | Kind::Sse), _, None) => {
                Err(self.reason(self.name.at, "its type is remote and it has no `url`", "add \"url\": \"https://…\""))
            }
            (None, None, None) => {
                let problem = "it has neither `command` nor `url`";
                Err(self.reason(self.name.at, problem, "add \"command\": \"PROGRAM\" or \"url\": \"https://…\""))
            }
        }
    }

    pub(super) fn kind(&self, typed: &At<String>) -> Result<Kind, Reason> {
        let plain: String = typed.value.to_ascii_lowercase().replace(['-', '_', ' '], "");
        match plain.as_str() {
            "stdio" | "local" => Ok(Kind::Child),
            "http" | "streamablehttp" | "remote" => Ok(Kind::Http),
            "sse" => Ok(Kind::Sse),
            "rest" => Ok(Kind::Rest),
            "ws" | "websocket" => {
                let problem = "WebSocket is not a transport of the protocol";
                Err(self.reason(typed.at, problem, "ask the server for an http address"))
            }
            "sdk" | "builtin" | "inprocess" => {
                let problem = format!("the type `{}` lives inside another program", typed.value);
                Err(self.reason(typed.at, problem, "give the command that starts the server by itself"))
            }
            _ => {
                let problem = format!("the type `{}` is not known", typed.value);
                let remedy = match nearest(&typed.value, ["stdio", "http", "sse", "rest", "streamable-http"]) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "write stdio, http, streamable-http or sse, or leave it out".into(),
                };
                Err(self.reason(typed.at, problem, remedy))
            }
        }
    }

    pub(super) fn seconds(&mut self, typed: Option<&At<f64>>, key: &str) -> Result<Option<Duration>, Reason> {
        let Some(At { value, at }) = typed else { return Ok(None) };
        if !(LEAST_SECONDS..=MOST_SECONDS).contains(value) {
            let remedy = format!("write seconds, from {LEAST_SECONDS} to {MOST_SECONDS}");
            return Err(self.reason(*at, format!("`{key}` is out of range"), remedy));
        }
        if *value >= SUSPICIOUS_SECONDS {
            let message = format!("`{key}` is in seconds; {value} may have been meant as milliseconds");
            self.warn(*at, &message);
        }
        Ok(Some(Duration::from_secs_f64(*value)))
    }

    fn isolation(&self, typed: Option<&At<String>>) -> Result<Option<Isolation>, Reason> {
        let Some(At { value, at }) = typed else { return Ok(None) };
        let found = Isolation::WORDS.iter().find(|(word, _)| word == value);
        let words = || Isolation::WORDS.map(|(word, _)| word).join(", ");
        found.map(|(_, isolation)| Some(*isolation)).ok_or_else(|| {
            self.reason(
                *at,
                format!("`isolation` is `{value}`, which is not known"),
                format!("write one of {}", words()),
            )
        })
    }

    fn names(&self, typed: Option<&At<String>>) -> Result<Names, Reason> {
        let Some(At { value, at }) = typed else { return Ok(Names::default()) };
        let found = Names::WORDS.iter().find(|(word, _)| word == value);
        found.map(|(_, names)| *names).ok_or_else(|| {
            self.reason(*at, format!("`names` is `{value}`, which is not known"), "write prefixed or own")
        })
    }

    fn start(&self, typed: Option<&At<String>>) -> Result<Start, Reason> {
        let Some(At { value, at }) = typed else { return Ok(Start::default()) };
        let found = Start::WORDS.iter().find(|(word, _)| word == value);
        found.map(|(_, start)| *start).ok_or_else(|| {
            self.reason(*at, format!("`start` is `{value}`, which is not known"), "write at-once or on-demand")
        })
    }

    fn revision(&self, typed: Option<&At<String>>) -> Result<Option<Revision>, Reason> {
        let Some(At { value, at }) = typed else { return Ok(None) };
        let words = || Revision::ALL.map(Revision::as_str).join(", ");
        Revision::parse(value).map(Some).ok_or_else(|| {
            let remedy = format!("write one of {}", words());
            self.reason(*at, format!("`revision` is `{value}`, which is not known"), remedy)
        })
    }

    pub(super) fn fill(&mut self, typed: &At<String>) -> Result<Expanded, Reason> {
        let filled = self.variables.fill(&typed.value).map_err(|why| {
            let (problem, remedy) = why.explain();
            self.reason(typed.at, problem, remedy)
        })?;
        for left in &filled.left {
            self.warn(
                typed.at,
                &format!("{left} is no variable and is left as typed; write ${{VAR}} or ${{VAR:-default}}"),
            );
        }
        if typed.value.starts_with("~/") {
            self.warn(typed.at, "`~` is left as typed, since no shell reads it; write ${userHome}/…");
        }
        if filled.text.value().contains('\0') {
            return Err(self.reason(typed.at, "the text holds a NUL character", "remove it"));
        }
        Ok(filled.text)
    }

    pub(super) fn reason(&self, at: usize, problem: impl Into<String>, remedy: impl Into<String>) -> Reason {
        reason(self.source, at, problem, remedy)
    }

    pub(super) fn warn(&mut self, at: usize, message: &str) {
        self.remarks.warn(at, self.of(message));
    }

    pub(super) fn of(&self, message: &str) -> String {
        format!("server `{}`: {message}", self.name.value)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Child,
    Http,
    Sse,
    Rest,
}

/// Longer names do not fit into messages.
const LONGEST_NAME: usize = 256;
/// A shorter wait is none.
const LEAST_SECONDS: f64 = 0.001;
/// A day: no call is waited for longer.
const MOST_SECONDS: f64 = 86_400.0;
/// From here on somebody may have thought of milliseconds.
const SUSPICIOUS_SECONDS: f64 = 1_000.0;
