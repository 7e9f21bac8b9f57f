//! Prompts as slash commands: which is meant, and with which arguments.

use std::fmt;

use serde_json::{Map, Value};
use toolbay_gateway::catalog::Listed;

use super::{mention::nearest, words};
use crate::toolbox::{Item, Toolbox};

/// A prompt that was typed: `/server:prompt …`, or `/public-name …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Slash {
    /// The prompt.
    pub prompt: Item,
    /// What it was given.
    pub arguments: Map<String, Value>,
    /// What it needs beside, to be asked for: see [`Slash::give`].
    pub missing: Vec<Argument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// What it is; empty where the server does not say.
    pub description: String,
    /// Whether the prompt is none without it.
    pub required: bool,
}

/// Why what was typed is no prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlashError {
    /// No such prompt; the nearest, where any is like it.
    Unknown(String, Option<String>),
    /// What is wrong with the arguments, and what to do.
    Arguments(String),
}

impl fmt::Display for SlashError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name, Some(near)) => write!(to, "there is no prompt /{name}; is /{near} meant?"),
            Self::Unknown(name, None) => write!(to, "there is no prompt /{name}"),
            Self::Arguments(why) => to.write_str(why),
        }
    }
}

impl std::error::Error for SlashError {}

impl Slash {
    /// Finds the prompt that is named (without the slash), and reads what stands behind it.
    ///
    /// Arguments are `name=value` or stand in the prompt's order; a value with spaces is quoted. A prompt with one argument
    /// takes the whole tail as it is.
    pub async fn read(toolbox: &dyn Toolbox, name: &str, tail: &str) -> Result<Self, SlashError> {
        let prompts = toolbox.items(Listed::Prompts).await;
        let names: Vec<_> = prompts.iter().flat_map(|prompt| [prompt.public.clone(), by_server(prompt)]).collect();
        let found = prompts.into_iter().find(|prompt| prompt.public == name || by_server(prompt) == name);
        let Some(prompt) = found else {
            return Err(SlashError::Unknown(name.to_owned(), nearest(name, &names).map(str::to_owned)));
        };
        let takes = arguments(&prompt);
        let given = words::read(&takes, tail).map_err(SlashError::Arguments)?;
        let missing = takes.into_iter().filter(|one| one.required && !given.contains_key(&one.name)).collect();
        Ok(Self { prompt, arguments: given, missing })
    }

    /// Gives an argument that was missing.
    pub fn give(&mut self, name: &str, value: &str) {
        self.arguments.insert(name.to_owned(), Value::from(value));
        self.missing.retain(|argument| argument.name != name);
    }
}

/// The arguments of a prompt, in its order.
pub fn arguments(prompt: &Item) -> Vec<Argument> {
    let one = |argument: &Value| {
        let text = |key: &str| argument.get(key).and_then(Value::as_str);
        Some(Argument {
            name: text("name")?.to_owned(),
            description: text("description").or_else(|| text("title")).unwrap_or_default().to_owned(),
            required: argument.get("required").and_then(Value::as_bool).unwrap_or_default(),
        })
    };
    prompt.entry.get("arguments").and_then(Value::as_array).into_iter().flatten().filter_map(one).collect()
}

/// `server:prompt`; the entry has the public name, which often begins with the server's.
fn by_server(prompt: &Item) -> String {
    let own = prompt.public.strip_prefix(prompt.server.as_str()).and_then(|rest| rest.strip_prefix("__"));
    format!("{}:{}", prompt.server, own.unwrap_or(&prompt.public))
}
