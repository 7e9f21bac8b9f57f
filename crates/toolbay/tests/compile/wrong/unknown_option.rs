use toolbay::prelude::*;

/// Adds.
#[tool(readonly)]
async fn add(left: i64, #[arg(defualt = 1)] right: i64) -> i64 {
    left + right
}

fn main() {}
