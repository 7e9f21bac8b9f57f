//! What is written while a turn runs: the words of the model as they come, a line for what is done, and what goes on just now
//! on a line that comes and goes. Where nobody watches, only lines are left. Not for reading: see [`line`](super::line).

use std::{
    io::{self, IsTerminal as _, Write},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use super::width;
use crate::show;

/// Takes the line that comes and goes away again.
const WIPE: &str = "\r\u{1b}[2K";
/// The most lines that wait while a question is open; it is the person who keeps them waiting.
const WAITING: usize = 1_000;

/// Where the words of the model go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// To whoever reads, as they come.
    Streamed,
    /// Nowhere: the answer is written when it is complete.
    Withheld,
}

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Faint, on a terminal with colours; what goes on just now is shown.
    Coloured,
    /// The same on a terminal without colours.
    Plain,
    /// No terminal: nothing comes and goes.
    Unwatched,
}

/// The screen. Each write is whole, from whatever task.
pub(super) struct Screen(Mutex<Inner>);

struct Inner {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    words: Words,
    look: Look,
    /// Whether words stand on a line that has not ended.
    open: bool,
    status: Option<Status>,
    /// What was written while a question is open.
    held: Option<Vec<String>>,
}

/// What goes on just now.
struct Status {
    text: String,
    since: Instant,
    drawn: Drawn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drawn {
    Yes,
    No,
}

/// A question is open: nothing is written until it is answered.
pub(super) struct Hold<'s>(&'s Screen);

impl Screen {
    /// The one of this process.
    pub(super) fn here(words: Words) -> Self {
        let terminal = io::stderr().is_terminal();
        let colours = std::env::var_os("NO_COLOR").is_none() && std::env::var_os("TERM").is_none_or(|it| it != "dumb");
        let look = match (terminal, colours) {
            (true, true) => Look::Coloured,
            (true, false) => Look::Plain,
            (false, _) => Look::Unwatched,
        };
        Self::over(Box::new(io::stdout()), Box::new(io::stderr()), words, look)
    }

    pub(super) fn over(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>, words: Words, look: Look) -> Self {
        Self(Mutex::new(Inner { out, err, words, look, open: false, status: None, held: None }))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// More words of the model.
    pub(super) fn words(&self, text: &str) {
        let mut inner = self.inner();
        if inner.words == Words::Withheld || text.is_empty() {
            return;
        }
        inner.erase();
        inner.status = None;
        let safe = show::safe(text);
        if let Some(last) = safe.chars().next_back() {
            inner.open = last != '\n';
        }
        put(&mut inner.out, &safe);
    }

    /// A line on what is done, faint where there are colours.
    pub(super) fn note(&self, text: &str) {
        let mut inner = self.inner();
        let text = show::safe(text);
        let line = inner.faint(&text);
        inner.line(line);
    }

    /// A line for the person.
    pub(super) fn say(&self, text: &str) {
        self.inner().line(show::safe(text));
    }

    /// What goes on just now; shown where somebody watches, until words are written, or something else goes on.
    pub(super) fn status(&self, text: &str) {
        let mut inner = self.inner();
        if inner.status.as_ref().is_some_and(|status| status.text == text) {
            return;
        }
        inner.erase();
        inner.status = Some(Status { text: text.to_owned(), since: Instant::now(), drawn: Drawn::No });
        inner.draw();
    }

    /// Says again what goes on, and for how long.
    pub(super) fn tick(&self) {
        let mut inner = self.inner();
        inner.erase();
        inner.draw();
    }

    /// Ends the line on which words stand, and takes away what comes and goes.
    pub(super) fn settle(&self) {
        let mut inner = self.inner();
        inner.end_line();
        inner.status = None;
    }

    /// Settles, and keeps what is written until the hold is dropped.
    pub(super) fn hold(&self) -> Hold<'_> {
        let mut inner = self.inner();
        inner.end_line();
        inner.held = Some(vec![]);
        Hold(self)
    }
}

