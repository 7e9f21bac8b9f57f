//! Where a person is asked, by whoever has to: one conversation after the other, one line after the other.

use std::{path::PathBuf, sync::Arc, thread::JoinHandle};

use tokio::sync::{Notify, Semaphore, SemaphorePermit, mpsc, oneshot};

use super::{complete::Known, editor::Reader};
use crate::{
    chat::screen::{Hold, Screen},
    exit::Exit,
};

/// What came of a line that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::chat) enum Typed {
    /// It was typed.
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or there is nobody any more.
    End,
}

/// Which line is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// What the person says: kept in the history, with completion.
    Message,
    /// What they answer a question with, which is kept nowhere.
    Answer { initial: String },
    /// A text that they change, in a program of theirs or on the line.
    Document { text: String },
}

pub(super) struct Request {
    pub(super) prompt: String,
    pub(super) wanted: Wanted,
    pub(super) reply: oneshot::Sender<Typed>,
}

/// The desk at which one person sits.
pub(in crate::chat) struct Desk {
    requests: mpsc::Sender<Request>,
    floor: Semaphore,
    interrupted: Notify,
    pub(in crate::chat) screen: Arc<Screen>,
    thread: Option<JoinHandle<()>>,
}

/// The floor of the desk: whoever has it is the only one who asks.
pub(in crate::chat) struct Floor<'d> {
    desk: &'d Desk,
    hold: Hold<'d>,
    _permit: Option<SemaphorePermit<'d>>,
}

impl Desk {
    /// The terminal of this process.
    pub(in crate::chat) fn here(screen: Arc<Screen>, known: Known, kept: Option<PathBuf>) -> Result<Self, Exit> {
        let unread = |why: String| Exit::failed(format!("the terminal cannot be read: {why}"));
        let reader = Reader::new(known, kept).map_err(|error| unread(error.to_string()))?;
        let (requests, asked) = mpsc::channel(1);
        let thread = std::thread::Builder::new().name("lines".into()).spawn(move || reader.serve(asked));
        let thread = thread.map_err(|error| unread(error.to_string()))?;
        Ok(Self { thread: Some(thread), ..Self::over(screen, requests) })
    }

    fn over(screen: Arc<Screen>, requests: mpsc::Sender<Request>) -> Self {
        Self { requests, floor: Semaphore::new(1), interrupted: Notify::new(), screen, thread: None }
    }

    /// Waits until nobody else asks.
    pub(in crate::chat) async fn floor(&self) -> Floor<'_> {
        // Never closed; were it, two conversations side by side would be the worst of it.
        let permit = self.floor.acquire().await.ok();
        Floor { desk: self, hold: self.screen.hold(), _permit: permit }
    }

    /// Whether somebody asks just now: Ctrl-C is theirs then.
    pub(in crate::chat) fn is_asking(&self) -> bool {
        self.floor.available_permits() == 0
    }

    /// Returns when Ctrl-C was typed in answer to a question.
    pub(in crate::chat) async fn interrupted(&self) {
        self.interrupted.notified().await;
    }

    /// Waits until the terminal is as it was found.
    pub(in crate::chat) async fn close(self) {
        let Self { requests, thread, .. } = self;
        drop(requests);
        if let Some(thread) = thread {
            // A line that is being typed ends with the person's next key.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    async fn typed(&self, prompt: String, wanted: Wanted) -> Typed {
        let (reply, typed) = oneshot::channel();
        if self.requests.send(Request { prompt, wanted, reply }).await.is_err() {
            return Typed::End;
        }
        typed.await.unwrap_or(Typed::End)
    }
}

impl Floor<'_> {
    /// A line for the person who is asked.
    pub(in crate::chat) fn say(&self, text: &str) {
        self.hold.say(text);
    }

    /// What the person wants to say. Ctrl-C is no interruption here: nothing runs.
    pub(in crate::chat) async fn message(&self, prompt: &str) -> Typed {
        self.desk.typed(prompt.to_owned(), Wanted::Message).await
    }

    /// An answer, beginning with what may be typed over.
    pub(in crate::chat) async fn answer(&self, prompt: &str, initial: &str) -> Typed {
        self.asked(prompt, Wanted::Answer { initial: initial.to_owned() }).await
    }

    /// A text as the person changes it.
    pub(in crate::chat) async fn document(&self, prompt: &str, text: &str) -> Typed {
        self.asked(prompt, Wanted::Document { text: text.to_owned() }).await
    }

    async fn asked(&self, prompt: &str, wanted: Wanted) -> Typed {
        let typed = self.desk.typed(prompt.to_owned(), wanted).await;
        if typed == Typed::Interrupted {
            // Told before the answer is: whoever cancels comes first.
            self.desk.interrupted.notify_one();
        }
        typed
    }
}

#[cfg(test)]
pub(in crate::chat) mod tests {
    use super::*;
    use crate::chat::screen::{
        Look,
        tests::{Kept, screen},
    };

    /// A desk at which these answers are typed, in order; and what was written there, prompts among it.
    pub(in crate::chat) fn desk(answers: &[Typed]) -> (Desk, Kept, Prompts) {
        let (screen, kept) = screen(Look::Plain);
        let (requests, mut asked) = mpsc::channel::<Request>(1);
        let prompts = Prompts::default();
        let mut answers: Vec<Typed> = answers.iter().rev().cloned().collect();
        let told = prompts.clone();
        tokio::spawn(async move {
            while let Some(Request { prompt, wanted, reply }) = asked.recv().await {
                let initial = match wanted {
                    Wanted::Message => String::new(),
                    Wanted::Answer { initial } => initial,
                    Wanted::Document { text } => text,
                };
                told.0.lock().unwrap().push((prompt, initial));
                let _ = reply.send(answers.pop().unwrap_or(Typed::End));
            }
        });
        (Desk::over(Arc::new(screen), requests), kept, prompts)
    }

    pub(in crate::chat) fn lines(lines: &[&str]) -> Vec<Typed> {
        lines.iter().map(|line| Typed::Line((*line).to_owned())).collect()
    }

    /// What was asked: the prompt, and what stood there already.
    #[derive(Clone, Default)]
    pub(in crate::chat) struct Prompts(Arc<std::sync::Mutex<Vec<(String, String)>>>);

    impl Prompts {
        pub(in crate::chat) fn all(&self) -> Vec<(String, String)> {
            self.0.lock().unwrap().clone()
        }
    }

    #[tokio::test]
    async fn ctrl_c_in_a_question_is_told_before_the_answer_is() {
        let (desk, ..) = desk(&[Typed::Interrupted]);
        let floor = desk.floor().await;
        assert!(desk.is_asking());
        assert_eq!(floor.answer("? ", "").await, Typed::Interrupted);
        tokio::time::timeout(std::time::Duration::from_secs(5), desk.interrupted()).await.unwrap();
        drop(floor);
        assert!(!desk.is_asking());
    }
}
