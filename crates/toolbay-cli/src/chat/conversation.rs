//! A conversation: one message after the other, until the person ends it.

use std::sync::Arc;

use toolbay_agent::{
    Agent,
    approve::Policy,
    context::{AttachRules, Attacher, candidates, mentions},
    person::Person,
    toolbox::Toolbox,
    transcript::Part,
    turn::{Author, Prices},
};
use toolbay_gateway::catalog::Listed;

use super::{
    command::{self, Command},
    end,
    line::{Desk, Known, Typed},
    listed,
    slash::{self, Begun},
    turn,
};

/// What stands before what is typed.
const PROMPT: &str = "> ";

/// A conversation, and all that takes part.
pub(super) struct Conversation {
    pub(super) agent: Agent,
    pub(super) toolbox: Arc<dyn Toolbox>,
    pub(super) policy: Arc<dyn Policy>,
    pub(super) person: Arc<dyn Person>,
    pub(super) desk: Arc<Desk>,
    pub(super) known: Known,
    pub(super) attacher: Attacher,
    pub(super) rules: AttachRules,
    pub(super) prices: Option<Prices>,
}

/// Whether it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Message,
    End,
}

impl Conversation {
    /// Talks until the person has enough.
    pub(super) async fn run(mut self, model: &str) -> Self {
        self.say(&format!("{model}; /help shows what may be typed"));
        loop {
            match self.typed().await {
                Typed::End => break,
                Typed::Interrupted => self.say("(Ctrl-D or /quit ends the conversation)"),
                Typed::Line(line) if line.trim().is_empty() => {}
                Typed::Line(line) => {
                    if self.heard(&line).await == Next::End {
                        break;
                    }
                }
            }
        }
        self
    }

    fn say(&self, text: &str) {
        self.desk.screen.say(text);
    }

    /// What the person types; what can be filled in is looked up meanwhile.
    async fn typed(&self) -> Typed {
        let floor = self.desk.floor().await;
        let look = async {
            self.look().await;
            std::future::pending().await
        };
        tokio::select! {
            typed = floor.message(PROMPT) => typed,
            typed = look => typed,
        }
    }

    async fn look(&self) {
        self.toolbox.shelf().await;
        let prompts = self.toolbox.items(Listed::Prompts).await;
        let resources = candidates(&*self.toolbox).await;
        let mut slashes: Vec<_> = command::NAMES.iter().map(|name| (*name).to_owned()).collect();
        slashes.extend(prompts.into_iter().map(|prompt| prompt.public));
        self.known.are(slashes, resources);
    }

    async fn heard(&mut self, line: &str) -> Next {
        match command::read(line) {
            None => self.message(line.trim()).await,
            Some(Command::Help) => self.say(command::HELP),
            Some(Command::Tools(words)) => {
                self.settled().await;
                let told = listed::tools(&*self.toolbox, &*self.policy, words).await;
                self.say(&told);
            }
            Some(Command::Prompts(words)) => {
                self.settled().await;
                let told = listed::prompts(&*self.toolbox, words).await;
                self.say(&told);
            }
            Some(Command::Resources(words)) => {
                self.settled().await;
                let told = listed::resources(&*self.toolbox, words).await;
                self.say(&told);
            }
            Some(Command::Cost) => self.say(&listed::cost(&self.agent, self.prices.as_ref())),
            Some(Command::Trace) => self.say(&listed::trace(&self.agent)),
            Some(Command::Quit) => return Next::End,
            Some(Command::Other(name, rest)) => self.prompt(name, rest).await,
        }
        Next::Message
    }

    /// Waits until it is known of every server how it does: what is typed may be of any.
    async fn settled(&self) {
        self.desk.screen.status("the servers start");
        self.toolbox.shelf().await;
        self.desk.screen.settle();
    }

    /// A message, with the resources that it names.
    async fn message(&mut self, text: &str) {
        let named = mentions(text);
        let attach = async {
            if !named.is_empty() {
                self.toolbox.shelf().await;
            }
            let attached = self.attacher.attach(&*self.toolbox, &named).await;
            let mut due = self.rules.due(&*self.toolbox, text).await;
            due.retain(|mention| !named.contains(mention));
            (attached, self.attacher.attach(&*self.toolbox, &due).await)
        };
        let (attached, ruled) = tokio::select! {
            attached = attach => attached,
            () = turn::taken_back(Some(&self.desk)) => return self.say("taken back"),
        };
        for told in &attached.told {
            self.desk.screen.note(told);
        }
        if !attached.failed.is_empty() {
            self.say(&attached.failed.join("\n"));
            return self.say("nothing was said; the message is in the history (arrow up)");
        }
        // What nobody named holds nothing up.
        for told in ruled.told.iter().chain(&ruled.failed) {
            self.desk.screen.note(told);
        }
        let mut parts = attached.parts;
        parts.extend(ruled.parts);
        parts.push(Part::text(text));
        self.turn(parts).await;
    }

    /// A prompt of a server, as if the person had said it.
    async fn prompt(&mut self, name: &str, rest: &str) {
        let begin = async {
            self.settled().await;
            slash::begin(&*self.toolbox, &*self.person, &self.desk, name, rest).await
        };
        let begun = tokio::select! {
            begun = begin => begun,
            () = turn::taken_back(Some(&self.desk)) => return self.say("taken back"),
        };
        match begun {
            Ok(Begun { before, said }) => {
                before.into_iter().for_each(|message| self.agent.put(message));
                if said.is_empty() {
                    return self.say("the prompt is part of the conversation; what do you say?");
                }
                self.turn(said).await;
            }
            Err(why) => self.say(&why),
        }
    }

    async fn turn(&mut self, said: Vec<Part>) {
        let end = turn::follow(&mut self.agent, said, &self.desk.screen, Some(&self.desk)).await;
        if end.author == Author::Host {
            self.say(&end.text);
        } else if let Some(remark) = end::remark(&end) {
            self.desk.screen.note(remark);
        }
    }
}
