//! A transcript from elsewhere, such as that of a process that was killed, made one that a provider takes.

use super::{call::Given, words};
use crate::transcript::{Answer, Message, Transcript};

/// Answers each intent that is not answered, puts answers into the order of their intents, and leaves out those of none.
pub(crate) fn mend(transcript: &mut Transcript) {
    let messages = std::mem::take(&mut transcript.messages);
    let mut mended = Vec::with_capacity(messages.len());
    let mut messages = messages.into_iter().peekable();
    while let Some(message) = messages.next() {
        match message {
            // Answers are taken by the message before them.
            Message::Tools(_) => {}
            Message::User(parts) => mended.push(Message::User(parts)),
            Message::Model(said) => {
                let mut given = match messages.next_if(|next| matches!(next, Message::Tools(_))) {
                    Some(Message::Tools(answers)) => answers,
                    Some(Message::User(_) | Message::Model(_)) | None => vec![],
                };
                let mut answer = |id: &str, name: &str| match given.iter().position(|answer| answer.id == id) {
                    Some(place) => given.remove(place),
                    None => {
                        let Given { parts, outcome } = Given::failure(words::UNKNOWN);
                        Answer { id: id.to_owned(), name: name.to_owned(), parts, outcome }
                    }
                };
                let answers: Vec<_> = said.intents().map(|intent| answer(&intent.id, &intent.name)).collect();
                mended.push(Message::Model(said));
                if !answers.is_empty() {
                    mended.push(Message::Tools(answers));
                }
            }
        }
    }
    transcript.messages = mended;
}
