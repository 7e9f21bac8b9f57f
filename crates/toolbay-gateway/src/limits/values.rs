//! The values.

use std::time::Duration;

use toolbay_protocol::{peer::Allowance, scan};
use toolbay_transport::{connect, http::server};

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
    /// How large the head of a request over HTTP may be.
    pub head_bytes: usize,
    /// How many requests one client may have in flight in its session.
    pub session_requests: usize,
    /// How many resources it may subscribe to.
    pub subscriptions: usize,
    /// How many bytes it may say of itself.
    pub introduction_bytes: usize,
    /// How much is kept of a session's streams for a client that comes back: events.
    pub replay_events: usize,
    /// And bytes.
    pub replay_bytes: usize,
    /// How long a client is told to wait before it comes back.
    pub retry: Duration,
    /// After how much silence a client is sent a sign of life.
    pub keep_alive: Duration,
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
            head_bytes: 16 << 10,
            session_requests: 1_024,
            subscriptions: 1_000,
            introduction_bytes: 64 << 10,
            replay_events: 256,
            replay_bytes: 1 << 20,
            retry: Duration::from_secs(1),
            keep_alive: Duration::from_secs(15),
            read_timeout: Duration::from_secs(60),
            client_connections: 16_384,
            client_idle: Duration::from_secs(120),
            grace: Duration::from_secs(5),
            server: PerServer::default(),
        }
    }
}

impl Limits {
    /// What one client may have going at once.
    pub fn allowance(&self) -> Allowance {
        let Self { session_requests: requests, subscriptions, introduction_bytes, .. } = *self;
        Allowance { requests, subscriptions, introduction_bytes }
    }

    /// How an endpoint keeps to them, where they are its matter.
    pub fn endpoint(&self) -> server::Options {
        server::Options {
            request_bytes: self.request_bytes,
            json: self.server.bounds.json(),
            head_bytes: self.head_bytes,
            read_timeout: self.read_timeout,
            sessions: self.sessions,
            session_idle: self.session_idle,
            allowance: self.allowance(),
            replay: server::Replay { events: self.replay_events, bytes: self.replay_bytes },
            retry: self.retry,
            keep_alive: self.keep_alive,
            grace: self.grace,
            connections: self.client_connections,
            connection_idle: self.client_idle,
            ..server::Options::default()
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
    /// How long a connection to it over HTTP may take to be made.
    pub connect: Duration,
    /// How deep its JSON may nest.
    pub depth: usize,
    /// How many values it may hold.
    pub nodes: usize,
    /// How many messages may come in one array.
    pub batch: usize,
    /// How many questions of it may be open on one connection.
    pub questions: usize,
    /// How many messages may wait to be sent on one connection to it.
    pub unsent_messages: usize,
    /// How many bytes.
    pub unsent_bytes: usize,
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
            connect: Duration::from_secs(10),
            depth: 100,
            nodes: 2_000_000,
            batch: 1_000,
            questions: 64,
            unsent_messages: 4_096,
            unsent_bytes: 64 << 20,
            rounds: 32,
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
            circuit_failures: 5,
            circuit_pause: Duration::from_secs(60),
            log_lines: 1_000,
        }
    }
}

impl Bounds {
    /// How deep and wide a message may be; its ranges are those of the table.
    pub fn json(&self) -> scan::Limits {
        scan::Limits {
            depth: u8::try_from(self.depth).unwrap_or(scan::Limits::DEFAULT.depth),
            nodes: u32::try_from(self.nodes).unwrap_or(u32::MAX),
            batch: u32::try_from(self.batch).unwrap_or(u32::MAX),
        }
    }

    /// How a connection keeps to them.
    pub(crate) fn connection(&self) -> connect::Limits {
        connect::Limits {
            message_bytes: self.message_bytes,
            requests_in_flight: self.in_flight,
            questions_in_flight: self.questions,
            unsent_messages: self.unsent_messages,
            unsent_bytes: self.unsent_bytes,
            json: self.json(),
            connect: self.connect,
        }
    }
}
