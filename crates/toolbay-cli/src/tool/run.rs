//! `toolbay tool`.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolbay_gateway::{
    config::{self, Choice, Found, Surroundings, System},
    registry::Registry,
};

use super::{
    act::{Act, Refusal, perform},
    args::{Tool, ToolWhat},
    entry,
};
use crate::{
    control::{self, Question},
    exit::Exit,
    show,
};

/// Runs it.
pub(crate) async fn run(tool: Tool) -> Result<(), Exit> {
    let act = match tool.what {
        ToolWhat::Add(add) => {
            let replace = add.replace;
            Act::Add { entry: entry::typed(*add)?, replace }
        }
        ToolWhat::Remove { name } => Act::Remove { name },
        ToolWhat::Enable { name } => Act::Enable { name },
        ToolWhat::Disable { name } => Act::Disable { name },
        ToolWhat::List => Act::List,
        ToolWhat::Show { name } => Act::Show { name },
    };
    let answer = match tool.pid {
        Some(_) => {
            let mut asked = control::ask(&Question::Tool { act: act.clone() }, tool.pid).await?;
            asked.next().await?.ok_or_else(|| Exit::unreachable("it ended before it answered"))?
        }
        None => {
            let registry = Registry::at(file(tool.config, &act)?);
            let refused = |error| {
                let Refusal { code, what } = Refusal::from(error);
                Exit::refused(code, what)
            };
            perform(&registry, &act).map_err(refused)?
        }
    };
    show::line(&if tool.json { answer.to_string() } else { told(&act, &answer) });
    Ok(())
}

/// The file that holds the entries; to add one, it need not be there.
fn file(named: Option<PathBuf>, act: &Act) -> Result<PathBuf, Exit> {
    let adds = matches!(act, Act::Add { .. });
    if let Some(file) = &named
        && adds
        && !Path::exists(file)
    {
        return Ok(file.clone());
    }
    let here = std::env::current_dir().map_err(|error| Exit::config(format!("the current folder is gone: {error}")))?;
    let variable = |name: &str| std::env::var(name).ok();
    let around = Surroundings { folder: &here, system: System::here(), variable: &variable };
    let choice = named.map_or(Choice::Usual, Choice::Named);
    match config::find(&choice, &around).map_err(|error| Exit::config(error.to_string()))? {
        Found::File(file) => Ok(file),
        Found::Nothing { .. } if adds => Ok(here.join("toolbay.json")),
        Found::Nothing { looked } => {
            let looked: Vec<_> = looked.iter().map(|file| file.display().to_string()).collect();
            Err(Exit::config(format!("there is no configuration (looked for {})", looked.join(", "))))
        }
    }
}

fn told(act: &Act, answer: &Value) -> String {
    let text = |value: &Value| show::safe(value.as_str().unwrap_or("-"));
    match act {
        Act::List => {
            let tools = answer["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
            let row = |tool: &Value| {
                let about = if tool["reason"].is_string() { &tool["reason"] } else { &tool["description"] };
                [
                    text(&tool["name"]),
                    text(&tool["transport"]),
                    text(&tool["category"]),
                    text(&tool["state"]),
                    text(&tool["expires_at"]),
                    show::headline(about.as_str().unwrap_or_default(), 60),
                ]
            };
            let heading = ["TOOL", "TRANSPORT", "CATEGORY", "STATE", "EXPIRES", "DESCRIPTION"];
            show::table(heading, tools.iter().map(row).collect())
        }
        Act::Show { .. } => show::safe(&serde_json::to_string_pretty(&answer["tool"]).unwrap_or_default()),
        Act::Add { .. } | Act::Remove { .. } | Act::Enable { .. } | Act::Disable { .. } => {
            format!("{}: {}", text(&answer["tool"]), text(&answer["change"]))
        }
    }
}
