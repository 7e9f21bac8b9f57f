//! Prompts: plain, with arguments, with a resource, with a picture.

use serde::Deserialize;
use toolbay::{
    JsonSchema, Prompt, Server, schemars,
    server::Suggestions,
    types::{ContentBlock, PromptMessage, ResourceContents},
};

use super::content::PNG;

pub(super) fn add(server: Server) -> Server {
    server
        .prompt(Prompt::new("test_simple_prompt", "A prompt without arguments", || async {
            "This is a simple prompt for testing."
        }))
        .prompt(
            Prompt::new("test_prompt_with_arguments", "A prompt with two arguments", |args: Two| async move {
                format!("Prompt with arguments: arg1='{}', arg2='{}'", args.arg1, args.arg2)
            })
            .complete("arg1", |typed, _| async move {
                Suggestions::beginning(&typed.value, ["paris", "park", "party"])
            }),
        )
        .prompt(Prompt::new(
            "test_prompt_with_embedded_resource",
            "A prompt that shows a resource",
            |args: Embed| async move {
                let contents = ResourceContents::text(args.resource_uri, "Embedded resource content for testing.");
                [
                    PromptMessage::user(ContentBlock::resource(contents.of_type("text/plain"))),
                    PromptMessage::user("Please process the embedded resource above."),
                ]
            },
        ))
        .prompt(Prompt::new("test_prompt_with_image", "A prompt that shows a picture", || async {
            [
                PromptMessage::user(ContentBlock::image(PNG, "image/png")),
                PromptMessage::user("Please analyze the image above."),
            ]
        }))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Two {
    /// First test argument
    arg1: String,
    /// Second test argument
    arg2: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Embed {
    /// URI of the resource to embed
    #[serde(rename = "resourceUri")]
    resource_uri: String,
}
