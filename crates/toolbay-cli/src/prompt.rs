//! `toolbay prompt`.

use serde_json::{Map, Value};
use toolbay_protocol::{Method, Raw, raw::Object};

use crate::{args::Prompt, call::complete, exit::Exit, show, target};

/// Runs it.
pub(crate) async fn run(prompt: Prompt) -> Result<(), Exit> {
    let mut arguments = Map::new();
    for pair in &prompt.pairs {
        let (key, value) = pair.split_once('=').ok_or_else(|| Exit::usage(format!("{pair:?} is not key=value")))?;
        // spec: server/prompts, arguments are strings
        arguments.insert(key.to_owned(), Value::from(value));
    }
    let mut params = Object::with_capacity(128);
    params.put_text("name", &prompt.prompt);
    params.put_value("arguments", &arguments);
    let reached = target::reach((&prompt.target).into()).await?;
    let result = complete(&reached.connection, Method::PromptsGet, params.finish()).await;
    if result.as_ref().is_err_and(Exit::is_unknown) {
        reached.say_who_is_missing();
    }
    reached.close().await;
    let result = result?;
    if prompt.target.json {
        show::line(&show::json(&result));
        return Ok(());
    }
    for message in result.get("messages").iter().flat_map(Raw::elements) {
        let role = show::text(&message, "role").unwrap_or_default();
        let content = message.get("content").map(|content| show::block(&content)).unwrap_or_default();
        show::line(&format!("{}: {content}", show::safe(&role)));
    }
    Ok(())
}
