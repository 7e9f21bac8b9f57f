//! The requests of a session that are in flight, and the questions that were asked on their behalf.

use futures_util::future::{AbortHandle, AbortRegistration};
use tokio::sync::oneshot;
use toolbay_protocol::{
    Fault, Frame, Id,
    exchange::{Answers, Asks, Incoming, Note, Outcome, Round},
    peer::{Allowance, Presence},
};

/// The requests in flight.
#[derive(Debug, Default)]
pub(super) struct Calls {
    allowance: Allowance,
    begun: u64,
    minted: i64,
    calls: Vec<Call>,
}

/// Whether a client hears what is said before the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hearing {
    /// It does.
    Listens,
    /// It takes no streams, or is gone.
    Deaf,
}

/// Whether somebody reads a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attendance {
    /// Somebody does.
    Read,
    /// The client hung up; it may come back.
    Unread,
}

#[derive(Debug)]
struct Call {
    key: u64,
    exchange: Incoming,
    abort: AbortHandle,
    hearing: Hearing,
    /// Whether somebody is connected to what is said about it.
    presence: Presence,
    /// The stream on which that is, once there is one.
    stream: Option<u64>,
    waiting: Vec<(Round, oneshot::Sender<Answers>)>,
}

impl Calls {
    /// None yet.
    pub(super) fn within(allowance: Allowance) -> Self {
        Self { allowance, ..Self::default() }
    }

    /// Whether a request of this id is in flight.
    pub(super) fn check(&self, id: &Id) -> Result<(), Fault> {
        if self.calls.iter().any(|call| call.exchange.id() == id) {
            return Err(Fault::order(format!("request id {id} is still in flight")));
        }
        self.allowance.one_more(self.calls.len())
    }

    /// Takes a request in.
    pub(super) fn begin(
        &mut self,
        exchange: Incoming,
        hearing: Hearing,
    ) -> Result<(u64, AbortRegistration, Presence), Fault> {
        self.check(exchange.id())?;
        let (abort, registration) = AbortHandle::new_pair();
        self.begun += 1;
        let presence = Presence::new();
        if hearing == Hearing::Deaf {
            presence.leave();
        }
        let (key, behind) = (self.begun, presence.clone());
        self.calls.push(Call { key, exchange, abort, hearing, presence, stream: None, waiting: vec![] });
        Ok((key, registration, behind))
    }

    fn call(&mut self, key: u64) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.key == key)
    }

    /// Goes on with a call for nobody to hear.
    pub(super) fn deafen(&mut self, key: u64) {
        if let Some(call) = self.call(key) {
            call.hearing = Hearing::Deaf;
            call.presence.leave();
        }
    }

    /// What is said about these calls is said on a stream from here on.
    pub(super) fn stream(&mut self, keys: &[u64], stream: u64) {
        for call in self.calls.iter_mut().filter(|call| keys.contains(&call.key)) {
            call.stream = Some(stream);
        }
    }

    /// Whether somebody reads a stream has changed.
    pub(super) fn attend(&mut self, stream: u64, read: Attendance) {
        for call in self.calls.iter().filter(|call| call.stream == Some(stream)) {
            match read {
                Attendance::Read => call.presence.come_back(),
                Attendance::Unread => call.presence.leave(),
            }
        }
    }

    /// Whether somebody hears what is said about a call.
    pub(super) fn hears(&self, key: u64) -> bool {
        self.calls.iter().any(|call| call.key == key && call.hearing == Hearing::Listens)
    }

    /// The frame for a note about a call, where its caller may be sent it.
    pub(super) fn note(&mut self, key: u64, note: Note) -> Option<Frame> {
        self.call(key).filter(|call| call.hearing == Hearing::Listens)?.exchange.note(note)
    }

    /// The frames that ask the caller of a call; the answers go to `answers`.
    pub(super) fn ask(&mut self, key: u64, asks: &Asks, answers: oneshot::Sender<Answers>) -> Vec<Frame> {
        let Some(call) = self.calls.iter_mut().find(|call| call.key == key) else { return vec![] };
        let minted = &mut self.minted;
        let (round, frames) = call.exchange.ask(asks, None, || {
            *minted += 1;
            Id::Number(*minted)
        });
        match call.exchange.settle(round) {
            // Nothing that this caller can be asked. Its service may have stopped waiting.
            Some(refused) => drop(answers.send(refused)),
            None => call.waiting.push((round, answers)),
        }
        frames
    }

    /// The frames that take back what a call asked and does not wait for any more.
    pub(super) fn withdraw(&mut self, key: u64) -> Vec<Frame> {
        let Some(call) = self.call(key) else { return vec![] };
        let withdrawn: Vec<_> = call.waiting.extract_if(.., |(_, answers)| answers.is_closed()).collect();
        withdrawn.into_iter().flat_map(|(round, _)| call.exchange.withdraw(round)).collect()
    }

    /// Takes an answer to one of our questions; one that nobody asked, or waits for, is dropped.
    pub(super) fn answer(&mut self, id: &Id, outcome: Outcome) {
        let asking = self.calls.iter_mut().find(|call| call.exchange.asked().any(|asked| asked == id));
        let Some(call) = asking else { return };
        if let Some((round, answers)) = call.exchange.receive(id, outcome)
            && let Some(place) = call.waiting.iter().position(|(waiting, _)| *waiting == round)
        {
            // Its service may have stopped waiting.
            let _ = call.waiting.swap_remove(place).1.send(answers);
        }
    }

    /// Ends a call; the frame that says so, unless it was taken back meanwhile.
    pub(super) fn done(&mut self, key: u64, outcome: Outcome) -> Option<Frame> {
        let place = self.calls.iter().position(|call| call.key == key)?;
        Some(self.calls.swap_remove(place).exchange.done(outcome))
    }

    /// Takes back the call that came under `id`. spec: basic/utilities/cancellation, unknown ones are let by
    pub(super) fn cancel(&mut self, id: &Id) {
        if let Some(place) = self.calls.iter().position(|call| call.exchange.id() == id) {
            self.calls.swap_remove(place).abort.abort();
        }
    }

    /// Forgets a call that nobody serves any more.
    pub(super) fn forget(&mut self, key: u64) {
        self.calls.retain(|call| call.key != key);
    }

    /// Takes back all of them.
    pub(super) fn end(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            call.abort.abort();
        }
    }
}
