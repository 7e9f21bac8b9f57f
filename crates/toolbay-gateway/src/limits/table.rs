//! The table.

use std::time::Duration;

use super::values::Limits;

/// One limit.
#[derive(Debug)]
pub struct Row {
    /// Its name in the configuration and in errors.
    pub key: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The least it may be.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Whose it is.
    pub scope: Scope,
    /// When a changed value holds.
    pub effect: Effect,
    /// What it limits.
    pub says: &'static str,
    read: fn(&Limits) -> f64,
    write: fn(&mut Limits, f64),
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds, fractions allowed.
    Seconds,
}

/// Whose a limit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The gateway's as a whole.
    Gateway,
    /// Each server's; what stands beside all servers holds for those without their own.
    Server,
}

/// When what was changed in a configuration holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// At once; nothing is restarted for it.
    Live,
    /// With the server, which is restarted alone.
    Restart,
    /// When Toolbay is started again.
    NextStart,
}

impl Effect {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Restart => "server restarts",
            Self::NextStart => "at the next start",
        }
    }
}

impl Row {
    /// The value.
    pub fn value(&self, limits: &Limits) -> f64 {
        (self.read)(limits)
    }

    /// Sets a value, or says what may be written instead.
    pub fn set(&self, limits: &mut Limits, value: f64) -> Result<(), String> {
        let whole = self.unit == Unit::Seconds || value.fract() == 0.0;
        if !whole || !(self.least..=self.most).contains(&value) {
            let of = match self.unit {
                Unit::Count => "a whole number",
                Unit::Bytes => "bytes",
                Unit::Seconds => "seconds",
            };
            return Err(format!("write {of}, from {} to {}", self.least, self.most));
        }
        (self.write)(limits, value);
        Ok(())
    }
}

/// The row of a key; `list_bytes` and `listBytes` are the same.
pub fn row(key: &str) -> Option<&'static Row> {
    let plain = |key: &str| key.replace('_', "").to_ascii_lowercase();
    let wanted = plain(key);
    ROWS.iter().find(|row| plain(row.key) == wanted)
}

/// A day.
const DAY: f64 = 86_400.0;
/// A gibibyte.
const GIB: f64 = 1_073_741_824.0;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a row lets only whole numbers in range by"
)]
fn count(value: f64) -> usize {
    value as usize
}

#[expect(clippy::cast_precision_loss, reason = "no limit is beyond 2^52")]
fn float(count: usize) -> f64 {
    count as f64
}

macro_rules! rows {
    ($($key:literal, $unit:ident, $least:expr, $most:expr, $scope:ident, $effect:ident, $($field:ident).+, $says:literal;)*) => {
        /// All of them, in the order of the guide.
        pub static ROWS: &[Row] = &[$(Row {
            key: $key,
            unit: Unit::$unit,
            least: $least,
            most: $most,
            scope: Scope::$scope,
            effect: Effect::$effect,
            says: $says,
            read: |limits| rows!(@read $unit, limits.$($field).+),
            write: |limits, value| limits.$($field).+ = rows!(@write $unit, value),
        }),*];
    };
    (@read Seconds, $value:expr) => { Duration::as_secs_f64(&$value) };
    (@read $unit:ident, $value:expr) => { float($value) };
    (@write Seconds, $value:expr) => { Duration::from_secs_f64($value) };
    (@write $unit:ident, $value:expr) => { count($value) };
}

