//! The keys of a server: ours, the ones other clients use for the same, and the ones that mean nothing here.

use super::warn::Level;

/// The keys that are read.
pub(super) const KNOWN: [&str; 17] = [
    "type",
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "url",
    "headers",
    "disabled",
    "timeout",
    "startupTimeout",
    "isolation",
    "sessionDir",
    "names",
    "revision",
    "start",
    "limits",
];

/// Another client's word for one of ours.
pub(super) struct Alias {
    pub(super) key: &'static str,
    pub(super) ours: &'static str,
    pub(super) client: &'static str,
}

/// Words that are read as ours, with a note.
pub(super) const ALIASES: [Alias; 14] = [
    alias("serverUrl", "url", "Windsurf"),
    alias("httpUrl", "url", "Gemini CLI"),
    alias("uri", "url", "goose"),
    alias("cmd", "command", "goose"),
    alias("envs", "env", "goose"),
    alias("environment", "env", "opencode"),
    alias("env_file", "envFile", "other clients"),
    alias("working_directory", "cwd", "other clients"),
    alias("http_headers", "headers", "Codex"),
    alias("transport", "type", "other clients"),
    alias("transportType", "type", "other clients"),
    alias("enabled", "disabled", "Zed and Codex"),
    alias("startup_timeout_sec", "startupTimeout", "Codex"),
    alias("tool_timeout_sec", "timeout", "Codex"),
];

const fn alias(key: &'static str, ours: &'static str, client: &'static str) -> Alias {
    Alias { key, ours, client }
}

/// A key of another client that has no meaning here.
pub(super) struct Foreign {
    pub(super) key: &'static str,
    pub(super) level: Level,
    pub(super) says: &'static str,
}

/// What to say about the keys of other clients; a warning where leaving them out allows more than they did.
pub(super) const FOREIGN: [Foreign; 34] = [
    foreign("autoApprove", APPROVAL),
    foreign("autoApproveTools", APPROVAL),
    foreign("alwaysAllow", APPROVAL),
    foreign("trust", APPROVAL),
    foreign("default_tools_approval_mode", APPROVAL),
    louder("disabledTools", TOOLS),
    louder("disabled_tools", TOOLS),
    louder("enabledTools", TOOLS),
    louder("enabled_tools", TOOLS),
    louder("includeTools", TOOLS),
    louder("excludeTools", TOOLS),
    louder("allowedTools", TOOLS),
    louder("sandbox", SANDBOX),
    louder("sandboxEnabled", SANDBOX),
    louder("headersHelper", HEADERS),
    louder("bearer_token_env_var", HEADERS),
    foreign("oauth", SIGN_IN),
    foreign("auth", SIGN_IN),
    foreign("authProviderType", SIGN_IN),
    foreign("gallery", DECORATION),
    foreign("version", DECORATION),
    foreign("dev", DECORATION),
    foreign("name", DECORATION),
    foreign("displayName", DECORATION),
    foreign("description", DECORATION),
    foreign("icon", DECORATION),
    foreign("note", DECORATION),
    foreign("source", DECORATION),
    foreign("settings", DECORATION),
    foreign("alwaysLoad", DECORATION),
    foreign("watchPaths", DECORATION),
    foreign("required", DECORATION),
    foreign("bundled", DECORATION),
    louder("tools", TOOLS),
];

const fn foreign(key: &'static str, says: &'static str) -> Foreign {
    Foreign { key, level: Level::Note, says }
}

const fn louder(key: &'static str, says: &'static str) -> Foreign {
    Foreign { key, level: Level::Warning, says }
}

const APPROVAL: &str = "approval is the business of the client in front of Toolbay; keep it there";
const TOOLS: &str = "it is not applied: every tool of this server is offered; choose in the client";
const SANDBOX: &str = "it is not applied: the server runs with your rights; confine the command itself if it must be";
const HEADERS: &str = "it is not read; write the header in `headers`, with ${VAR} for the secret";
const SIGN_IN: &str = "it is not read; if the server needs a token, write an `Authorization` header with ${VAR}";
const DECORATION: &str = "it has no meaning here and is ignored";

/// Keys people use for comments, in any object.
pub(super) fn is_comment(key: &str) -> bool {
    key == "$schema" || key == "comment" || key.starts_with(['_', '/', '#'])
}
