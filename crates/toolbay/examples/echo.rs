//! The server that benchmarks compare: one tool that returns its text, and as many more in the list as `TOOLS` says.
//!
//! `echo stdio`, or `echo http PORT` (endpoint `/mcp`).

use toolbay::{Server, Tool, http, stdio, tool};

/// Returns the text that it is given.
#[tool]
async fn echo(
    /// What to return.
    text: String,
) -> String {
    text
}

fn server() -> Server {
    let tools: usize = std::env::var("TOOLS").ok().and_then(|tools| tools.parse().ok()).unwrap_or(10);
    let named = |n: usize| -> Tool { Tool::new(format!("tool_{n:04}"), "Returns x.", async || "x") };
    (1..tools).fold(Server::new("echo", "1.0.0").tool(echo::tool()), |server, n| server.tool(named(n)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), toolbay::Error> {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "http", port] => server().serve(http(format!("127.0.0.1:{port}"))).await,
        _ => server().serve(stdio()).await,
    }
}
