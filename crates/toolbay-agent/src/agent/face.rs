//! The agent as its users see it.

use std::{fmt, io, path::Path, sync::Arc};

use super::{cancel::Canceller, event::Event, run::Running, settings::Settings};
use crate::{
    approve::{AskAll, Policy},
    model::Model,
    person::{Nobody, Person},
    results::Store,
    shown::Shown,
    toolbox::Toolbox,
    trace::{Step, Trace},
    transcript::{Message, Part, Transcript},
    turn::{End, Spent, mend},
};

/// A model with tools, in one conversation.
///
/// Without a [`person`](Self::person) and a [`policy`](Self::policy) every call needs a yes, and nobody is there to give it.
pub struct Agent {
    pub(super) model: Arc<dyn Model>,
    pub(super) toolbox: Arc<dyn Toolbox>,
    pub(super) person: Arc<dyn Person>,
    pub(super) policy: Arc<dyn Policy>,
    pub(super) settings: Settings,
    pub(super) transcript: Transcript,
    pub(super) spent: Spent,
    pub(super) shown: Shown,
    pub(super) store: Store,
    pub(super) trace: Trace,
    pub(super) canceller: Canceller,
}

impl Agent {
    /// A model with tools, at the beginning of a conversation.
    pub fn new(model: Arc<dyn Model>, toolbox: Arc<dyn Toolbox>) -> Self {
        let settings = Settings::default();
        Self {
            shown: Shown::new(model.wire(), settings.showing.clone()),
            store: Store::new(&settings.results),
            model,
            toolbox,
            person: Arc::new(Nobody),
            policy: Arc::<AskAll>::default(),
            transcript: Transcript::default(),
            settings,
            spent: Spent::default(),
            trace: Trace::new(),
            canceller: Canceller::new(),
        }
    }

    /// The agent, working for that person.
    #[must_use]
    pub fn person(self, person: Arc<dyn Person>) -> Self {
        Self { person, ..self }
    }

    /// The agent under those rules on calls.
    #[must_use]
    pub fn policy(self, policy: Arc<dyn Policy>) -> Self {
        Self { policy, ..self }
    }

    /// The agent, working that way. To be told before anything is said.
    #[must_use]
    pub fn settings(self, settings: Settings) -> Self {
        let transcript = Transcript { system: settings.system.clone(), ..self.transcript };
        Self {
            shown: Shown::new(self.model.wire(), settings.showing.clone()),
            store: Store::new(&settings.results),
            transcript,
            settings,
            ..self
        }
    }

    /// The agent with that trace.
    #[must_use]
    pub fn trace(self, trace: Trace) -> Self {
        Self { trace, ..self }
    }

    /// The agent, adding its steps to a file as JSON Lines; each call stands there before it is made.
    pub fn trace_to(self, path: &Path) -> io::Result<Self> {
        Ok(self.trace(Trace::file(path)?))
    }

    /// Goes on from what was said elsewhere, whose system prompt stays. Calls that were not answered there are answered
    /// with that.
    #[must_use]
    pub fn resume(self, mut transcript: Transcript) -> Self {
        mend(&mut transcript);
        Self { transcript, ..self }
    }

    /// Says something, and gives how the turn ended.
    pub async fn say(&mut self, text: impl Into<String> + Send) -> End {
        self.hear(vec![Part::text(text)], &mut |_| {}).await
    }

    /// Says something in pieces, and tells what is heard on the way. Dropping the future ends the turn, as
    /// [`Canceller::cancel`] does.
    pub async fn hear(&mut self, said: Vec<Part>, events: &mut (dyn FnMut(Event<'_>) + Send)) -> End {
        self.transcript.messages.push(Message::User(said));
        Running::new(self).run(events).await
    }

    /// Puts a message into the conversation that needs no reply, such as those of a prompt before its last.
    pub fn put(&mut self, message: Message) {
        self.transcript.messages.push(message);
    }

    /// Ends turns of this agent from elsewhere.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// What was said so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// What the conversation took so far.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// What was done so far, step by step; the last 10,000.
    pub fn steps(&self) -> Vec<Arc<Step>> {
        self.trace.steps()
    }

    /// Why the last step is not in the file of the trace, where it is not: no call is made until it can be written again.
    pub fn trace_broken(&self) -> Option<String> {
        self.trace.broken()
    }

    /// The results that were too long to be shown.
    pub fn results(&self) -> &Store {
        &self.store
    }

    /// About how many tokens the definitions take that the model is shown: a quarter of their bytes.
    pub fn definition_tokens(&self) -> usize {
        self.shown.tokens()
    }

    /// Servers that could not be reached when the last question was asked, and why.
    pub fn down(&self) -> &[(String, String)] {
        &self.shown.shelf().down
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("wire", &self.model.wire()).field("spent", &self.spent).finish_non_exhaustive()
    }
}
