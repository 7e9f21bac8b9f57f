//! An entry as it is typed on the command line.

use std::{collections::BTreeMap, io::Read as _, time::SystemTime};

use serde_json::Value;
use toolbay_gateway::registry::{Call, Entry, Transport};

use super::args::ToolAdd;
use crate::exit::Exit;

/// How much is read from standard input.
const MOST: u64 = 1 << 20;

/// The entry that is meant.
pub(super) fn typed(add: ToolAdd) -> Result<Value, Exit> {
    if let Some(whole) = add.entry {
        return object(&if whole == "-" { stdin()? } else { whole }, "the entry");
    }
    let name = add.name.unwrap_or_default();
    let transport = add.transport.as_deref().map(|word| find(&Transport::WORDS, word, "transport")).transpose()?;
    let mut command = add.command.into_iter();
    let base = match (command.next(), add.url) {
        (Some(program), _) => Entry::program(name, program, command.collect()),
        (None, Some(url)) => Entry::at(name, transport.unwrap_or(Transport::Http), url),
        (None, None) => return Err(Exit::usage("say where it is: --url URL, or -- COMMAND ARGS")),
    };
    let expires = add.expires.map(|text| text.parse().map_err(|error| Exit::usage(format!("--expires: {error}"))));
    let entry = Entry {
        transport: transport.unwrap_or(base.transport),
        description: add.description,
        category: add.category,
        env: pairs(&add.env)?,
        headers: pairs(&add.header)?,
        timeout: add.timeout,
        expires_at: expires.transpose()?,
        input_schema: add.schema.map(|text| object(&text, "--schema")).transpose()?,
        body: add.body.as_deref().map(|word| find(&Call::WORDS, word, "body")).transpose()?,
        enabled: !add.disabled,
        ..base
    };
    let entry = match add.ttl {
        Some(ttl) => entry.until(SystemTime::now() + ttl),
        None => entry,
    };
    Ok(entry.to_value())
}

fn stdin() -> Result<String, Exit> {
    let mut text = String::new();
    let read = std::io::stdin().take(MOST).read_to_string(&mut text);
    read.map_err(|error| Exit::usage(format!("standard input cannot be read: {error}")))?;
    Ok(text)
}

fn object(text: &str, what: &str) -> Result<Value, Exit> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(Exit::usage(format!("{what} is not a JSON object"))),
        Err(error) => Err(Exit::usage(format!("{what} is not JSON: {error}"))),
    }
}

fn find<T: Copy>(words: &[(&'static str, T)], word: &str, what: &str) -> Result<T, Exit> {
    let all = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let found = words.iter().find(|(known, _)| *known == word);
    found.map(|(_, value)| *value).ok_or_else(|| Exit::usage(format!("--{what} {word:?} is none of {}", all())))
}

fn pairs(typed: &[String]) -> Result<BTreeMap<String, String>, Exit> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err(Exit::usage(format!("{text:?} is not NAME=VALUE"))),
    };
    typed.iter().map(pair).collect()
}
