//! The scripted server over standard input and output.

use std::io::{BufRead, Write};
use std::thread;

use serde_json::Value;

use super::super::meeting::small_talk;
use super::desk::{Desk, Voice};

/// Serves until the input ends.
pub(super) fn serve(desk: &Desk) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if message["method"] == "tools/call" {
            let desk = desk.clone();
            thread::spawn(move || desk.perform(&message, &mut Stdout));
        } else if message.get("method").is_none() {
            desk.answered(&message);
        } else if let Some(answer) = small_talk(desk.era, &message) {
            Stdout.say(&answer);
        }
    }
}

struct Stdout;

impl Stdout {
    fn write(bytes: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        if stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err() {
            // Nobody reads any more.
            std::process::exit(0);
        }
    }
}

impl Voice for Stdout {
    fn say(&mut self, message: &Value) {
        Self::write(format!("{message}\n").as_bytes());
    }

    fn junk(&mut self, bytes: &[u8]) {
        Self::write(&[bytes, b"\n"].concat());
    }

    fn cut(&mut self, message: &Value) {
        let text = message.to_string();
        Self::write(&text.as_bytes()[..text.len() / 2]);
        std::process::exit(0);
    }
}
