//! The thread that reads lines, and the program in which longer text is edited.

use std::{
    io::{IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use rustyline::{Behavior, ColorMode, CompletionType, Config, Editor, error::ReadlineError, history::FileHistory};
use toolbay_gateway::config::{Surroundings, System};

use super::{
    complete::{Fill, Filling, Known},
    desk::{Request, Typed, Wanted},
};
use crate::show;

/// How many lines are kept from one conversation to the next.
const KEPT: usize = 1_000;

/// Where the lines of earlier conversations are kept: a file in the user's folder of state.
pub(in crate::chat) fn history() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let variable = |name: &str| std::env::var(name).ok();
    let around = Surroundings { folder: &here, system: System::here(), variable: &variable };
    Some(around.state_folder()?.join("chat.history"))
}

pub(super) struct Reader {
    editor: Editor<Fill, FileHistory>,
    kept: Option<PathBuf>,
}

impl Reader {
    pub(super) fn new(known: Known, kept: Option<PathBuf>) -> Result<Self, ReadlineError> {
        let config = Config::builder()
            .behavior(Behavior::PreferTerm)
            .completion_type(CompletionType::List)
            .color_mode(if std::io::stdout().is_terminal() { ColorMode::Enabled } else { ColorMode::Disabled })
            .history_ignore_space(true)
            .max_history_size(KEPT)?
            .build();
        let history = FileHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history)?;
        editor.set_helper(Some(Fill { known, filling: Filling::Nothing }));
        if let Some(kept) = &kept {
            // It is made below when the first line is kept; until then there is none.
            let _ = editor.load_history(kept);
        }
        Ok(Self { editor, kept })
    }

    /// Answers requests until nobody can make any more.
    pub(super) fn serve(mut self, mut requests: tokio::sync::mpsc::Receiver<Request>) {
        while let Some(Request { prompt, wanted, reply }) = requests.blocking_recv() {
            if reply.is_closed() {
                continue;
            }
            let typed = match wanted {
                Wanted::Message => self.message(&prompt),
                Wanted::Answer { initial } => self.line(&prompt, &initial, Filling::Nothing),
                Wanted::Document { text } => match edited(&text) {
                    Some(edited) => edited,
                    None => self.line(&prompt, &text.replace('\n', " "), Filling::Nothing),
                },
            };
            if let Err(Typed::Line(_)) = reply.send(typed) {
                eprintln!("{}", show::dim("(that question is no longer open)"));
            }
        }
    }

    fn message(&mut self, prompt: &str) -> Typed {
        let typed = self.line(prompt, "", Filling::Words);
        let Typed::Line(line) = typed else { return typed };
        if !line.trim().is_empty() && self.editor.add_history_entry(&line).unwrap_or(false) {
            self.keep();
        }
        Typed::Line(line.replace("\\\n", "\n"))
    }

    fn line(&mut self, prompt: &str, initial: &str, filling: Filling) -> Typed {
        if let Some(helper) = self.editor.helper_mut() {
            helper.filling = filling;
        }
        match self.editor.readline_with_initial(prompt, (initial, "")) {
            Ok(line) => Typed::Line(line),
            Err(ReadlineError::Interrupted) => Typed::Interrupted,
            Err(_) => Typed::End,
        }
    }

    /// A history that cannot be kept is none; the conversation does not depend on it.
    fn keep(&mut self) {
        let Some(path) = &self.kept else { return };
        if path.parent().is_some_and(|folder| made(folder).is_ok()) {
            let _ = self.editor.append_history(path);
        }
    }
}

fn made(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The text as the program in `VISUAL` or `EDITOR` leaves it; none where there is no such program.
fn edited(text: &str) -> Option<Typed> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    let program = named.into_iter().find(|program| !program.trim().is_empty())?;
    match edited_in(&program, text) {
        Ok(text) => Some(Typed::Line(text)),
        Err(why) => {
            eprintln!("{program} did not edit it: {why}");
            None
        }
    }
}

fn edited_in(program: &str, text: &str) -> std::io::Result<String> {
    let mut file = tempfile::Builder::new().prefix("toolbay-").suffix(".json").tempfile()?;
    file.write_all(text.as_bytes())?;
    // Argv, never a shell: `code --wait` is a program and its argument.
    let mut words = program.split_whitespace();
    let status = Command::new(words.next().unwrap_or_default()).args(words).arg(file.path()).status()?;
    if !status.success() {
        return Err(std::io::Error::other(status.to_string()));
    }
    std::fs::read_to_string(file.path())
}
