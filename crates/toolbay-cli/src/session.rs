//! `toolbay session`, and what one that runs does about it.

use clap::{Args as ClapArgs, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolbay_gateway::{
    Bay,
    sessions::{ClientUid, SessionInfo},
};
use toolbay_transport::Principal;

use crate::{
    control::{self, Question},
    exit::Exit,
    show,
};

/// As much of the name of a client's session as is shown: whoever knows the whole can use it.
const SHOWN: usize = 8;

#[derive(Debug, ClapArgs)]
pub(crate) struct Session {
    #[command(subcommand)]
    pub(crate) what: SessionWhat,
    /// Write JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The process that is meant, where several run
    #[arg(long, value_name = "PID", global = true)]
    pub(crate) pid: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionWhat {
    /// List them
    List,
    /// End some: calls in flight go on, what comes after them begins anew
    Clear {
        /// Their numbers, as `list` shows them
        #[arg(value_name = "NUMBER", required_unless_present_any = ["server", "all"])]
        #[arg(conflicts_with_all = ["server", "all"])]
        numbers: Vec<u64>,
        /// All at this server
        #[arg(long, value_name = "NAME", conflicts_with = "all")]
        server: Option<String>,
        /// All
        #[arg(long)]
        all: bool,
    },
}

/// One thing to be done, as it is written on a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Sessions {
    /// Say which there are.
    List,
    /// End some.
    Clear {
        /// Which.
        which: Which,
    },
}

/// Which sessions are meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Which {
    /// Those with these numbers.
    Numbers(Vec<u64>),
    /// Those at a server.
    Server(String),
    /// All.
    All,
}

/// Runs it.
pub(crate) async fn run(session: Session) -> Result<(), Exit> {
    let act = match session.what {
        SessionWhat::List => Sessions::List,
        SessionWhat::Clear { server: Some(server), .. } => Sessions::Clear { which: Which::Server(server) },
        SessionWhat::Clear { all: true, .. } => Sessions::Clear { which: Which::All },
        SessionWhat::Clear { numbers, .. } => Sessions::Clear { which: Which::Numbers(numbers) },
    };
    let mut asked = control::ask(&Question::Session { act: act.clone() }, session.pid).await?;
    let answer = asked.next().await?.ok_or_else(|| Exit::unreachable("it ended before it answered"))?;
    show::line(&if session.json { answer.to_string() } else { told(&act, &answer) });
    Ok(())
}

/// Does it; or why not.
pub(crate) fn perform(bay: &Bay, act: &Sessions) -> Result<Value, String> {
    let all = bay.device_sessions();
    let Sessions::Clear { which } = act else {
        return Ok(json!({"sessions": all.iter().map(about).collect::<Vec<_>>()}));
    };
    if let Which::Numbers(numbers) = which
        && let Some(unknown) = numbers.iter().find(|number| !all.iter().any(|session| session.number == **number))
    {
        return Err(format!("there is no session {unknown}; `toolbay session list` shows them"));
    }
    let meant = |session: &&SessionInfo| match which {
        Which::Numbers(numbers) => numbers.contains(&session.number),
        Which::Server(server) => *session.key.tool == **server,
        Which::All => true,
    };
    let cleared: Vec<_> =
        all.iter().filter(meant).filter_map(|session| bay.clear_session(&session.key)).map(|one| one.number).collect();
    Ok(json!({ "cleared": cleared }))
}

fn about(session: &SessionInfo) -> Value {
    let user = match &session.key.user {
        Principal::Local => "local",
        Principal::Named(name) => name,
    };
    let client = match &session.key.client {
        ClientUid::Stated(device) => json!({"device": device.as_str()}),
        ClientUid::Session(session) => json!({"session": session.as_str().chars().take(SHOWN).collect::<String>()}),
        ClientUid::Alone => Value::Null,
    };
    json!({
        "number": session.number,
        "server": &*session.key.tool,
        "user": user,
        "client": client,
        "openSeconds": session.since.elapsed().unwrap_or_default().as_secs(),
        "idleSeconds": session.idle.as_secs(),
        "connected": session.connected,
        "upstream": session.upstream.as_ref().map(|name| name.chars().take(SHOWN).collect::<String>()),
        "folder": session.folder,
        "data": session.data,
    })
}

fn told(act: &Sessions, answer: &Value) -> String {
    if let Sessions::Clear { .. } = act {
        let cleared = answer["cleared"].as_array().map_or(0, Vec::len);
        return format!("{cleared} cleared");
    }
    let text = |value: &Value| show::headline(value.as_str().unwrap_or("-"), 60);
    let row = |session: &Value| {
        let client = &session["client"];
        let client = match client["session"].as_str() {
            Some(name) => format!("session {}…", show::safe(name)),
            None => text(&client["device"]),
        };
        [
            session["number"].to_string(),
            text(&session["server"]),
            text(&session["user"]),
            client,
            format!("{} s", session["openSeconds"]),
            format!("{} s", session["idleSeconds"]),
            text(&session["folder"]),
        ]
    };
    let sessions = answer["sessions"].as_array().map(Vec::as_slice).unwrap_or_default();
    show::table(["NUMBER", "SERVER", "USER", "DEVICE", "OPEN", "IDLE", "FOLDER"], sessions.iter().map(row).collect())
}
