use toolbay::prelude::*;

/// Tells the name.
#[tool]
async fn name(shop: State<String>) -> String {
    shop.to_string()
}

fn main() {
    drop(Server::new("shop", "1").state(1_u32).tool(name::tool()));
}
