//! Two tokens, two users: each sees and calls what is theirs. `per-user-tools ADDRESS`.

use std::sync::Arc;

use toolbay::{
    prelude::*,
    transport::{
        Principal,
        http::server::{Admit, Refused},
    },
};

/// Tells who is asking, and from which desk.
#[tool(read_only)]
async fn who(cx: &Ctx) -> String {
    let desk = cx.headers().and_then(|headers| headers.get("x-desk")?.to_str().ok());
    let name: &str = match cx.principal() {
        Principal::Local => "nobody in particular",
        Principal::Named(name) => name,
    };
    desk.map_or(name.to_owned(), |desk| format!("{name}, at desk {desk}"))
}

/// Restarts the plant.
#[tool(destructive)]
async fn restart() -> &'static str {
    "the plant restarts"
}

#[tokio::main]
async fn main() -> Result<(), toolbay::Error> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8000".into());
    let users = Admit::by(|head| match head.headers.get("authorization").and_then(|token| token.to_str().ok()) {
        Some("Bearer of-the-boss") => Ok(Principal::Named(Arc::from("boss"))),
        Some("Bearer of-the-guest") => Ok(Principal::Named(Arc::from("guest"))),
        _ => Err(Refused::unauthorized("show a token")),
    });
    let server = Server::new("plant", "1.0.0").tool(who::tool()).tool(restart::tool());
    server
        .visible(|caller, item| item.name() != "restart" || caller.principal == Principal::Named(Arc::from("boss")))
        .serve(http(address).admit(users).on_bound(|address| eprintln!("endpoint http://{address}/mcp")))
        .await
}
