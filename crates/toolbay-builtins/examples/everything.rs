//! The reference server: `everything stdio [--faults]` or `everything http PORT [--faults]`.

use toolbay::{Error, http, stdio};
use toolbay_builtins::everything::{Faults, server};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let faults = if args.iter().any(|arg| arg == "--faults") { Faults::Offered } else { Faults::Withheld };
    match args.first().map(String::as_str) {
        Some("http") => {
            let port = args.get(1).and_then(|port| port.parse::<u16>().ok()).unwrap_or(0);
            let bound = |address| eprintln!("endpoint http://{address}/mcp");
            server(faults).serve(http(("127.0.0.1", port)).on_bound(bound)).await
        }
        _ => server(faults).serve(stdio()).await,
    }
}