impl Hold<'_> {
    /// A line for the person who is asked.
    pub(super) fn say(&self, text: &str) {
        let text = format!("{}\n", show::safe(text));
        put(&mut self.0.inner().err, &text);
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut inner = self.0.inner();
        for line in inner.held.take().unwrap_or_default() {
            inner.line(line);
        }
        inner.draw();
    }
}

impl Inner {
    fn faint(&self, text: &str) -> String {
        if self.look == Look::Coloured { format!("\u{1b}[2m{text}\u{1b}[22m") } else { text.to_owned() }
    }

    fn draw(&mut self) {
        if self.look == Look::Unwatched || self.held.is_some() || self.open {
            return;
        }
        let Some(status) = &self.status else { return };
        let seconds = status.since.elapsed().as_secs();
        let text = if seconds > 0 { format!("{}, {seconds} s", status.text) } else { status.text.clone() };
        let drawn = format!("{WIPE}{}", self.faint(&width::one_line(&text, width::columns() - 1)));
        put(&mut self.err, &drawn);
        if let Some(status) = &mut self.status {
            status.drawn = Drawn::Yes;
        }
    }

    fn erase(&mut self) {
        if let Some(status) = self.status.as_mut().filter(|status| status.drawn == Drawn::Yes) {
            status.drawn = Drawn::No;
            put(&mut self.err, WIPE);
        }
    }

    fn end_line(&mut self) {
        self.erase();
        if std::mem::take(&mut self.open) {
            put(&mut self.out, "\n");
        }
    }

    fn line(&mut self, line: String) {
        if let Some(held) = &mut self.held {
            if held.len() < WAITING {
                held.push(line);
            }
            return;
        }
        self.end_line();
        put(&mut self.err, &format!("{line}\n"));
        self.draw();
    }
}

fn put(to: &mut Box<dyn Write + Send>, text: &str) {
    // Whoever closed it wants no more of it.
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;

    /// Keeps what is written.
    #[derive(Clone, Default)]
    pub(in crate::chat) struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Kept {
        pub(in crate::chat) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(in crate::chat) fn screen(look: Look) -> (Screen, Kept) {
        let kept = Kept::default();
        (Screen::over(Box::new(kept.clone()), Box::new(kept.clone()), Words::Streamed, look), kept)
    }

    #[test]
    fn words_lines_and_what_goes_on_do_not_run_into_each_other() {
        let (screen, kept) = screen(Look::Coloured);
        screen.status("asking");
        screen.status("asking");
        screen.words("Hel");
        screen.tick();
        screen.words("lo");
        screen.note("a/b {}");
        screen.status("runs");
        screen.words("done\n");
        screen.settle();
        assert_eq!(
            kept.text(),
            "\r\u{1b}[2K\u{1b}[2masking\u{1b}[22m\r\u{1b}[2KHello\n\u{1b}[2ma/b {}\u{1b}[22m\n\
             \r\u{1b}[2K\u{1b}[2mruns\u{1b}[22m\r\u{1b}[2Kdone\n"
        );
    }

    #[test]
    fn nothing_that_a_model_or_a_server_writes_reaches_the_terminal_as_a_command() {
        let (screen, kept) = screen(Look::Plain);
        screen.words("a\u{1b}]0;x\u{7}");
        screen.note("\u{9b}2J\u{1b}[1A");
        screen.say("\u{8}\u{1b}c");
        screen.hold().say("\u{1b}[?1049h");
        assert!(!kept.text().chars().any(|symbol| symbol.is_control() && symbol != '\n'), "{:?}", kept.text());
    }

    #[test]
    fn while_a_question_is_open_lines_wait() {
        let (screen, kept) = screen(Look::Plain);
        screen.words("thinking");
        let hold = screen.hold();
        screen.note("later");
        hold.say("may I?");
        assert_eq!(kept.text(), "thinking\nmay I?\n");
        drop(hold);
        assert_eq!(kept.text(), "thinking\nmay I?\nlater\n");
    }

    #[test]
    fn without_a_terminal_nothing_comes_and_goes() {
        let (screen, kept) = screen(Look::Unwatched);
        screen.status("asking");
        screen.note("a/b {}");
        assert_eq!(kept.text(), "a/b {}\n");
    }
}
