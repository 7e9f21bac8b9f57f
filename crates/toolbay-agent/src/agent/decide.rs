//! Whether a call may be made: the rules first, then the person.

use std::sync::Arc;

use tokio::time::timeout;

use super::run::{Events, Running};
use crate::{
    approve::{Decision, effect},
    person::{Approval, Verdict},
    toolbox::Tool,
    trace::{Cut, What},
    turn::{Call, Decided, Target},
};

/// How often a person may edit arguments that do not fit.
const EDITS: usize = 3;

impl Running<'_> {
    pub(super) async fn decide(&mut self, call: Call, events: &mut Events<'_>) {
        let Target::Tool(tool) = &call.target else {
            // The host's own tools need no decision, and the turn asks for none.
            return self.turn.decided(call.place, Decided::Allowed);
        };
        let (decided, by) = match self.agent.policy.decide(tool, &call.arguments) {
            Decision::Allow => (Decided::Allowed, "rule"),
            Decision::Deny(reason) => (Decided::Denied(format!("a rule forbids it: {reason}")), "rule"),
            Decision::Ask => (self.asked(tool, &call).await, "person"),
        };
        let (decision, note) = match &decided {
            Decided::Allowed => ("allowed", None),
            Decided::Edited(arguments) => ("edited", Some(Cut::of_object(arguments))),
            Decided::Denied(reason) => ("denied", Some(Cut::of(reason))),
        };
        self.note(What::Decided { id: call.id.clone(), tool: tool.id.clone(), decision, by, note }, events);
        self.turn.decided(call.place, decided);
    }

    async fn asked(&self, tool: &Arc<Tool>, call: &Call) -> Decided {
        let agent = &*self.agent;
        let trust = agent.policy.trust(&tool.id.server);
        let remark = agent.policy.remark(tool).map(|remark| format!(" {remark}")).unwrap_or_default();
        let does = format!("{}{remark}", effect(tool, trust));
        let mut will = does.clone();
        let mut arguments = call.arguments.clone();
        for _ in 0..EDITS {
            let approval = Approval { tool, arguments: &arguments, effect: will.clone() };
            let Ok(verdict) = timeout(agent.settings.patience, agent.person.approve(approval)).await else {
                return Decided::Denied("nobody decided on it in time".into());
            };
            let edited = match verdict {
                Verdict::Once => return Decided::Allowed,
                Verdict::Always => {
                    if let Err(why) = agent.policy.remember(tool, Decision::Allow) {
                        agent.person.told(&tool.id, &why);
                    }
                    return Decided::Allowed;
                }
                Verdict::No(Some(reason)) => return Decided::Denied(format!("the person said no: {reason}")),
                Verdict::No(None) => return Decided::Denied("the person said no".into()),
                Verdict::Edited(edited) => edited,
            };
            match agent.shown.refit(tool, edited.clone()) {
                Ok(edited) => return Decided::Edited(edited),
                Err(flaw) => {
                    will = format!("What you wrote does not fit: {flaw}. {does}");
                    arguments = edited;
                }
            }
        }
        Decided::Denied("what the person wrote instead does not fit its schema".into())
    }
}
