//! What tools return: each kind of content, structured content, failures.

use serde::{Deserialize, Serialize};
use toolbay::{
    Json, JsonSchema, Server, Tool, ToolError, schemars,
    types::{ContentBlock, ResourceContents},
};

/// A picture of one red dot.
pub(super) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A sound of no length.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

pub(super) fn add(server: Server) -> Server {
    server
        .tool(Tool::new("echo", "Gives a text back", echo).read_only().idempotent().closed_world())
        .tool(Tool::new("add", "Adds two numbers, as structured content", sum).read_only().idempotent().closed_world())
        .tool(Tool::new("test_simple_text", "Returns one text", || async {
            "This is a simple text response for testing."
        }))
        .tool(Tool::new("test_image_content", "Returns a picture", || async { ContentBlock::image(PNG, "image/png") }))
        .tool(Tool::new("test_audio_content", "Returns a sound", || async { ContentBlock::audio(WAV, "audio/wav") }))
        .tool(Tool::new("test_embedded_resource", "Returns the contents of a resource", || async {
            let contents = ResourceContents::text("test://embedded-resource", "This is an embedded resource content.");
            ContentBlock::resource(contents.of_type("text/plain"))
        }))
        .tool(Tool::new("resource_link", "Returns a link to a resource", || async {
            ContentBlock::link("test://static-text", "static-text")
        }))
        .tool(Tool::new("test_multiple_content_types", "Returns a text, a picture and a resource", mixed))
        .tool(Tool::new("test_error_handling", "Always fails", || async {
            Err::<(), _>(ToolError::new("This tool intentionally returns an error for testing"))
        }))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Echo {
    /// The text.
    text: String,
}

async fn echo(args: Echo) -> String {
    args.text
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Terms {
    /// The one.
    left: f64,
    /// The other.
    right: f64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Sum {
    /// Both together.
    sum: f64,
}

async fn sum(terms: Terms) -> Json<Sum> {
    Json(Sum { sum: terms.left + terms.right })
}

async fn mixed() -> Vec<ContentBlock> {
    let json = ResourceContents::text("test://mixed-content-resource", r#"{"test":"data","value":123}"#);
    vec![
        ContentBlock::text("Multiple content types test:"),
        ContentBlock::image(PNG, "image/png"),
        ContentBlock::resource(json.of_type("application/json")),
    ]
}
