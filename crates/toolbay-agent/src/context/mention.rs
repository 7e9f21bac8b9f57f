//! `@server:uri` in what a person types.

use toolbay_gateway::catalog::Listed;

use crate::toolbox::{Item, Toolbox};

/// A resource that a person named in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Its server.
    pub server: String,
    /// Its URI.
    pub uri: String,
}

/// The resources that a message names, each once, in order. An `@` counts after no Latin letter or digit, and only where
/// a server's name, a colon and a URI follow: a mail address is none. A URI with spaces stands in quotes or angle brackets.
pub fn mentions(message: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = vec![];
    let mut before = None;
    for (at, letter) in message.char_indices() {
        let begins = letter == '@'
            && before.is_none_or(|before: char| !before.is_ascii_alphanumeric() && !"@._-+".contains(before));
        before = Some(letter);
        if let Some(mention) = begins.then(|| mention(&message[at + 1..])).flatten()
            && !found.contains(&mention)
        {
            found.push(mention);
        }
    }
    found
}

fn mention(rest: &str) -> Option<Mention> {
    let (server, rest) = rest.split_once(':')?;
    if server.is_empty() || !server.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter)) {
        return None;
    }
    let quoted = [('"', '"'), ('<', '>')].into_iter().find_map(|(open, close)| {
        let (inside, _) = rest.strip_prefix(open)?.split_once(close)?;
        Some(inside)
    });
    let uri = quoted.unwrap_or_else(|| {
        let word = rest.split(char::is_whitespace).next().unwrap_or_default();
        word.trim_end_matches([
            '.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '，', '。', '；', '！', '？', '）',
        ])
    });
    (!uri.is_empty()).then(|| Mention { server: server.to_owned(), uri: uri.to_owned() })
}

/// What may be typed after an `@`: every resource, as `server:uri`, and every template with its gaps.
pub async fn candidates(toolbox: &dyn Toolbox) -> Vec<String> {
    let mut all = listed(toolbox, Listed::Resources, "uri").await;
    all.extend(listed(toolbox, Listed::Templates, "uriTemplate").await);
    all
}

async fn listed(toolbox: &dyn Toolbox, what: Listed, key: &str) -> Vec<String> {
    let name = |item: Item| Some(format!("{}:{}", item.server, item.entry.get(key)?.as_str()?));
    toolbox.items(what).await.into_iter().filter_map(name).collect()
}

/// The candidate that is most like what was typed, where any is like it at all.
pub(super) fn nearest<'c>(typed: &str, of: &'c [String]) -> Option<&'c str> {
    let like = |one: &&String| strsim::jaro_winkler(typed, one);
    let best = of.iter().max_by(|one, other| like(one).total_cmp(&like(other)))?;
    (like(&best) > 0.7).then_some(best.as_str())
}
