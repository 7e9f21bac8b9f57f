//! `toolbay status`.

use serde_json::Value;

use crate::{
    args::Status,
    control::{self, Question},
    exit::Exit,
    show,
};

/// Runs it.
pub(crate) async fn run(status: Status) -> Result<(), Exit> {
    let mut asked = control::ask(&Question::Status, status.pid).await?;
    let answer = asked.next().await?.ok_or_else(|| Exit::unreachable("it ended before it answered"))?;
    if status.json {
        show::line(&answer.to_string());
        return Ok(());
    }
    show::line(&head(&answer));
    show::line(&format!("{}\n", tools(&answer["exposed"])));
    if let Some(embeddings) = answer["embeddings"].as_object() {
        show::line(&format!("{}\n", meaning(embeddings)));
    }
    if let Some(fault) = answer["configFault"].as_str() {
        show::line(&format!("the configuration cannot be used, all goes on as it was: {}\n", show::safe(fault)));
    }
    let servers = answer["servers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let heading = [
        "SERVER",
        "STATE",
        "REVISION",
        "TOOLS/PROMPTS/RESOURCES",
        "CALLS",
        "ERRORS",
        "P50",
        "P95",
        "RESTARTS",
        "DEVICES",
        "PIDS",
    ];
    show::line(&show::table(heading, servers.iter().map(row).collect()));
    for server in servers {
        let name = text(&server["server"]);
        if let Some(why) = server["lastError"].as_str() {
            show::line(&format!("last error: {name}: {}", show::headline(why, 300)));
        }
        for note in server["notes"].as_array().into_iter().flatten() {
            show::line(&format!("note: {name}: {}", text(note)));
        }
    }
    Ok(())
}

fn head(answer: &Value) -> String {
    let number = |key: &str| answer[key].as_u64().unwrap_or_default();
    let of = answer["config"].as_str().unwrap_or("embedded servers");
    let at = answer["endpoint"].as_str().map_or("stdio".into(), |url| format!("{url}/mcp"));
    let ready = if answer["ready"].as_bool() == Some(true) { "ready" } else { "starting" };
    format!(
        "toolbay {} (pid {}), {ready}, up {}, {at}, {}\n{} sessions, {} parked calls\n",
        text(&answer["version"]),
        number("pid"),
        since(number("seconds")),
        show::safe(of),
        number("sessions"),
        number("parkedCalls"),
    )
}

/// What clients are shown of all tools: the size that decides, and those who are shown something else.
fn tools(exposed: &Value) -> String {
    let number = |value: &Value| value.as_f64().unwrap_or_default().floor();
    let (tools, tokens) = (number(&exposed["tools"]), number(&exposed["tokens"]));
    let shown = |of: &Value| {
        let what = if of["shown"] == "search" { "to be searched for" } else { "all listed" };
        match of["expose"].as_str() {
            Some("auto") => format!("{what} (up to {} tokens are listed)", number(&of["most"])),
            said => format!("{what} (expose: {})", said.unwrap_or_default()),
        }
    };
    let clients = exposed["clients"].as_object().into_iter().flatten();
    let clients: Vec<_> = clients.map(|(name, of)| format!("; to {}: {}", show::safe(name), shown(of))).collect();
    format!("{tools} tools of about {tokens} tokens: {}{}", shown(exposed), clients.concat())
}

/// How the endpoint does that is asked what tools mean.
fn meaning(embeddings: &serde_json::Map<String, Value>) -> String {
    let (model, url) = (text(&embeddings["model"]), text(&embeddings["url"]));
    let state = match (embeddings["fault"].as_str(), embeddings["ready"].as_bool()) {
        (Some(fault), _) => format!("it cannot be used, tools are found by words alone: {}", show::safe(fault)),
        (None, Some(true)) => format!("{} texts encoded", embeddings["vectors"].as_u64().unwrap_or_default()),
        (None, _) => "it was not asked yet".into(),
    };
    format!("embeddings by {model} at {url}: {state}")
}

fn row(server: &Value) -> [String; 11] {
    let count = |key: &str| server[key].as_u64().map_or("-".into(), |count| count.to_string());
    let counts = match server["tools"].as_u64() {
        Some(_) => format!("{}/{}/{}", count("tools"), count("prompts"), count("resources")),
        None => "-".into(),
    };
    let millis = |key: &str| server[key].as_f64().map_or("-".into(), |millis| format!("{millis:.1} ms"));
    let processes: Vec<_> = server["processes"].as_array().into_iter().flatten().map(Value::to_string).collect();
    [
        text(&server["server"]),
        state(server),
        server["revision"].as_str().unwrap_or("-").to_owned(),
        counts,
        count("calls"),
        count("errors"),
        millis("p50"),
        millis("p95"),
        count("restarts"),
        count("devices"),
        if processes.is_empty() { "-".into() } else { processes.join(",") },
    ]
}

/// Where it stands, and its circuit where that is not closed.
fn state(server: &Value) -> String {
    let (state, circuit) = (text(&server["state"]), &server["circuit"]);
    match (circuit["state"].as_str(), circuit["secondsLeft"].as_u64()) {
        (Some("open"), Some(left)) => format!("{state}, circuit open for {left} s"),
        (Some("half-open"), _) => format!("{state}, circuit half open"),
        _ => state,
    }
}

fn text(value: &Value) -> String {
    show::safe(value.as_str().unwrap_or_default())
}

fn since(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}