rows! {
    "settle", Seconds, 0.0, DAY, Gateway, Live, settle, "how long a list waits for servers that are still starting";
    "parkedCalls", Count, 0.0, 1e6, Gateway, Live, parked_calls, "calls that wait for callers who left with a question";
    "tasks", Count, 0.0, 1e6, Gateway, Live, tasks, "tasks of one user that are kept because they run in another revision than the user's";
    "taskBytes", Bytes, 1024.0, GIB, Gateway, Live, task_bytes, "what is kept of them";
    "children", Count, 0.0, 1e5, Gateway, Live, children, "servers that run as processes of their own, all connections together";
    "drain", Seconds, 0.0, DAY, Gateway, Live, drain, "how long calls in flight of a server that was changed or taken out go on";
    "sessions", Count, 1.0, 1e7, Gateway, NextStart, sessions, "open sessions of clients before 2026-07-28";
    "sessionIdle", Seconds, 1.0, DAY, Gateway, NextStart, session_idle, "how long such a session lasts after its client was last heard of";
    "requestBytes", Bytes, 1024.0, GIB, Gateway, NextStart, request_bytes, "one message of a client";
    "headBytes", Bytes, 8192.0, 16_777_216.0, Gateway, NextStart, head_bytes, "the head of a request over HTTP; what is much larger is answered with a bare 431";
    "sessionRequests", Count, 1.0, 1e6, Gateway, NextStart, session_requests, "requests of one client in flight, where it keeps a session or a link";
    "subscriptions", Count, 0.0, 1e6, Gateway, NextStart, subscriptions, "resources that one such client subscribes to";
    "introductionBytes", Bytes, 256.0, GIB, Gateway, NextStart, introduction_bytes, "what one such client says of itself";
    "replayEvents", Count, 0.0, 1e6, Gateway, NextStart, replay_events, "events of a session that are kept for a client that comes back";
    "replayBytes", Bytes, 0.0, GIB, Gateway, NextStart, replay_bytes, "these events together";
    "retry", Seconds, 0.001, DAY, Gateway, NextStart, retry, "how long a client is told to wait before it comes back";
    "keepAlive", Seconds, 0.1, DAY, Gateway, NextStart, keep_alive, "after how much silence a client is sent a sign of life, and an answer becomes a stream";
    "readTimeout", Seconds, 0.1, DAY, Gateway, NextStart, read_timeout, "how long such a message takes to come in";
    "clientConnections", Count, 1.0, 1e6, Gateway, NextStart, client_connections, "connections of clients; more wait to be accepted";
    "clientIdle", Seconds, 1.0, DAY, Gateway, NextStart, client_idle, "how long such a connection is silent, and the head of a request takes";
    "grace", Seconds, 0.0, DAY, Gateway, NextStart, grace, "how long calls in flight go on when Toolbay ends";
    "startupTimeout", Seconds, 0.001, DAY, Server, Restart, server.startup, "how long it takes to be ready, and to be listed again";
    "timeout", Seconds, 0.001, DAY, Server, Live, server.silence, "how long a call to it stays silent; progress begins it anew";
    "connect", Seconds, 0.001, DAY, Server, Restart, server.bounds.connect, "how long a connection to it over HTTP takes to be made";
    "connections", Count, 0.0, 1e5, Server, Restart, server.connections, "connections beside its first";
    "connectionIdle", Seconds, 1.0, DAY, Server, Restart, server.idle, "how long one of those is kept after it was used";
    "deviceIdle", Seconds, 1.0, DAY, Server, Live, server.devices.idle, "how long the session of a device is kept after it was used (`per-device`)";
    "devicesPerUser", Count, 1.0, 1e5, Server, Live, server.devices.per_user, "devices of one user with a session there (`per-device`)";
    "pages", Count, 1.0, 1e6, Server, Restart, server.bounds.pages, "pages of one of its lists";
    "items", Count, 1.0, 1e7, Server, Restart, server.bounds.items, "items of one of its lists";
    "listBytes", Bytes, 1024.0, GIB, Server, Restart, server.bounds.list_bytes, "one of its lists, all pages together";
    "definitionBytes", Bytes, 64.0, GIB, Server, Restart, server.bounds.definition_bytes, "the definition of one tool, prompt or resource";
    "requestsInFlight", Count, 1.0, 1e6, Server, Restart, server.bounds.in_flight, "calls in flight on one connection to it; more wait";
    "messageBytes", Bytes, 1024.0, GIB, Server, Restart, server.bounds.message_bytes, "one message of it, a line over stdio";
    "depth", Count, 8.0, 127.0, Server, Restart, server.bounds.depth, "how deep the JSON of a message nests; beside all servers also of a client's, from the next start on";
    "nodes", Count, 100.0, 4e9, Server, Restart, server.bounds.nodes, "how many values it holds; beside all servers likewise";
    "batch", Count, 1.0, 1e6, Server, Restart, server.bounds.batch, "messages in one array; beside all servers likewise";
    "questionsInFlight", Count, 0.0, 1e6, Server, Restart, server.bounds.questions, "questions of it that are open on one connection; more are refused";
    "unsentMessages", Count, 1.0, 1e6, Server, Restart, server.bounds.unsent_messages, "messages that wait on one connection because it does not read; new calls are refused";
    "unsentBytes", Bytes, 1024.0, GIB, Server, Restart, server.bounds.unsent_bytes, "these messages together";
    "rounds", Count, 1.0, 1e4, Server, Restart, server.bounds.rounds, "questions of it in one call, where it keeps no session";
    "restartPause", Seconds, 0.001, DAY, Server, Restart, server.bounds.pause, "how long it is left alone when it was lost; doubled each time";
    "longestPause", Seconds, 0.001, DAY, Server, Restart, server.bounds.longest_pause, "how long at most";
    "circuitFailures", Count, 1.0, 1e6, Server, Restart, server.bounds.circuit_failures, "how often it fails in a row before its circuit opens";
    "circuitPause", Seconds, 0.001, DAY, Server, Restart, server.bounds.circuit_pause, "how long the circuit is open; then it is tried once";
    "idleStop", Seconds, 0.0, DAY, Server, Restart, server.rest, "how long nobody needs it before it is stopped; 0 for never";
    "logLines", Count, 0.0, 1e6, Server, Restart, server.bounds.log_lines, "lines of its log and stderr that are kept, of 4,096 bytes each";
}
