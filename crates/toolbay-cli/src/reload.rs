//! `toolbay reload`.

use serde_json::Value;

use crate::{
    args::Reload,
    control::{self, Question},
    exit::Exit,
    show,
};

/// Runs it.
pub(crate) async fn run(reload: Reload) -> Result<(), Exit> {
    let mut asked = control::ask(&Question::Reload, reload.pid).await?;
    let answer = asked.next().await?.ok_or_else(|| Exit::unreachable("it ended before it answered"))?;
    let changes = answer["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    if reload.json {
        show::line(&answer.to_string());
    } else {
        show::line(&told(changes));
    }
    // Something in the file is not as it should be, though all else was taken on.
    if changes.iter().any(|change| change["change"] == "kept") { Err(Exit::config_shown()) } else { Ok(()) }
}

/// The changes, a line each.
pub(crate) fn told(changes: &[Value]) -> String {
    if changes.is_empty() {
        return "nothing changed".into();
    }
    changes.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(change: &Value) -> String {
    let whose = change["server"].as_str().or(change["whose"].as_str()).unwrap_or("limits");
    let what = match change["change"].as_str().unwrap_or_default() {
        "removed" => "removed; it ends when its calls in flight have".to_owned(),
        "kept" => format!("goes on as it was: {}", change["reason"].as_str().unwrap_or_default()),
        other => other.to_owned(),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let fields: Vec<_> = change["fields"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|field| format!("{} ({})", text(&field["field"]), text(&field["effect"])))
        .collect();
    let fields = if fields.is_empty() { String::new() } else { format!(": {}", fields.join(", ")) };
    show::safe(&format!("{whose}: {what}{fields}"))
}
