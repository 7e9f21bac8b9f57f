//! From what a tool's function returns to the result on the wire, written in one go.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use toolbay_protocol::{
    Feature, Raw, Revision,
    types::{CallToolResult, Conform, ContentBlock},
};

use crate::{
    error::{Fail, Result},
    schema,
};

/// What a tool may return.
///
/// Texts, numbers and truth values become one text; [`Json`] becomes structured content with an output schema, and its
/// mirror in text; [`ContentBlock`]s and [`CallToolResult`] say themselves what they are.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not something that a result can be made of",
    note = "return a `String`, a number, `()`, `Json<T>` for structured content, content blocks, a `CallToolResult`, \
            or a `Result` of one of these"
)]
pub trait ToolOutput: Send + 'static {
    /// The result, as `revision` knows it.
    fn into_result(self, revision: Revision) -> Result<Raw>;

    /// The schema of the structured content, where there is some.
    fn output_schema() -> Option<Raw> {
        None
    }
}

/// A value that is returned as structured content, with its mirror in text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

#[derive(Serialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct Said<'a, T> {
    content: [Block<'a>; 1],
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    structured: Option<&'a T>,
    #[serde(rename = "isError", skip_serializing_if = "is_false")]
    is_error: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

const ENVELOPE: usize = 80;

fn write<T: Serialize>(text: &str, structured: Option<&T>, is_error: bool) -> Result<Raw> {
    let said = Said { content: [Block { kind: "text", text }], structured, is_error };
    let mirrored = if structured.is_some() { text.len() } else { 0 };
    let capacity = text.len() + text.len() / 16 + mirrored + ENVELOPE;
    Ok(Raw::encode_within(&said, capacity)?)
}

/// A result that is one text.
fn text(text: &str) -> Result<Raw> {
    write::<()>(text, None, false)
}

/// A result that says in text that the tool failed.
pub(crate) fn failure(text: &str) -> Raw {
    write::<()>(text, None, true).unwrap_or(Raw::EMPTY)
}

impl ToolOutput for String {
    fn into_result(self, _: Revision) -> Result<Raw> {
        text(&self)
    }
}

impl ToolOutput for &'static str {
    fn into_result(self, _: Revision) -> Result<Raw> {
        text(self)
    }
}

impl ToolOutput for Cow<'static, str> {
    fn into_result(self, _: Revision) -> Result<Raw> {
        text(&self)
    }
}

impl ToolOutput for () {
    fn into_result(self, _: Revision) -> Result<Raw> {
        Ok(Raw::of(&CallToolResult::new()))
    }
}

macro_rules! shown {
    ($($kind:ty),*) => {$(
        impl ToolOutput for $kind {
            fn into_result(self, _: Revision) -> Result<Raw> {
                text(&self.to_string())
            }
        }
    )*};
}
shown!(bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64);

impl<T: Serialize + JsonSchema + Send + 'static> ToolOutput for Json<T> {
    fn into_result(self, revision: Revision) -> Result<Raw> {
        let mirror = serde_json::to_string(&self.0)?;
        let object = mirror.starts_with('{');
        let carried = revision.has(if object { Feature::StructuredOutput } else { Feature::AnyStructure });
        write(&mirror, carried.then_some(&self.0), false)
    }

    fn output_schema() -> Option<Raw> {
        Some(schema::of_output::<T>())
    }
}

impl ToolOutput for CallToolResult {
    fn into_result(self, revision: Revision) -> Result<Raw> {
        Ok(Raw::of(&self.conformed(revision)))
    }
}

impl ToolOutput for ContentBlock {
    fn into_result(self, revision: Revision) -> Result<Raw> {
        CallToolResult::of([self]).into_result(revision)
    }
}

impl ToolOutput for Vec<ContentBlock> {
    fn into_result(self, revision: Revision) -> Result<Raw> {
        CallToolResult::of(self).into_result(revision)
    }
}

impl<T: ToolOutput, E: Into<Fail> + Send + 'static> ToolOutput for Result<T, E> {
    fn into_result(self, revision: Revision) -> Result<Raw> {
        self.map_err(Into::into)?.into_result(revision)
    }

    fn output_schema() -> Option<Raw> {
        T::output_schema()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_return_type_has_its_form_in_each_revision() {
        let check = |output: Result<Raw>, expected: &str| assert_eq!(format!("{:?}", output.unwrap()), expected);
        let (old, new) = (Revision::UNSTATED, Revision::LATEST);
        check("a\"b".into_result(old), r#"{"content":[{"type":"text","text":"a\"b"}]}"#);
        check(7.into_result(new), r#"{"content":[{"type":"text","text":"7"}]}"#);
        let list = || Json([1, 2]);
        let mirror = r#"{"content":[{"type":"text","text":"[1,2]"}]"#;
        check(list().into_result(Revision::LATEST_LEGACY), &format!("{mirror}}}"));
        check(list().into_result(new), &format!(r#"{mirror},"structuredContent":[1,2]}}"#));
        assert_eq!(format!("{:?}", failure("x")), r#"{"content":[{"type":"text","text":"x"}],"isError":true}"#);
    }
}
