//! What the configuration says of the host, with what the command line says above it.

use std::sync::Arc;

use toolbay_agent::{
    approve::{Decision, Pattern, Policy, Rules},
    bay::Offer,
    context::{AttachRule, AttachRules},
    lend::Lender,
    model::{Model, Options, Why, connect},
    turn::{Budget, Limits, Prices},
};
use toolbay_gateway::config::{Host, Sampling, Then};

use super::{
    Chat,
    rules::{Else, Told},
};
use crate::{
    approvals,
    exit::Exit,
    target::{self, Configured},
};

const NO_MODEL: &str = "no model is configured: give --model PROVIDER:MODEL (anthropic:…, openai:…, gemini:…, ollama:…), set \
                        TOOLBAY_MODEL or write `host.model`, and put the provider's key into its variable \
                        (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY; ollama needs none). `toolbay ask` needs no model.";

/// What holds for a conversation.
pub(super) struct Hosted {
    /// The configuration, where one is meant.
    pub(super) configured: Option<Configured>,
    host: Host,
}

impl Hosted {
    /// Reads the configuration, unless one server is named instead.
    pub(super) fn read(chat: &Chat) -> Result<Self, Exit> {
        let one = chat.target.url.is_some() || !chat.target.command.is_empty();
        let configured = match one {
            true => None,
            false => Some(target::configured(chat.target.config.as_deref())?),
        };
        let host = configured.as_ref().map(|configured| configured.host.clone()).unwrap_or_default();
        Ok(Self { configured, host })
    }

    /// The model: of the command line, else of the environment, else of the configuration.
    pub(super) fn model(&self, chat: &Chat) -> Result<(String, Arc<dyn Model>), Exit> {
        let named = chat.model.clone().or_else(|| std::env::var("TOOLBAY_MODEL").ok());
        let named = named.filter(|named| !named.is_empty()).or_else(|| self.host.model.clone());
        let named = named.ok_or_else(|| Exit::config(NO_MODEL))?;
        let model = connected(&named, chat)?;
        Ok((named, model))
    }

    /// How far a turn may go, and what the conversation may take.
    pub(super) fn limits(&self, chat: &Chat) -> Result<Limits, Exit> {
        let cost = chat.max_cost.or(self.host.max_cost);
        let budget = Budget { tokens: chat.max_tokens.or(self.host.max_tokens), cost, prices: self.prices(chat) };
        if cost.is_some() && budget.prices.is_none() {
            return Err(Exit::usage("--max-cost means nothing without --prices, or `host.prices`"));
        }
        let usual = Limits::default();
        let rounds = chat.max_iterations.or(self.host.max_iterations).unwrap_or(usual.rounds);
        Ok(Limits { rounds, budget, ..usual })
    }

    /// What tokens cost.
    pub(super) fn prices(&self, chat: &Chat) -> Option<Prices> {
        let told = self.host.prices.map(|[input, output, cached]| Prices { input, output, cached });
        chat.prices.or(told)
    }

    /// Whose rules hold: those of the command line, then those of the project.
    pub(super) fn policy(&self, chat: &Chat) -> Result<Arc<dyn Policy>, Exit> {
        let file = self.configured.as_ref().and_then(|configured| configured.file.as_deref());
        let rules = Rules::new(approvals::of_project(file)?.unwrap_or_default()).trusting(&self.host.trusted);
        let rules = self.host.approve.iter().fold(rules, |rules, rule| {
            let decision = match rule.then {
                Then::Allow => Decision::Allow,
                Then::Ask => Decision::Ask,
                Then::Deny => Decision::Deny("the configuration forbids it (`host.approve`)".into()),
            };
            rules.rule(Pattern::new(&rule.server, &rule.tool), decision)
        });
        let or_else = if chat.yes { Else::Allowed } else { Else::AsRuled };
        Ok(Arc::new(Told::new(&chat.allow, &chat.deny, or_else, Arc::new(rules))?))
    }

    /// The resources that stand beside messages without being named.
    pub(super) fn attached(&self) -> AttachRules {
        let rule = |rule: &toolbay_gateway::config::Attach| AttachRule {
            server: rule.server.clone(),
            uri: rule.uri.clone(),
            words: rule.words.clone(),
        };
        AttachRules::new(self.host.attach.iter().map(rule).collect())
    }

    /// Whether servers may use the model, where somebody is there to agree.
    pub(super) fn lends(&self, somebody: bool) -> Lends {
        match self.host.sampling {
            Sampling::Allow => Lends::Unasked,
            Sampling::Ask if somebody => Lends::Asked,
            Sampling::Ask | Sampling::Off => Lends::No,
        }
    }

    /// Who lends the model, and the others that the configuration names.
    pub(super) fn lender(&self, chat: &Chat, (name, model): (&str, &Arc<dyn Model>)) -> Result<Lender, Exit> {
        let others = self.host.models.iter().filter(|other| **other != name);
        others.into_iter().try_fold(Lender::new(name, Arc::clone(model)), |lender, other| {
            Ok(lender.also(other, connected(other, chat)?))
        })
    }
}

/// Whether servers may use the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lends {
    No,
    /// Where the person agrees.
    Asked,
    /// The configuration says so.
    Unasked,
}

impl Lends {
    /// What servers are told.
    pub(super) fn offer(self) -> Offer {
        if self == Self::No { Offer::NoModel } else { Offer::ModelWithTools }
    }
}

fn connected(named: &str, chat: &Chat) -> Result<Arc<dyn Model>, Exit> {
    let options = Options { base_url: chat.base_url.clone(), unencrypted: chat.unencrypted_key, ..Options::default() };
    connect(named, options).map_err(|error| match error.why {
        Why::Key => Exit::config(error.what),
        Why::Question | Why::TooLong | Why::Provider | Why::Unreachable | Why::Reply => Exit::usage(error.what),
    })
}
