//! The end of the one that runs.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Semaphore,
    task::{JoinHandle, JoinSet},
    time,
};

use super::{answer::House, place, question::Question};
use crate::session;

/// How many may ask at once; more wait.
const ASKING: usize = 32;
/// How long a question may be, and how long it may take to come in.
const LONGEST: u64 = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether a server wrote more.
const LOOK: Duration = Duration::from_millis(100);
/// How long an asker may take to read a line.
const SLOW: Duration = Duration::from_secs(10);

/// A socket that is listened to until this is dropped.
pub(crate) struct Open {
    socket: PathBuf,
    task: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.task.abort();
        // Where it is gone already, so much the better.
        let _ = fs::remove_file(&self.socket);
    }
}

/// Listens.
pub(crate) fn open(house: Arc<House>) -> Result<Open, String> {
    let socket = place::socket(&place::folder()?, std::process::id());
    // One of that number that ended without cleaning up has no use for it.
    let _ = fs::remove_file(&socket);
    let failed = |error: std::io::Error| format!("{} cannot be listened to: {error}", socket.display());
    let listener = UnixListener::bind(&socket).map_err(failed)?;
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).map_err(failed)?;
    let task = tokio::spawn(accept(listener, house));
    Ok(Open { socket, task })
}

async fn accept(listener: UnixListener, house: Arc<House>) {
    let room = Arc::new(Semaphore::new(ASKING));
    let mut asked = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        while asked.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) if is_ours(&stream) => {
                let house = Arc::clone(&house);
                asked.spawn(async move {
                    // Whoever asked may have left.
                    let _ = answer(stream, &house).await;
                    drop(place);
                });
            }
            Ok(_) => {}
            // Out of descriptors: others may give some back.
            Err(_) => time::sleep(LOOK).await,
        }
    }
}

/// Whether the same user is at the other end; the folder sees to that already.
fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::getuid().as_raw())
}

async fn answer(stream: UnixStream, house: &House) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader.take(LONGEST));
    let mut line = String::new();
    if time::timeout(PATIENCE, reader.read_line(&mut line)).await.is_err() {
        return Ok(());
    }
    match serde_json::from_str(&line) {
        Ok(Question::Status) => say(&mut writer, &house.status()).await,
        Ok(Question::Reload) => {
            let answer = match house.reload() {
                Ok(changes) => json!({ "changes": changes }),
                Err(why) => json!({"error": why, "code": 3}),
            };
            say(&mut writer, &answer).await
        }
        Ok(Question::Session { act }) => {
            let answer = session::perform(&house.bay, &act);
            say(&mut writer, &answer.unwrap_or_else(|why| json!({"error": why, "code": 5}))).await
        }
        Ok(Question::Tool { act }) => {
            let answer = match house.tool(act).await {
                Ok(answer) => answer,
                Err(refusal) => json!({"error": refusal.what, "code": refusal.code}),
            };
            say(&mut writer, &answer).await
        }
        Ok(Question::Logs { server, follow }) => {
            logs(house, &server, follow, reader.into_inner().into_inner(), &mut writer).await
        }
        Err(error) => say(&mut writer, &json!({"error": format!("this is no question: {error}"), "code": 2})).await,
    }
}

async fn logs(
    house: &House,
    server: &str,
    follow: bool,
    mut asker: OwnedReadHalf,
    writer: &mut OwnedWriteHalf,
) -> std::io::Result<()> {
    let mut upto = 0;
    loop {
        let lines = match house.lines(server, upto) {
            Ok(lines) => lines,
            Err(why) => return say(writer, &json!({"error": why, "code": 5})).await,
        };
        let new = lines.upto - upto;
        let missed = new.saturating_sub(lines.lines.len() as u64);
        if upto > 0 && missed > 0 {
            say(writer, &json!({ "missed": missed })).await?;
        }
        for line in &lines.lines {
            say(writer, &json!({ "line": line })).await?;
        }
        upto = lines.upto;
        if !follow {
            return Ok(());
        }
        let mut nothing = [0];
        tokio::select! {
            // The asker says no more; when it is gone, this ends.
            _ = asker.read(&mut nothing) => return Ok(()),
            () = time::sleep(LOOK) => {}
        }
    }
}

async fn say(writer: &mut OwnedWriteHalf, value: &Value) -> std::io::Result<()> {
    let line = format!("{value}\n");
    time::timeout(SLOW, writer.write_all(line.as_bytes()))
        .await
        .unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()))
}
