//! A prompt as a slash command: what is missing is asked for, what comes back is part of the conversation.

use toolbay_agent::{
    context::{Slash, prompted},
    person::Person,
    toolbox::Toolbox,
    transcript::{Message, Part},
};

use super::{
    exact,
    line::{Desk, Typed},
};

/// What a prompt says.
pub(super) struct Begun {
    /// What stands before the person's words.
    pub(super) before: Vec<Message>,
    /// What they say by it; empty where the prompt ends with words of the model.
    pub(super) said: Vec<Part>,
}

/// Fills in a prompt; an error is for the person.
pub(super) async fn begin(
    toolbox: &dyn Toolbox,
    person: &dyn Person,
    desk: &Desk,
    name: &str,
    rest: &str,
) -> Result<Begun, String> {
    let mut slash = Slash::read(toolbox, name, rest)
        .await
        .map_err(|why| format!("{why}; /help and /prompts show what may be typed"))?;
    supply(&mut slash, desk).await?;
    let Slash { prompt, arguments, .. } = slash;
    let filled = toolbox.prompt(&prompt.public, arguments, person).await;
    let filled = filled.map_err(|failure| format!("/{} cannot be filled in: {}", prompt.public, failure.what))?;
    let mut before = prompted(&prompt.server, &prompt.public, &filled);
    match before.pop() {
        Some(Message::User(said)) => Ok(Begun { before, said }),
        Some(last) => {
            before.push(last);
            Ok(Begun { before, said: vec![] })
        }
        None => Err(format!("/{} says nothing", prompt.public)),
    }
}

async fn supply(slash: &mut Slash, desk: &Desk) -> Result<(), String> {
    if slash.missing.is_empty() {
        return Ok(());
    }
    let floor = desk.floor().await;
    while let Some(missing) = slash.missing.first().cloned() {
        if !missing.description.is_empty() {
            floor.say(&format!("  {}", exact::text(&missing.description)));
        }
        let prompt = format!("  {}: ", exact::text(&missing.name).replace('\n', " "));
        match floor.answer(&prompt, "").await {
            Typed::Line(typed) if typed.trim().is_empty() => floor.say("  it is needed (Ctrl-D leaves the prompt)"),
            Typed::Line(typed) => slash.give(&missing.name, typed.trim()),
            Typed::Interrupted | Typed::End => return Err("the prompt is left".into()),
        }
    }
    Ok(())
}
