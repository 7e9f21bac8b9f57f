//! A client and a server, joined by wires, on a clock that is moved by hand.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use toolbay_protocol::{
    Feature, Frame, Method, Raw, Revision,
    exchange::{Note, Step},
    greeting::{
        Introduction, Meeting, Profile,
        probe::{Came, Next, Probe},
    },
    peer::{Call, CallId, Client, ClientEvent, Patience, Server, ServerEvent},
};

use crate::{End, FakeClock, Host, Narrow, Referee, Service, Wire, narrow::Through};

/// How often everybody may act before it must be over.
pub(crate) const RESTLESS: usize = 10_000;

/// What one end of a pair speaks.
#[derive(Clone, Copy, Debug)]
pub enum Speaks {
    /// Every revision.
    Every,
    /// One, and no other.
    Only(Revision),
    /// One, and it refuses what it does not know in a way of its own (servers).
    Narrowed(Narrow),
}

/// A client that can answer everything.
pub fn us() -> Introduction {
    let capabilities = json!({
        "elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}, "context": {}}, "roots": {"listChanged": true}
    });
    capable(&capabilities)
}

/// A client with these capabilities.
pub fn capable(capabilities: &serde_json::Value) -> Introduction {
    let client = Raw::of(&json!({"name": "caller", "version": "1"}));
    let anonymous = Introduction::anonymous(Revision::LATEST);
    Introduction { client: Some(client), capabilities: Raw::of(capabilities), ..anonymous }
}

/// A server that has everything.
pub fn profile(name: &str) -> Arc<Profile> {
    let capabilities = json!({
        "tools": {"listChanged": true}, "prompts": {"listChanged": true}, "completions": {}, "logging": {},
        "resources": {"subscribe": true, "listChanged": true}
    });
    let server = Raw::of(&json!({"name": name, "version": "1"}));
    Arc::new(Profile { server, capabilities: Raw::of(&capabilities), instructions: Some("be kind".into()) })
}

/// Two peers and what lies between.
#[derive(Debug)]
pub struct Pair {
    /// The time at both ends.
    pub clock: FakeClock,
    /// The client's end.
    pub client: Client,
    /// The server's end.
    pub server: Server,
    /// From client to server.
    pub up: Wire,
    /// From server to client.
    pub down: Wire,
    narrow: Option<Narrow>,
    at_client: Referee,
    at_server: Referee,
    meeting: Option<Meeting>,
    begun: u64,
}

impl Pair {
    /// Two peers that have not met.
    pub fn strangers(clock: FakeClock, server: Arc<Profile>, speaks: Speaks) -> Self {
        let narrow = match speaks {
            Speaks::Every => None,
            Speaks::Only(revision) => Some(Narrow::to(revision)),
            Speaks::Narrowed(narrow) => Some(narrow),
        };
        Self {
            clock,
            client: Client::new(Arc::new(us())),
            server: Server::new(server),
            up: Wire::default(),
            down: Wire::default(),
            narrow,
            at_client: Referee::new(End::Client, Revision::LATEST),
            at_server: Referee::new(End::Server, Revision::LATEST),
            meeting: None,
            begun: 0,
        }
    }

    /// Two peers that have met, each able to do everything.
    pub fn open(client: Speaks, server: Speaks) -> Result<Self, String> {
        let mut pair = Self::strangers(FakeClock::new(), profile("callee"), server);
        pair.meet(us(), client)?;
        Ok(pair)
    }

    /// Has the client find out what the server speaks, and open it.
    pub fn meet(&mut self, us: Introduction, client: Speaks) -> Result<Meeting, String> {
        let mut probe = match client {
            Speaks::Only(revision) => Probe::pinned(us, revision),
            Speaks::Every | Speaks::Narrowed(_) => Probe::new(us),
        };
        let mut next = probe.next();
        loop {
            match next {
                Next::Send(us, method, params) => {
                    self.introduce(us);
                    let came = self.ask(method, params);
                    next = probe.came(came);
                }
                Next::Met(meeting) => {
                    self.introduce(Arc::new(probe.client().in_revision(meeting.revision)));
                    if meeting.revision.has(Feature::Handshake) {
                        self.client.tell(Note { method: Method::Initialized, params: None });
                        self.settle();
                    }
                    self.meeting = Some(meeting.clone());
                    // The opening was of the pair, not of who tests it.
                    while self.server.event().is_some() || self.client.event().is_some() {}
                    return Ok(meeting);
                }
                Next::Restart | Next::TwoEndpoints => return Err("memory has no processes and no endpoints".into()),
                Next::Failed(why) => return Err(why),
            }
        }
    }

