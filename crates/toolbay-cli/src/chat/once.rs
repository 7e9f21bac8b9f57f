//! One turn and out.

use toolbay_agent::{
    Agent,
    context::{AttachRules, Attacher, mentions},
    toolbox::Toolbox,
    transcript::Part,
    turn::{Author, Prices},
};

use super::{
    end,
    line::Desk,
    screen::{Screen, Words},
    turn,
};
use crate::{exit::Exit, show};

/// What is written to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The answer.
    Answer(Words),
    /// The answer, the steps and what it took, as one JSON object.
    Json,
}

/// Says something, and tells what came of it.
pub(super) async fn run(
    mut agent: Agent,
    toolbox: &dyn Toolbox,
    (message, rules): (String, AttachRules),
    desk: Option<&Desk>,
    screen: &Screen,
    (form, prices): (Form, Option<Prices>),
) -> Result<(), Exit> {
    let attached = tokio::select! {
        attached = attached(toolbox, &message, rules, screen) => attached?,
        () = turn::taken_back(desk) => return Err(Exit::interrupted()),
    };
    let said = attached.into_iter().chain([Part::text(message)]).collect();
    let end = turn::follow(&mut agent, said, screen, desk).await;
    if let Some(remark) = end::remark(&end) {
        screen.note(remark);
    }
    match form {
        Form::Json => show::line(&end::as_json(&end, &agent, prices.as_ref()).to_string()),
        Form::Answer(Words::Withheld) if end.author == Author::Model => show::line(&show::safe(end.text.trim_end())),
        Form::Answer(Words::Withheld | Words::Streamed) => {}
    }
    end::exit(&end)
}

async fn attached(
    toolbox: &dyn Toolbox,
    message: &str,
    mut rules: AttachRules,
    screen: &Screen,
) -> Result<Vec<Part>, Exit> {
    let (named, mut attacher) = (mentions(message), Attacher::default());
    let attached = attacher.attach(toolbox, &named).await;
    attached.told.iter().for_each(|told| screen.note(told));
    if !attached.failed.is_empty() {
        return Err(Exit::unknown(attached.failed.join("; ")));
    }
    let mut due = rules.due(toolbox, message).await;
    due.retain(|mention| !named.contains(mention));
    let ruled = attacher.attach(toolbox, &due).await;
    // What nobody named holds nothing up.
    ruled.told.iter().chain(&ruled.failed).for_each(|told| screen.note(told));
    Ok(attached.parts.into_iter().chain(ruled.parts).collect())
}
