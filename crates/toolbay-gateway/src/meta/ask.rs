//! What the tools are asked, read from a call's arguments.

use serde::{Deserialize, de::DeserializeOwned};
use toolbay_protocol::{Raw, frame::Part, raw::Kind};
use toolbay_transport::Request;

/// How many tools are found at most, where nothing else is asked for.
const FOUND: usize = 5;
/// The most that can be asked for.
const MOST: usize = 20;

/// What is asked of `search_tools`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    pub(crate) query: String,
    limit: Option<usize>,
    pub(crate) server: Option<String>,
    schema: Option<bool>,
}

impl Search {
    /// How many tools are wanted, or what is wrong with that number.
    pub(crate) fn limit(&self) -> Result<usize, String> {
        match self.limit {
            None => Ok(FOUND),
            Some(limit @ 1..=MOST) => Ok(limit),
            Some(limit) => Err(format!("`limit` is {limit}; it goes from 1 to {MOST}")),
        }
    }

    pub(crate) fn wants_schema(&self) -> bool {
        self.schema == Some(true)
    }
}

/// What is asked of `describe_tool`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Describe {
    pub(crate) name: String,
}

/// What is asked of `search_and_acquire`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Acquire {
    pub(crate) query: String,
}

/// Reads the arguments of a call.
pub(crate) fn read<T: DeserializeOwned>(request: &Request) -> Result<T, String> {
    let arguments = request.part(Part::Arguments).unwrap_or(Raw::EMPTY);
    arguments.read().map_err(|why| format!("the arguments do not fit: {why}"))
}

/// Name and arguments of the tool that `call_tool` is to call; or what is wrong with them.
pub(crate) fn inner(request: &Request) -> Result<(Raw, Option<Raw>), String> {
    let given = request.part(Part::Arguments).unwrap_or(Raw::EMPTY);
    if let Some(stray) = given.members().find(|member| !matches!(&*member.key, "name" | "arguments")) {
        return Err(format!("`{}` is not known: give `name`, and what the tool takes in `arguments`", stray.key));
    }
    let [name, arguments] = given.find(["name", "arguments"]);
    let name = name.filter(|name| name.kind() == Kind::String);
    let name = name.ok_or("`name` is wanted: the name of a tool, as `search_tools` gave it")?;
    let arguments = arguments.filter(|arguments| *arguments != Raw::NULL);
    if let Some(arguments) = &arguments {
        if arguments.kind() != Kind::Object {
            return Err("`arguments` must be an object".into());
        }
        // As of a call by name: its server and whoever judges it see the same.
        arguments.distinct().map_err(|flaw| format!("`arguments` cannot be read: {flaw}"))?;
    }
    Ok((name, arguments))
}
