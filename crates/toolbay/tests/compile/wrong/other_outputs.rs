use toolbay::prelude::*;

/// A week.
#[prompt]
async fn week() -> u32 {
    48
}

/// The policy.
#[resource("file://policy.md")]
async fn policy() -> bool {
    true
}

fn main() {}
