use toolbay::prelude::*;

struct Sum(i64);

/// Adds.
#[tool]
async fn add(left: i64, right: i64) -> Sum {
    Sum(left + right)
}

fn main() {
    drop(Server::new("sums", "1").tool(add::tool()));
}
