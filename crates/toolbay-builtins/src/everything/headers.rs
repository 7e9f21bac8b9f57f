//! Arguments that HTTP requests repeat in headers.

use serde::Deserialize;
use toolbay::{JsonSchema, Server, Tool, schemars};

pub(super) fn add(server: Server) -> Server {
    let tool = Tool::new("test_header_param", "Tells which region it was called for", |place: Place| async move {
        format!("region {}, shard {}", place.region, place.shard.map_or("none".into(), |shard| shard.to_string()))
    });
    server.tool(tool.header("region", "Region").header("shard", "Shard"))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Place {
    /// The region; also in the header `Mcp-Param-Region`.
    region: String,
    /// The shard; also in the header `Mcp-Param-Shard`.
    shard: Option<i64>,
}
