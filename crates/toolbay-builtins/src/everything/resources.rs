//! Resources: text, bytes, a template, one that can be watched.

use serde::{Deserialize, Serialize};
use toolbay::{Json, JsonSchema, Resource, Server, Template, schemars, server::Suggestions};

use super::content::PNG;

pub(super) fn add(server: Server) -> Server {
    server
        .resource(
            Resource::new("test://static-text", "Static text", || async {
                "This is the content of the static text resource."
            })
            .description("A text that never changes")
            .mime_type("text/plain"),
        )
        .resource(
            Resource::new("test://static-binary", "Static picture", || async {
                toolbay::types::ReadResourceResult::blob("test://static-binary", "image/png", PNG)
            })
            .description("A picture that never changes")
            .mime_type("image/png"),
        )
        .resource(
            Resource::new("test://watched-resource", "Watched resource", || async { "Watched resource content." })
                .description("A text whose changes are told")
                .mime_type("text/plain"),
        )
        .resource(
            Resource::new("test://example-resource", "Example resource", || async { "Example resource content." })
                .description("A text to embed")
                .mime_type("text/plain"),
        )
        .template(
            Template::new("test://template/{id}/data", "Data by id", |item: Item| async move {
                let data = format!("Data for ID: {}", item.id);
                Json(Data { id: item.id, template_test: true, data })
            })
            .description("Some data for every id")
            .mime_type("application/json")
            .complete("id", |typed, _| async move { Suggestions::beginning(&typed.value, ["123", "124", "200"]) }),
        )
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Item {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    id: String,
    template_test: bool,
    data: String,
}
