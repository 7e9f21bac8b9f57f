//! The end of the one that asks.

use std::{fs, io, path::Path, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time,
};

use super::{place, question::Question};
use crate::exit::Exit;

/// How long an answer may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);

/// The answer of one that runs, line by line.
pub(crate) struct Asked {
    lines: Lines<BufReader<OwnedReadHalf>>,
    begun: bool,
    // Held, so that whoever answers knows that somebody still listens.
    _writer: OwnedWriteHalf,
}

impl Asked {
    /// The next line of the answer.
    pub(crate) async fn next(&mut self) -> Result<Option<Value>, Exit> {
        let lost = |error: io::Error| Exit::unreachable(format!("the answer broke off: {error}"));
        let line = if self.begun {
            self.lines.next_line().await
        } else {
            let waited = time::timeout(PATIENCE, self.lines.next_line()).await;
            waited.map_err(|_| Exit::unreachable(format!("there was no answer within {} s", PATIENCE.as_secs())))?
        };
        let Some(line) = line.map_err(lost)? else { return Ok(None) };
        self.begun = true;
        let value: Value =
            serde_json::from_str(&line).map_err(|error| Exit::failed(format!("the answer is none: {error}")))?;
        match (value.get("error").and_then(Value::as_str), value.get("code").and_then(Value::as_u64)) {
            (Some(why), Some(2)) => Err(Exit::usage(why)),
            (Some(why), Some(3)) => Err(Exit::config(why)),
            (Some(why), Some(5)) => Err(Exit::unknown(why)),
            (Some(why), _) => Err(Exit::failed(why)),
            (None, _) => Ok(Some(value)),
        }
    }
}

/// Asks the one that runs: that process, or the only one there is.
pub(crate) async fn ask(question: &Question, process: Option<u32>) -> Result<Asked, Exit> {
    let folder = place::folder().map_err(Exit::unreachable)?;
    let mut running = vec![];
    for one in place::processes(&folder).into_iter().filter(|one| process.is_none_or(|process| process == *one)) {
        if let Some(stream) = reach(&folder, one).await {
            running.push((one, stream));
        }
    }
    let stream = match (running.len(), process) {
        (0, None) => {
            let what = format!("no `toolbay up` of yours runs (none listens in {})", folder.display());
            return Err(Exit::unreachable(what));
        }
        (0, Some(process)) => return Err(Exit::unreachable(format!("process {process} is no `toolbay up` of yours"))),
        (1, _) => running.remove(0).1,
        _ => {
            let all: Vec<_> = running.iter().map(|(one, _)| one.to_string()).collect();
            return Err(Exit::usage(format!("several run: choose one with --pid ({})", all.join(", "))));
        }
    };
    let (reader, mut writer) = stream.into_split();
    let line = serde_json::to_string(question).expect("it is texts and numbers") + "\n";
    let sent = writer.write_all(line.as_bytes()).await;
    sent.map_err(|error| Exit::unreachable(format!("it could not be asked: {error}")))?;
    Ok(Asked { lines: BufReader::new(reader).lines(), begun: false, _writer: writer })
}

async fn reach(folder: &Path, process: u32) -> Option<UnixStream> {
    let socket = place::socket(folder, process);
    match UnixStream::connect(&socket).await {
        Ok(stream) => Some(stream),
        Err(error) => {
            if error.kind() == io::ErrorKind::ConnectionRefused {
                // Left behind by one that was killed.
                let _ = fs::remove_file(&socket);
            }
            None
        }
    }
}
