//! A server with one tool.

use toolbay::prelude::*;

/// Adds two numbers.
#[tool]
async fn add(left: i64, right: i64) -> i64 {
    left + right
}

#[tokio::main]
async fn main() -> Result<(), toolbay::Error> {
    Server::new("sums", "1.0.0").tool(add::tool()).serve(stdio()).await
}
