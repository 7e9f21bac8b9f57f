//! One turn and out.

use toolbay_agent::{
    Agent,
    context::{Attacher, mentions},
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
    message: String,
    desk: Option<&Desk>,
    screen: &Screen,
    (form, prices): (Form, Option<Prices>),
) -> Result<(), Exit> {
    let attached = tokio::select! {
        attached = attached(toolbox, &message, screen) => attached?,
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

async fn attached(toolbox: &dyn Toolbox, message: &str, screen: &Screen) -> Result<Vec<Part>, Exit> {
    let attached = Attacher::default().attach(toolbox, &mentions(message)).await;
    attached.told.iter().for_each(|told| screen.note(told));
    if attached.failed.is_empty() { Ok(attached.parts) } else { Err(Exit::unknown(attached.failed.join("; "))) }
}
