//! The values.

use std::time::Duration;

/// The limits of a gateway.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// How long a list waits for servers that are still starting.
    pub settle: Duration,
    /// How many calls may wait for callers that left with a question.
    pub parked_calls: usize,
    /// How many tasks of one user are kept that run in another revision than their caller's.
    pub tasks: usize,
    /// How many bytes of them.
    pub task_bytes: usize,
    /// How many servers may run as children, all connections together.
    pub children: usize,
    /// How long the calls in flight of a server that is taken out, or changed, may go on.
    pub drain: Duration,
    /// How many legacy sessions of clients may be open.
    pub sessions: usize,
    /// How long such a session lasts after its client was last heard of.
    pub session_idle: Duration,
    /// How large a client's message may be.
    pub request_bytes: usize,
    /// How long such a message may take to come in.
    pub read_timeout: Duration,
    /// How many connections of clients are held; more wait to be accepted.
    pub client_connections: usize,
    /// How long a client's connection may be silent.
    pub client_idle: Duration,
    /// How long calls in flight may go on when the gateway ends.
    pub grace: Duration,
    /// The limits of each server that has none of its own.
    pub server: PerServer,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            settle: Duration::from_secs(20),
            parked_calls: 256,
            tasks: 1_000,
            task_bytes: 16 << 20,
            children: 1_000,
            drain: Duration::from_secs(30),
            sessions: 10_000,
            session_idle: Duration::from_secs(30 * 60),
            request_bytes: 4 << 20,
            read_timeout: Duration::from_secs(60),
            client_connections: 16_384,
            client_idle: Duration::from_secs(120),
            grace: Duration::from_secs(5),
            server: PerServer::default(),
        }
    }
}

/// The limits of one server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerServer {
    /// How long it may take to be ready.
    pub startup: Duration,
    /// How long a call to it may stay silent.
    pub silence: Duration,
    /// How many connections it may have beside its first.
    pub connections: usize,
    /// How long one of those is kept after it was used.
    pub idle: Duration,
    /// How long nobody may need it before it is stopped; nought where it is never.
    pub rest: Duration,
    /// The sessions of devices.
    pub devices: Devices,
    /// All others.
    pub bounds: Bounds,
}

impl Default for PerServer {
    fn default() -> Self {
        Self {
            startup: Duration::from_secs(60),
            silence: Duration::from_secs(60),
            connections: 64,
            idle: Duration::from_secs(300),
            rest: Duration::ZERO,
            devices: Devices::default(),
            bounds: Bounds::default(),
        }
    }
}

/// How many sessions of devices a server may have, where each device has its own, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Devices {
    /// How long one is kept that nobody uses.
    pub idle: Duration,
    /// How many one user may have.
    pub per_user: usize,
}

impl Default for Devices {
    fn default() -> Self {
        Self { idle: Duration::from_secs(30 * 60), per_user: 16 }
    }
}

/// How much one server may say, and how it is called and brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How many pages one of its lists may have.
    pub pages: usize,
    /// How many items.
    pub items: usize,
    /// How many bytes in all.
    pub list_bytes: usize,
    /// How many bytes the definition of one item.
    pub definition_bytes: usize,
    /// How many calls may be in flight on one connection to it; more wait.
    pub in_flight: usize,
    /// How large one of its messages may be.
    pub message_bytes: usize,
    /// How often it may ask in one call.
    pub rounds: usize,
    /// How long it is left alone at first when it was lost.
    pub pause: Duration,
    /// How long at most.
    pub longest_pause: Duration,
    /// How often it may fail in a row before it is left alone for longer.
    pub circuit_failures: usize,
    /// How long it is left alone then, before it is tried once.
    pub circuit_pause: Duration,
    /// How many lines of its log and stderr are kept.
    pub log_lines: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            pages: 1_000,
            items: 20_000,
            list_bytes: 64 << 20,
            definition_bytes: 1 << 20,
            in_flight: 1_024,
            message_bytes: 64 << 20,
            rounds: 32,
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
            circuit_failures: 5,
            circuit_pause: Duration::from_secs(60),
            log_lines: 1_000,
        }
    }
}
