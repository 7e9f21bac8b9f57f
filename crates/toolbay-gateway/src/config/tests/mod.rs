//! Files as people write them, and what becomes of them.

mod clients;
mod embeddings;
mod expansion;
mod expose;
mod faults;
mod finding;
mod host;
mod limits;
mod names;
mod servers;
mod session_dir;
mod telemetry;
mod tools;

use std::path::{Path, PathBuf};

use super::{Endpoint, Error, Level, Loaded, Server, Setup, Surroundings, System, parse};

/// Parses `text` as `/work/project/.mcp.json`, seen from `/work/here`, with a small environment.
pub(super) fn parsed(text: &str) -> Result<Loaded, Error> {
    parse_at("/work/project/.mcp.json", text)
}

pub(super) fn parse_at(file: &str, text: &str) -> Result<Loaded, Error> {
    let around = Surroundings { folder: Path::new("/work/here"), system: System::Unix, variable: &variable };
    parse(text, Path::new(file), &around)
}

fn variable(name: &str) -> Option<String> {
    let value = match name {
        "HOME" => "/home/ada",
        "TOKEN" => "s3cret",
        "PORT" => "8080",
        "EMPTY" => "",
        "LINES" => "one\ntwo",
        "ProgramFiles(x86)" => "/programs",
        _ => return None,
    };
    Some(value.into())
}

/// The only server of `{"mcpServers": {"one": BODY}}`, and the remarks.
pub(super) fn one(body: &str) -> (Server, Vec<String>) {
    let loaded = parsed(&format!(r#"{{"mcpServers": {{"one": {body}}}}}"#)).expect("the file is sound");
    let remarks = remarks(&loaded);
    (loaded.config.servers.into_iter().next().expect("one server"), remarks)
}

pub(super) fn remarks(loaded: &Loaded) -> Vec<String> {
    let level = |level| match level {
        Level::Note => "note",
        Level::Warning => "warning",
    };
    loaded.warnings.iter().map(|one| format!("{} {}: {}", one.place, level(one.level), one.message)).collect()
}

/// A server in one line, with everything a test may want to see.
pub(super) fn line(server: &Server) -> String {
    let setup = match &server.setup {
        Setup::Disabled => "disabled".into(),
        Setup::Broken(reason) => format!("broken: {}", reason.problem),
        Setup::Ready(Endpoint::Http(remote)) => format!("http {}{}", remote.url.uri(), headers(remote)),
        Setup::Ready(Endpoint::Sse(remote)) => format!("sse {}{}", remote.url.uri(), headers(remote)),
        Setup::Ready(Endpoint::Service(service)) => {
            format!("service {}{} {:?}", service.remote.url.uri(), headers(&service.remote), service.answering)
        }
        Setup::Ready(Endpoint::Child(child)) => {
            let mut text = format!("run {}", child.command.value());
            for arg in &child.args {
                text.push_str(&format!(" [{}]", arg.value()));
            }
            for (name, value) in &child.env {
                text.push_str(&format!(" {name}={}", value.reveal()));
            }
            if let Some(cwd) = &child.cwd {
                text.push_str(&format!(" in {}", cwd.display()));
            }
            text
        }
    };
    format!("{} {setup}", server.name)
}

fn headers(remote: &super::Remote) -> String {
    let one = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        assert!(value.is_sensitive(), "{name}");
        format!(" {name}: {}", value.to_str().expect("ASCII"))
    };
    remote.headers.iter().map(one).collect()
}

pub(super) fn lines(loaded: &Loaded) -> Vec<String> {
    loaded.config.servers.iter().map(line).collect()
}

/// A folder with files in it.
pub(super) fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let path = folder.path().canonicalize().expect("a path");
    (folder, path)
}
