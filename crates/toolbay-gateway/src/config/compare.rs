//! What is different between two readings of a configuration, field by field, and what that takes.

use super::running::{Endpoint, Server, Setup};
use crate::limits::{Effect, Limits, ROWS, Scope};

/// A field that is not what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its key in the configuration.
    pub key: &'static str,
    /// When the new value holds.
    pub effect: Effect,
}

/// The fields of a server that are not what they were. Where in the file it stands does not matter.
pub(crate) fn fields(before: &Server, after: &Server) -> Vec<Field> {
    let mut keys = setup(&before.setup, &after.setup);
    let mut differs = |key, differs: bool| keys.extend(differs.then_some(key));
    differs("isolation", before.isolation != after.isolation);
    differs("names", before.names != after.names);
    differs("start", before.start != after.start);
    differs("revision", before.revision != after.revision);
    differs("tool entry", before.tool.is_some() != after.tool.is_some());
    let mut fields: Vec<_> = keys.into_iter().map(|key| Field { key, effect: Effect::Restart }).collect();
    fields.extend(about(before, after));
    fields.extend(limits(&whole(before), &whole(after), Scope::Server));
    fields
}

/// What is said of an entry and changes nothing about how it is reached.
fn about(before: &Server, after: &Server) -> Vec<Field> {
    let (Some(before), Some(after)) = (&before.tool, &after.tool) else { return vec![] };
    let pairs = [
        ("description", before.description == after.description),
        ("category", before.category == after.category),
        ("expires_at", before.expires == after.expires),
    ];
    pairs.into_iter().filter(|(_, same)| !same).map(|(key, _)| Field { key, effect: Effect::Live }).collect()
}

/// The limits of such a scope that are not what they were.
pub(crate) fn limits(before: &Limits, after: &Limits, scope: Scope) -> Vec<Field> {
    let rows = ROWS.iter().filter(|row| row.scope == scope);
    let changed = rows.filter(|row| row.value(before).to_bits() != row.value(after).to_bits());
    changed.map(|row| Field { key: row.key, effect: row.effect }).collect()
}

/// The limits that a server is kept to, those included that have keys of their own.
fn whole(server: &Server) -> Limits {
    let mut limits = Limits { server: server.limits, ..Limits::default() };
    limits.server.startup = server.startup_timeout.unwrap_or(limits.server.startup);
    limits.server.silence = server.timeout.unwrap_or(limits.server.silence);
    limits
}

fn setup(before: &Setup, after: &Setup) -> Vec<&'static str> {
    match (before, after) {
        (Setup::Ready(before), Setup::Ready(after)) => endpoint(before, after),
        (Setup::Disabled, Setup::Disabled) => vec![],
        (Setup::Broken(before), Setup::Broken(after)) if before.problem == after.problem => vec![],
        (Setup::Disabled, _) | (_, Setup::Disabled) => vec!["disabled"],
        (Setup::Broken(_), _) | (_, Setup::Broken(_)) => vec!["command or url"],
    }
}

fn endpoint(before: &Endpoint, after: &Endpoint) -> Vec<&'static str> {
    let pairs = match (before, after) {
        (Endpoint::Child(before), Endpoint::Child(after)) => vec![
            ("command", before.command == after.command),
            ("args", before.args == after.args),
            ("env", before.env == after.env),
            ("cwd", before.cwd == after.cwd),
            ("sessionDir", before.session_dir == after.session_dir),
        ],
        (Endpoint::Http(before), Endpoint::Http(after)) | (Endpoint::Sse(before), Endpoint::Sse(after)) => {
            vec![("url", before.url == after.url), ("headers", before.headers == after.headers)]
        }
        (Endpoint::Service(before), Endpoint::Service(after)) => vec![
            ("url", before.remote.url == after.remote.url),
            ("headers", before.remote.headers == after.remote.headers),
            ("definition", before.description == after.description && before.schema == after.schema),
            ("body", before.call == after.call),
            ("poll", before.answering == after.answering),
        ],
        _ => return vec!["type"],
    };
    pairs.into_iter().filter(|(_, same)| !same).map(|(key, _)| key).collect()
}
