//! From what a resource's function returns to its contents.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use toolbay_protocol::types::{ReadResourceResult, ResourceContents};

use super::output::Json;
use crate::error::{Fail, Result};

/// Whose contents are returned.
#[derive(Clone, Debug)]
pub struct Of {
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
}

impl Of {
    fn typed(&self, contents: ResourceContents, otherwise: &str) -> ReadResourceResult {
        ReadResourceResult::new([contents.of_type(self.mime_type.as_deref().unwrap_or(otherwise))])
    }
}

/// What a resource may return. `None` says that there is no such resource.
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    label = "not something that contents can be made of",
    note = "return a `String` for text, a `Vec<u8>` for bytes, `Json<T>`, `ResourceContents`, a `ReadResourceResult`, an \
            `Option` of one of these (`None` means not found), or a `Result`"
)]
pub trait ResourceOutput: Send + 'static {
    /// The contents; `None` where there is no such resource.
    #[doc(hidden)]
    fn into_contents(self, of: &Of) -> Result<Option<ReadResourceResult>>;
}

impl ResourceOutput for String {
    fn into_contents(self, of: &Of) -> Result<Option<ReadResourceResult>> {
        Ok(Some(of.typed(ResourceContents::text(&of.uri, self), "text/plain")))
    }
}

impl ResourceOutput for &'static str {
    fn into_contents(self, of: &Of) -> Result<Option<ReadResourceResult>> {
        self.to_owned().into_contents(of)
    }
}

impl ResourceOutput for Vec<u8> {
    fn into_contents(self, of: &Of) -> Result<Option<ReadResourceResult>> {
        let contents = ResourceContents::blob(&of.uri, STANDARD.encode(self));
        Ok(Some(of.typed(contents, "application/octet-stream")))
    }
}

impl ResourceOutput for &'static [u8] {
    fn into_contents(self, of: &Of) -> Result<Option<ReadResourceResult>> {
        self.to_vec().into_contents(of)
    }
}

impl<T: Serialize + Send + 'static> ResourceOutput for Json<T> {
    fn into_contents(self, of: &Of) -> Result<Option<ReadResourceResult>> {
        let text = serde_json::to_string(&self.0)?;
        Ok(Some(of.typed(ResourceContents::text(&of.uri, text), "application/json")))
    }
}

impl ResourceOutput for ResourceContents {
    fn into_contents(self, of: &Of) -> Result<Option<ReadResourceResult>> {
        vec![self].into_contents(of)
    }
}

impl ResourceOutput for Vec<ResourceContents> {
    fn into_contents(self, _: &Of) -> Result<Option<ReadResourceResult>> {
        Ok(Some(ReadResourceResult::new(self)))
    }
}

impl ResourceOutput for ReadResourceResult {
    fn into_contents(self, _: &Of) -> Result<Option<ReadResourceResult>> {
        Ok(Some(self))
    }
}

impl<T: ResourceOutput> ResourceOutput for Option<T> {
    fn into_contents(self, of: &Of) -> Result<Option<ReadResourceResult>> {
        self.map_or(Ok(None), |some| some.into_contents(of))
    }
}

impl<T: ResourceOutput, E: Into<Fail> + Send + 'static> ResourceOutput for Result<T, E> {
    fn into_contents(self, of: &Of) -> Result<Option<ReadResourceResult>> {
        self.map_err(Into::into)?.into_contents(of)
    }
}
