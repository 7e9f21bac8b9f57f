//! `toolbay logs`.

use crate::{
    args::Logs,
    control::{self, Question},
    exit::Exit,
    show,
};

/// Runs it.
pub(crate) async fn run(logs: Logs) -> Result<(), Exit> {
    let question = Question::Logs { server: logs.server, follow: logs.follow };
    let mut asked = control::ask(&question, logs.pid).await?;
    loop {
        let answer = tokio::select! {
            answer = asked.next() => answer?,
            // Whoever follows ends it so.
            _ = tokio::signal::ctrl_c() => return Ok(()),
        };
        let Some(answer) = answer else { return Ok(()) };
        if let Some(line) = answer["line"].as_str() {
            show::line(&show::safe(line));
        } else if let Some(missed) = answer["missed"].as_u64() {
            eprintln!("{}", show::dim(&format!("{missed} lines were written faster than they were read")));
        }
    }
}
