//! A tool that asks before it acts. The same code serves clients that answer at once and clients that come back.

use toolbay::prelude::*;

/// What to do with a table.
#[data]
struct Decision {
    /// Type the table's name to confirm.
    name: String,
    /// Keep a copy first.
    #[serde(default)]
    backup: bool,
}

/// Drops a table, after asking.
#[tool(destructive)]
async fn drop_table(
    /// Which table.
    table: String,
    cx: &Ctx,
) -> toolbay::Result<String> {
    let decision: Decision = cx.ask("decision", format!("Drop the table {table}?")).await?;
    if decision.name != table {
        return Err(tool_error!("the user typed another name: nothing was dropped").into());
    }
    // Runs once, even where the call is repeated to bring an answer.
    let copy = cx.once("backup", || async { ok(decision.backup.then(|| format!("{table}.bak"))) }).await?;
    match cx.confirm("sure", "This cannot be undone. Go on?").await? {
        Elicited::Accepted(()) => Ok(format!("dropped {table}; copy: {}", copy.as_deref().unwrap_or("none"))),
        Elicited::Declined | Elicited::Cancelled => Ok("nothing was dropped".into()),
    }
}

#[tokio::main]
async fn main() -> Result<(), toolbay::Error> {
    Server::new("tables", "1.0.0").tool(drop_table::tool()).serve(stdio()).await
}
