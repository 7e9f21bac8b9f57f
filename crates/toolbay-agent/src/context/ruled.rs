//! Resources that a rule puts beside messages, without anybody naming them.

use toolbay_gateway::catalog::Listed;

use super::mention::Mention;
use crate::{approve::fits, toolbox::Toolbox};

/// Which resources stand beside which messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachRule {
    /// The server; `*` is anything.
    pub server: String,
    /// The URI; `*` is anything.
    pub uri: String,
    /// Words of a message that call for it, whatever their letters' case; with none, it stands beside the first.
    pub words: Vec<String>,
}

/// The rules of a conversation.
#[derive(Clone, Debug, Default)]
pub struct AttachRules {
    rules: Vec<AttachRule>,
    begun: bool,
}

impl AttachRules {
    /// Those rules, at the beginning of a conversation.
    pub fn new(rules: Vec<AttachRule>) -> Self {
        Self { rules, begun: false }
    }

    /// The resources that are to stand beside a message, each once, in the order of the rules.
    pub async fn due(&mut self, toolbox: &dyn Toolbox, message: &str) -> Vec<Mention> {
        let first = !std::mem::replace(&mut self.begun, true);
        let message = message.to_lowercase();
        let calls = |rule: &&AttachRule| match rule.words.is_empty() {
            true => first,
            false => rule.words.iter().any(|word| message.contains(&word.to_lowercase())),
        };
        let due: Vec<_> = self.rules.iter().filter(calls).collect();
        if due.is_empty() {
            return vec![];
        }
        let listed = toolbox.items(Listed::Resources).await;
        let mut found: Vec<Mention> = vec![];
        for rule in due {
            let meant = |server: &str, uri: &str| fits(&rule.server, server) && fits(&rule.uri, uri);
            let fitting = listed.iter().filter(|item| meant(&item.server, &item.public));
            let mut named: Vec<_> =
                fitting.map(|item| Mention { server: item.server.clone(), uri: item.public.clone() }).collect();
            // What fits a template need not be listed.
            if named.is_empty() && !rule.server.contains('*') && !rule.uri.contains('*') {
                named.push(Mention { server: rule.server.clone(), uri: rule.uri.clone() });
            }
            named.retain(|mention| !found.contains(mention));
            found.extend(named);
        }
        found
    }
}
