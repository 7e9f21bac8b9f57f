//! A tool in a crate that depends on nothing but this one.

use toolbay::prelude::*;

/// Adds.
#[tool]
async fn add(left: i64, right: Option<i64>) -> i64 {
    left + right.unwrap_or_default()
}

fn main() {
    drop(Server::new("sums", "1").tool(add::tool()));
}
