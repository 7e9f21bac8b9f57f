//! From what a tool's function returns to the result on the wire, written in one go.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use toolbay_protocol::{
    Feature, Raw, Revision,
    exchange::{Head, Structure, Told},
    types::{CallToolResult, Conform, ContentBlock},
};

use crate::{
    error::{Fail, Result},
    schema,
};

/// The form that a caller's revision wants results in.
#[derive(Clone, Debug)]
pub struct Form {
    pub(crate) revision: Revision,
    pub(crate) head: Head,
}

impl Form {
    pub(crate) fn new(revision: Revision, server: &Raw) -> Self {
        Self { revision, head: Head::of(revision, server) }
    }

    /// A result that is one text.
    fn text(&self, text: &str) -> Raw {
        self.head.text(text, Told::Done)
    }

    /// A result that says in text that the tool failed.
    pub(crate) fn failure(&self, text: &str) -> Raw {
        self.head.text(text, Told::Failed)
    }
}

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
    /// The result, in a form that the caller reads.
    #[doc(hidden)]
    fn into_result(self, form: &Form) -> Result<Raw>;

    /// The schema of the structured content, where there is some.
    fn output_schema() -> Option<Raw> {
        None
    }
}

/// A value that is returned as structured content, with its mirror in text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl ToolOutput for String {
    fn into_result(self, form: &Form) -> Result<Raw> {
        Ok(form.text(&self))
    }
}

impl ToolOutput for &'static str {
    fn into_result(self, form: &Form) -> Result<Raw> {
        Ok(form.text(self))
    }
}

impl ToolOutput for Cow<'static, str> {
    fn into_result(self, form: &Form) -> Result<Raw> {
        Ok(form.text(&self))
    }
}

impl ToolOutput for () {
    fn into_result(self, form: &Form) -> Result<Raw> {
        CallToolResult::new().into_result(form)
    }
}

macro_rules! shown {
    ($($kind:ty),*) => {$(
        impl ToolOutput for $kind {
            fn into_result(self, form: &Form) -> Result<Raw> {
                Ok(form.text(&self.to_string()))
            }
        }
    )*};
}
shown!(bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64);

impl<T: Serialize + JsonSchema + Send + 'static> ToolOutput for Json<T> {
    fn into_result(self, form: &Form) -> Result<Raw> {
        let content = Raw::encode(&self.0)?;
        let object = content.as_bytes().first() == Some(&b'{');
        let carried = form.revision.has(if object { Feature::StructuredOutput } else { Feature::AnyStructure });
        let structure = if carried { Structure::Carried } else { Structure::Mirrored };
        Ok(form.head.structured(&content, structure))
    }

    fn output_schema() -> Option<Raw> {
        Some(schema::of_output::<T>())
    }
}

impl ToolOutput for CallToolResult {
    fn into_result(self, form: &Form) -> Result<Raw> {
        Ok(Raw::of(&self.conformed(form.revision)))
    }
}

impl ToolOutput for ContentBlock {
    fn into_result(self, form: &Form) -> Result<Raw> {
        CallToolResult::of([self]).into_result(form)
    }
}

impl ToolOutput for Vec<ContentBlock> {
    fn into_result(self, form: &Form) -> Result<Raw> {
        CallToolResult::of(self).into_result(form)
    }
}

impl<T: ToolOutput, E: Into<Fail> + Send + 'static> ToolOutput for Result<T, E> {
    fn into_result(self, form: &Form) -> Result<Raw> {
        self.map_err(Into::into)?.into_result(form)
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
        let form = |revision| Form::new(revision, &Raw::EMPTY);
        let (old, new) = (form(Revision::UNSTATED), form(Revision::LATEST));
        let head = r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{}},"#;
        check("a\"b".into_result(&old), r#"{"content":[{"type":"text","text":"a\"b"}]}"#);
        check(7.into_result(&new), &format!(r#"{head}"content":[{{"type":"text","text":"7"}}]}}"#));
        let list = || Json([1, 2]);
        let mirror = r#""content":[{"type":"text","text":"[1,2]"}]"#;
        check(list().into_result(&form(Revision::LATEST_LEGACY)), &format!("{{{mirror}}}"));
        check(list().into_result(&new), &format!(r#"{head}{mirror},"structuredContent":[1,2]}}"#));
        let failed = format!("{:?}", old.failure("x"));
        assert_eq!(failed, r#"{"content":[{"type":"text","text":"x"}],"isError":true}"#);
    }
}
