use toolbay::prelude::*;

fn main() {
    drop(Server::new("sums", "1").tool(Tool::new("add", "Adds", |left: i64, right: i64| async move { left + right })));
}
