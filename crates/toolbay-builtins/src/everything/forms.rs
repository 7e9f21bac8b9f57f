//! Forms put together by hand: defaults, and every way to offer a choice.

use serde::Deserialize;
use serde_json::{Value, json};
use toolbay::{
    Ctx, JsonSchema, Raw, Result, Server, Tool, ok, schemars,
    server::Elicited,
    types::{ElicitFormParams, ElicitResult},
};

pub(super) fn add(server: Server) -> Server {
    server
        .tool(Tool::new(
            "test_elicitation",
            "Asks the user for a name and an address",
            |args: Message, cx: Ctx| async move {
                let answer = cx.elicit_form("response", form(args.message, &who())).await?;
                ok(format!("User response: {}", said(&answer)))
            },
        ))
        .tool(Tool::new(
            "test_elicitation_sep1034_defaults",
            "Asks with a form that is filled in",
            |cx: Ctx| async move { completed(&cx, "Please review these values", &defaults()).await },
        ))
        .tool(Tool::new("test_elicitation_sep1330_enums", "Asks with every kind of choice", |cx: Ctx| async move {
            completed(&cx, "Please choose", &choices()).await
        }))
        .tool(Tool::new("elicit_url", "Sends the user to a web page", |cx: Ctx| async move {
            let visited = cx.elicit_url("visit", "Please look at this page", "https://example.com/consent").await?;
            ok(match visited {
                Elicited::Accepted(()) => "the user went there",
                Elicited::Declined => "the user would not go there",
                Elicited::Cancelled => "the user did not answer",
            })
        }))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Message {
    /// What to show the user.
    message: String,
}

async fn completed(cx: &Ctx, message: &str, schema: &Value) -> Result<String> {
    let answer = cx.elicit_form("form", form(message.into(), schema)).await?;
    Ok(format!("Elicitation completed: {}", said(&answer)))
}

fn form(message: String, schema: &Value) -> ElicitFormParams {
    ElicitFormParams::new(message, Raw::of(schema))
}

fn said(answer: &ElicitResult) -> String {
    let content = Raw::of(&answer.content.clone().unwrap_or_default());
    format!("action={}, content={content:?}", answer.action)
}

fn who() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "User name", "default": "John Doe"},
            "age": {"type": "integer", "description": "User age", "default": 30},
            "score": {"type": "number", "description": "User score", "default": 95.5},
            "status": {
                "type": "string", "description": "User status",
                "enum": ["active", "inactive", "pending"], "default": "active",
            },
            "verified": {"type": "boolean", "description": "Verification status", "default": true},
        },
        "required": [],
    })
}

fn choices() -> Value {
    let titled = |word: &str| {
        let each = |(place, name): (usize, &str)| json!({"const": format!("value{}", place + 1), "title": format!("{name} {word}")});
        ["First", "Second", "Third"].into_iter().enumerate().map(each).collect::<Vec<_>>()
    };
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "description": "One of these", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {"type": "string", "description": "One of these", "oneOf": titled("Option")},
            "legacyEnum": {
                "type": "string", "description": "One of these",
                "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {
                "type": "array", "description": "Some of these", "minItems": 1, "maxItems": 3,
                "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
            },
            "titledMulti": {
                "type": "array", "description": "Some of these", "minItems": 1, "maxItems": 3,
                "items": {"anyOf": titled("Choice")},
            },
        },
        "required": [],
    })
}
