//! JSON with comments and trailing commas, and plain words for what is wrong with it.

use std::path::Path;

use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{Object, Value},
    errors::{ParseError, ParseErrorKind},
    parse_to_ast,
};

use super::{
    error::{Error, Fault},
    source::Source,
    tree,
};

/// The object a configuration file must be.
pub(super) fn parse<'a>(source: &'a Source<'a>) -> Result<Object<'a>, Error> {
    if let Some((client, remedy)) = other_format(source.text) {
        return Err(source.error(Fault::Foreign, 0, format!("this is not JSON; it looks like {client}"), remedy));
    }
    let parsed =
        parse_to_ast(source.text, &CollectOptions::default(), &OPTIONS).map_err(|why| explain(&why, source))?;
    match parsed.value {
        Some(Value::Object(root)) => Ok(root),
        Some(other) => {
            let problem = format!("the file holds {}, not an object", tree::kind(&other));
            Err(source.error(Fault::Shape, tree::start(&other), problem, EXAMPLE))
        }
        None => Err(source.error(Fault::Shape, 0, "the file is empty", EXAMPLE)),
    }
}

/// Whether a text is a file whose tool entries can be read and changed.
pub(crate) fn check(text: &str, file: &Path) -> Result<(), Error> {
    let source = Source::new(file, text);
    let root = parse(&source)?;
    tree::no_key_twice(&root, "the key", &source)?;
    let tools = root.properties.iter().find(|property| property.name.as_str() == "tools");
    match tools.map(|tools| &tools.value) {
        None | Some(Value::Array(_) | Value::NullKeyword(_)) => Ok(()),
        Some(other) => {
            let problem = format!("`tools` is {}, not a list of tool entries", tree::kind(other));
            Err(source.error(Fault::Shape, tree::start(other), problem, "write \"tools\": [ … ], or name another file"))
        }
    }
}

/// The byte after the last property of an object in a list at the top of a sound file.
pub(crate) fn end_of_last(text: &str, list: &str, place: usize) -> Option<usize> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).ok()?;
    let Some(Value::Object(root)) = parsed.value else { return None };
    let list = root.properties.iter().find(|property| property.name.as_str() == list)?;
    Some(list.value.as_array()?.elements.get(place)?.as_object()?.properties.last()?.range.end)
}

/// What a first configuration may look like; ends an error.
pub(super) const EXAMPLE: &str = r#"write { "mcpServers": { "NAME": { "command": "PROGRAM", "args": [] } } }"#;

/// What a file may hold beside strict JSON.
pub(crate) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Formats of other clients that are not JSON, known by a line that begins with their key.
fn other_format(text: &str) -> Option<(&'static str, &'static str)> {
    if text.trim_start().starts_with('{') {
        return None;
    }
    let begins = |start: &str| text.lines().any(|line| line.starts_with(start));
    if begins("[mcp_servers") {
        Some((
            "Codex's config.toml",
            r#"write each [mcp_servers.NAME] as "NAME": { … } under "mcpServers" in a JSON file"#,
        ))
    } else if begins("extensions:") {
        Some((
            "goose's config.yaml",
            r#"write each extension as "NAME": { "command": …, "args": […], "env": {…} } under "mcpServers" in a JSON file"#,
        ))
    } else if begins("mcpServers:") || begins("servers:") {
        Some(("YAML", r#"write the same in JSON: { "mcpServers": { "NAME": { … } } }"#))
    } else {
        None
    }
}

fn explain(why: &ParseError, source: &Source<'_>) -> Error {
    use ParseErrorKind as Kind;
    let at = why.range().start;
    let here = source.text[source.text.floor_char_boundary(at)..].chars().next();
    let (problem, remedy): (String, &str) = match why.kind() {
        _ if matches!(here, Some('“' | '”' | '„' | '‘' | '’')) => {
            ("a typographic quotation mark".into(), "write the plain \" instead")
        }
        Kind::SingleQuotedStringsNotAllowed => ("a text in single quotes".into(), "write \"…\" instead"),
        Kind::ExpectedComma => ("a comma is missing after this".into(), "add one"),
        Kind::ExpectedStringObjectProperty => ("a key without quotes".into(), "write \"KEY\": VALUE"),
        Kind::UnterminatedObject => ("this { is never closed".into(), "add the missing }"),
        Kind::UnterminatedArray => ("this [ is never closed".into(), "add the missing ]"),
        Kind::UnterminatedCommentBlock => ("this comment is never closed".into(), "add the missing */"),
        Kind::MultipleRootJsonValues => {
            ("something follows the end of the object".into(), "remove it, or look for a } too many")
        }
        Kind::NestingDepthExceeded => ("the file is nested too deeply".into(), "a configuration needs four levels"),
        Kind::UnexpectedWord | Kind::UnexpectedToken if here.is_some_and(char::is_alphabetic) => {
            ("this word is no JSON value".into(), "write texts in \"…\"; the words are true, false, null")
        }
        Kind::String(kind) => (
            format!("a text that cannot be read ({})", lower_first(&kind.to_string())),
            r"close it with a quote on the same line, and write a backslash as \\",
        ),
        other => (lower_first(&other.to_string()), "mend the JSON here"),
    };
    source.error(Fault::Syntax, at, problem, remedy)
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
