//! A caller, a bridge and a callee: three parties, two links, one clock.

use std::time::Duration;

use toolbay_protocol::{
    Revision,
    greeting::Introduction,
    peer::{Call, CallId},
};

use crate::{
    Bridge, FakeClock, Host, Pair, Service, Speaks,
    pair::{self, RESTLESS},
};

/// The three.
#[derive(Debug)]
pub struct Trio {
    /// Caller and bridge.
    pub front: Pair,
    /// Bridge and callee.
    pub back: Pair,
    /// What stands between.
    pub bridge: Bridge,
}

impl Trio {
    /// A caller of one revision and a callee of another, each able to do everything, who have met the bridge.
    pub fn open(caller: Revision, callee: Revision) -> Result<Self, String> {
        Self::with(pair::us(), caller, callee)
    }

    /// The same with a caller of your own.
    pub fn with(us: Introduction, caller: Revision, callee: Revision) -> Result<Self, String> {
        let clock = FakeClock::new();
        let mut back = Pair::strangers(clock.clone(), pair::profile("callee"), Speaks::Only(callee));
        back.meet(pair::us(), Speaks::Every)?;
        let mut front = Pair::strangers(clock, pair::profile("bridge"), Speaks::Every);
        front.meet(us, Speaks::Only(caller))?;
        let bridge = Bridge::to(&mut back);
        Ok(Self { front, back, bridge })
    }

    /// Begins a call of the caller's.
    pub fn call(&mut self, call: Call) -> CallId {
        self.front.call(call)
    }

    /// Carries and lets all sides act until nothing happens any more.
    ///
    /// # Panics
    /// If something happens for ever.
    pub fn play(&mut self, host: &mut Host, service: &mut Service) {
        for _ in 0..RESTLESS {
            let mut more = self.front.settle() | self.back.settle();
            more |= self.bridge.carry(&mut self.front, &mut self.back);
            more |= service.serve(&mut self.back.server);
            more |= host.hear(&mut self.front.client, self.front.clock.now());
            if !more {
                return;
            }
        }
        panic!("the three never come to rest");
    }

    /// Lets time pass, and everything happen that is due meanwhile.
    pub fn wait(&mut self, time: Duration, host: &mut Host, service: &mut Service) {
        let clock = self.front.clock.clone();
        let end = clock.now() + time;
        loop {
            let due = [self.front.client.timeout(), self.back.client.timeout()].into_iter().flatten().min();
            clock.reach(due.map_or(end, |due| due.min(end)));
            self.front.client.expire(clock.now());
            self.back.client.expire(clock.now());
            self.play(host, service);
            if clock.now() >= end {
                return;
            }
        }
    }

    /// Ends what is held open for its own sake, and checks that no rule was broken and nothing is left over.
    ///
    /// # Panics
    /// If anything was.
    pub fn assert_clean(&mut self, host: &mut Host, service: &mut Service) {
        self.bridge.close(&mut self.front, &mut self.back);
        self.play(host, service);
        assert_eq!(self.bridge.under_way(), 0, "{:?}", self.bridge);
        self.front.assert_clean();
        self.back.assert_clean();
    }
}
