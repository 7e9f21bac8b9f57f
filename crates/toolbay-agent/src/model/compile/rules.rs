//! What each provider takes.

use crate::model::Wire;

/// How long a tool's name may be. Gemini's documents say 63, 64 and 128.
pub(super) fn longest_name(wire: Wire) -> usize {
    match wire {
        Wire::Anthropic => 128,
        Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Ollama => 64,
        Wire::Gemini => 63,
    }
}

/// How long a name of a property may be, and of what it is made.
pub(super) fn takes_property(wire: Wire, name: &str) -> bool {
    let made_of = |more: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.as_bytes().contains(&byte));
    match wire {
        Wire::Anthropic => (1..=64).contains(&name.len()) && made_of("_.-"),
        Wire::Gemini => (1..=64).contains(&name.len()) && made_of("_"),
        Wire::OpenAiChat | Wire::OpenAiResponses | Wire::Ollama => true,
    }
}

/// Whether the wire reads schemas as JSON Schema 2020-12 has them, or a part of that.
pub(super) fn takes_all(wire: Wire) -> bool {
    match wire {
        Wire::Anthropic | Wire::OpenAiChat | Wire::OpenAiResponses => true,
        Wire::Gemini | Wire::Ollama => false,
    }
}

/// Whether a keyword means something on a wire that reads a part.
pub(super) fn takes_keyword(wire: Wire, keyword: &str) -> bool {
    match wire {
        Wire::Anthropic | Wire::OpenAiChat | Wire::OpenAiResponses => true,
        Wire::Gemini => matches!(
            keyword,
            "type"
                | "format"
                | "title"
                | "description"
                | "enum"
                | "items"
                | "prefixItems"
                | "minItems"
                | "maxItems"
                | "minimum"
                | "maximum"
                | "anyOf"
                | "oneOf"
                | "properties"
                | "additionalProperties"
                | "required"
        ),
        // What its templates print, and what it can read at all.
        Wire::Ollama => {
            matches!(keyword, "type" | "description" | "enum" | "items" | "anyOf" | "properties" | "required")
        }
    }
}

/// Keywords that only name or annotate; nobody misses them.
pub(super) fn is_silent(keyword: &str) -> bool {
    matches!(
        keyword,
        "$schema"
            | "$id"
            | "$anchor"
            | "$dynamicAnchor"
            | "$recursiveAnchor"
            | "$comment"
            | "$vocabulary"
            | "$defs"
            | "definitions"
            | "title"
            | "examples"
            | "example"
            | "default"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "contentMediaType"
            | "contentEncoding"
            | "contentSchema"
            | "format"
    )
}
