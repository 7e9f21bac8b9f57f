//! A server inside an axum application, beside its other routes. `inside-axum ADDRESS`.

use axum::{Router, routing::get};
use toolbay::{
    prelude::*,
    transport::http::server::{Options, Path},
};

/// Tells the weather, which is always the same here.
#[tool(read_only)]
async fn weather(
    /// Where.
    city: String,
) -> String {
    format!("It rains in {city}.")
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let server = Server::new("weather", "1.0.0").tool(weather::tool());
    let endpoint = server.endpoint(Options { path: Path::Anywhere, ..Options::default() });
    let app = Router::new().route("/", get(|| async { "a weather station" })).route_service("/mcp", endpoint);
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8000".into());
    let listener = tokio::net::TcpListener::bind(address).await?;
    eprintln!("listening on {}", listener.local_addr()?);
    axum::serve(listener, app).await
}
