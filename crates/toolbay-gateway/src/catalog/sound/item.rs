//! One item, from its size to its schema.

use memchr::memmem;
use serde::de::DeserializeOwned;
use toolbay_protocol::{
    Raw,
    frame::CUT,
    raw::Kind,
    scan,
    types::{Prompt, Resource, ResourceTemplate, Tool},
};

use super::{schema, text};
use crate::{catalog::Listed, limits::Bounds};

/// What came of an item.
#[derive(Debug, PartialEq)]
pub(crate) enum Judged {
    /// It passes as it was written.
    Sound(Raw),
    /// It passes, and there is something to tell.
    Mended(Raw, String),
    /// It does not.
    Unfit(String),
}

/// Names longer than this are told of. spec: 2025-11-25 server/tools, tool names
const LONGEST_NAME: usize = 128;

/// Judges an item of a list whose name is known, within the bounds of its server.
pub(crate) fn judge(listed: Listed, name: &str, item: Raw, bounds: &Bounds) -> Judged {
    match checked(listed, name, item, bounds) {
        Ok((item, remarks)) if remarks.is_empty() => Judged::Sound(item),
        Ok((item, remarks)) => Judged::Mended(item, remarks.join("; ")),
        Err(why) => Judged::Unfit(why),
    }
}

type Checked = (Raw, Vec<&'static str>);

fn checked(listed: Listed, name: &str, item: Raw, bounds: &Bounds) -> Result<Checked, String> {
    let (size, most, limits) = (item.as_bytes().len(), bounds.definition_bytes, bounds.json());
    if size > most {
        return Err(format!("its definition has {size} bytes, more than {most} (limit `definitionBytes`)"));
    }
    if memmem::find(item.as_bytes(), CUT.as_bytes()).is_some() {
        return Err(scan::Flaw::TooDeep(limits.depth).to_string());
    }
    scan::check(item.as_bytes(), limits).map_err(|flaw| flaw.to_string())?;
    if item.distinct().is_err() {
        return Err("it has a key twice".into());
    }
    let mut remarks = vec![];
    let item = match text::mended(item.as_bytes()) {
        Some(_) if text::mended(name.as_bytes()).is_some() => {
            return Err("its name holds half a character (a lone surrogate)".into());
        }
        Some(whole) => {
            remarks.push("half characters in it (lone surrogates) were replaced");
            Raw::parse(whole.into(), limits).map_err(|flaw| flaw.to_string())?
        }
        None => item,
    };
    let named = matches!(listed, Listed::Tools | Listed::Prompts);
    if named && name.chars().count() > LONGEST_NAME {
        remarks.push("its name has more than 128 characters and is shown shorter");
    }
    let item = if listed == Listed::Tools { tool(item, &mut remarks)? } else { item };
    reads(listed, &item)?;
    Ok((item, remarks))
}

fn tool(item: Raw, remarks: &mut Vec<&'static str>) -> Result<Raw, String> {
    let [input, output] = item.find(["inputSchema", "outputSchema"]);
    let input = input.filter(|schema| *schema != Raw::NULL).ok_or("it has no input schema")?;
    if input.kind() != Kind::Object {
        return Err("its input schema is no object".into());
    }
    let output = output.filter(|schema| *schema != Raw::NULL);
    for (schema, what) in [(Some(&input), "input"), (output.as_ref(), "output")] {
        if let Some(flaw) = schema.and_then(schema::flaw) {
            return Err(format!("its {what} schema {flaw}"));
        }
    }
    match input.get("type") {
        Some(kind) if kind.as_text().as_deref() == Some("object") => Ok(item),
        Some(kind) => Err(format!("its input schema is of type {}, not \"object\"", shown(kind.as_str()))),
        None => {
            // Clients that want it refuse the whole list for it.
            remarks.push("its input schema has no type and is taken for an object's");
            let input = input.with(&[("type", Some(&Raw::of("object")))]);
            Ok(item.with(&[("inputSchema", Some(&input))]))
        }
    }
}

fn reads(listed: Listed, item: &Raw) -> Result<(), String> {
    fn is<T: DeserializeOwned>(item: &Raw) -> Result<(), String> {
        item.read::<T>().map(drop).map_err(|error| format!("it cannot be read: {error}"))
    }
    match listed {
        Listed::Tools => is::<Tool>(item),
        Listed::Prompts => is::<Prompt>(item),
        Listed::Resources => is::<Resource>(item),
        Listed::Templates => is::<ResourceTemplate>(item),
    }
}

/// A name as it is shown in a report: quoted, and not too long.
pub(crate) fn shown(name: &str) -> String {
    const SHOWN: usize = 64;
    let count = name.chars().count();
    if count <= SHOWN {
        return format!("{name:?}");
    }
    let head: String = name.chars().take(SHOWN).collect();
    format!("{head:?}… ({count} characters)")
}
