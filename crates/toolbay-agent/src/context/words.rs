//! Arguments as people type them.

use serde_json::{Map, Value};

use super::slash::Argument;

/// A word as typed: its text, and how much of it stood before any quote.
struct Word {
    text: String,
    bare: usize,
}

/// Reads what was typed behind the name of a prompt that takes these.
pub(super) fn read(takes: &[Argument], tail: &str) -> Result<Map<String, Value>, String> {
    let tail = tail.trim();
    let mut given = Map::new();
    if tail.is_empty() {
        return Ok(given);
    }
    if let [only] = takes {
        given.insert(only.name.clone(), Value::from(whole(only, tail)));
        return Ok(given);
    }
    for word in split(tail)? {
        let named = word.text.split_once('=').filter(|(name, _)| name.len() < word.bare);
        let named = named.filter(|(name, _)| takes.iter().any(|takes| takes.name == *name));
        let (name, value) = match named {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => {
                let next = takes.iter().find(|takes| !given.contains_key(&takes.name));
                let next = next.ok_or_else(|| format!("{:?} is one argument too many: {}", word.text, usage(takes)))?;
                (next.name.clone(), word.text)
            }
        };
        if given.contains_key(&name) {
            return Err(format!("{name} is given twice"));
        }
        given.insert(name, Value::from(value));
    }
    Ok(given)
}

/// The tail as it is; one that is quoted as a whole, or names its argument, without that.
fn whole<'t>(only: &Argument, tail: &'t str) -> &'t str {
    let value = tail.strip_prefix(only.name.as_str()).and_then(|rest| rest.strip_prefix('=')).unwrap_or(tail);
    let unquoted = |quote: char| {
        let inside = value.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inside.contains(quote)).then_some(inside)
    };
    unquoted('"').or_else(|| unquoted('\'')).unwrap_or(value)
}

fn usage(takes: &[Argument]) -> String {
    if takes.is_empty() {
        return "the prompt takes none".into();
    }
    let names: Vec<_> = takes.iter().map(|one| one.name.as_str()).collect();
    format!("it takes {}; a value with spaces is quoted", names.join(", "))
}

/// Words as a shell has them: quotes of both kinds hold spaces, a backslash takes a quote or itself as it is.
fn split(text: &str) -> Result<Vec<Word>, String> {
    let (mut words, mut word, mut quote) = (vec![], None::<Word>, None::<char>);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if quote.is_none() && letter.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let at = word.get_or_insert(Word { text: String::new(), bare: usize::MAX });
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"') | (None, '\'') if at.text.is_empty() || at.text.ends_with('=') => {
                at.bare = at.bare.min(at.text.len());
                quote = Some(letter);
            }
            (_, '\\') if letters.peek().is_some_and(|next| ['"', '\'', '\\'].contains(next)) => {
                at.text.extend(letters.next());
            }
            _ => at.text.push(letter),
        }
    }
    if let Some(open) = quote {
        return Err(format!("a quote {open} is not closed"));
    }
    words.extend(word);
    Ok(words)
}
