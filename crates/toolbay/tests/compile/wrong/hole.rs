use toolbay::prelude::*;

/// One order.
#[resource("order://all")]
async fn order(id: u32) -> String {
    id.to_string()
}

fn main() {}
