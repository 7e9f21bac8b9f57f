//! A schema that is written by hand, with all that JSON Schema 2020-12 has.

use serde_json::json;
use toolbay::{Raw, Server, Tool, server::Arguments};

pub(super) fn add(server: Server) -> Server {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    let tool =
        Tool::new("json_schema_2020_12_tool", "Takes what a rich schema describes", |args: Arguments| async move {
            format!("JSON Schema 2020-12 tool called with: {:?}", args.0)
        });
    server.tool(tool.input_schema(Raw::of(&schema)))
}