    fn introduce(&mut self, us: Arc<Introduction>) {
        self.at_client.now_speaks(us.revision);
        self.client.introduce(us);
    }

    fn ask(&mut self, method: Method, params: Raw) -> Came {
        let patience = Patience { silence: Duration::from_secs(10), total: None };
        let call = self.call(Call { patience, ..Call::new(method, Some(params)) });
        self.settle();
        loop {
            match self.client.event() {
                Some(ClientEvent::Step(of, Step::Done(outcome))) if of == call => return Came::Answer(outcome),
                Some(ClientEvent::Overdue(of)) if of == call => return Came::Silence,
                Some(_) => {}
                None => match self.client.timeout() {
                    Some(due) => self.wait_until(due),
                    None => return Came::End,
                },
            }
        }
    }

    /// What they met with.
    ///
    /// # Panics
    /// If they have not met.
    pub fn meeting(&self) -> &Meeting {
        self.meeting.as_ref().expect("the two have met")
    }

    /// The revision between them.
    pub fn revision(&self) -> Revision {
        self.meeting().revision
    }

    /// Begins a call.
    pub fn call(&mut self, call: Call) -> CallId {
        self.begun += 1;
        let key = CallId(self.begun);
        self.client.call(key, call, self.clock.now());
        key
    }

    /// Carries what is to be sent until nothing is under way; whether anything was.
    pub fn settle(&mut self) -> bool {
        let moved = self.step();
        while self.step() {}
        moved
    }

    /// Puts what is to be sent on the wires, and takes one line off each; whether anything moved.
    pub fn step(&mut self) -> bool {
        let mut moved = false;
        while let Some(frame) = self.client.transmit() {
            self.at_client.sent(&frame);
            self.up.send(&frame);
            moved = true;
        }
        while let Some(frame) = self.server.transmit() {
            self.at_server.sent(&frame);
            self.down.send(&frame);
            moved = true;
        }
        if let Some(came) = self.up.take() {
            self.serve(came);
            moved = true;
        }
        if let Some(came) = self.down.take() {
            for frame in came {
                self.at_client.got(&frame);
                self.client.receive(frame, self.clock.now());
            }
            moved = true;
        }
        moved
    }

    fn serve(&mut self, came: Vec<Result<Frame, toolbay_protocol::frame::Rejected>>) {
        for frame in came {
            self.at_server.got(&frame);
            match self.narrow.map_or_else(|| Through::Pass(frame.clone()), |narrow| narrow.judge(frame.clone())) {
                Through::Pass(frame) => self.server.receive(frame),
                // What was narrowed away is no word of the server that is watched.
                Through::Answer(frame) => self.down.send(&frame),
                Through::Nothing => {}
            }
        }
    }

    /// Carries and lets both sides act until nothing happens any more.
    ///
    /// # Panics
    /// If something happens for ever.
    pub fn play(&mut self, host: &mut Host, service: &mut Service) {
        for _ in 0..RESTLESS {
            let mut more = self.settle();
            more |= service.serve(&mut self.server);
            more |= host.hear(&mut self.client, self.clock.now());
            if !more {
                return;
            }
        }
        panic!("the two never come to rest");
    }

    /// Lets time pass, to no purpose but to let calls grow old.
    pub fn wait(&mut self, time: Duration) {
        let then = self.clock.now() + time;
        self.wait_until(then);
    }

    fn wait_until(&mut self, then: std::time::Instant) {
        self.clock.reach(then);
        self.client.expire(self.clock.now());
        self.settle();
    }

    /// What happened at the server since the last time.
    pub fn server_events(&mut self) -> Vec<ServerEvent> {
        std::iter::from_fn(|| self.server.event()).collect()
    }

    /// What happened at the client since the last time.
    pub fn client_events(&mut self) -> Vec<ClientEvent> {
        std::iter::from_fn(|| self.client.event()).collect()
    }

    /// Every breach of a rule at either end.
    pub fn breaches(&self) -> Vec<String> {
        [self.at_client.breaches(), self.at_server.breaches()].concat()
    }

    /// That no rule was broken and nothing is left over.
    ///
    /// # Panics
    /// If anything was.
    pub fn assert_clean(&self) {
        assert!(
            self.breaches().is_empty(),
            "{:#?}\nup: {:#?}\ndown: {:#?}",
            self.breaches(),
            self.up.log(),
            self.down.log()
        );
        assert!(self.client.is_idle(), "the client keeps {:?}", self.client);
        assert!(self.server.is_idle(), "the server keeps {:?}", self.server);
    }
}
